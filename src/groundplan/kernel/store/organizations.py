"""Create and list the organizations of a store. Only the owner of the store may do this.

On a file that is whoever may open it. On PostgreSQL it is the role that owns the schema: the app role, and so every
request of a server, sees one organization at a time and cannot add one.
"""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction

_LIST = Query(
    "organizations",
    """
SELECT o.id, o.name, o.created_at,
       (SELECT count(*) FROM user_memberships AS m WHERE m.tenant_id = o.id) AS members,
       (SELECT count(*) FROM projects AS p WHERE p.tenant_id = o.id AND p.archived_at IS NULL) AS projects
  FROM organizations AS o
 ORDER BY o.id
""",
)
_ADD = Query(
    "add_organization",
    """
INSERT INTO organizations (id, name, rev, created_at)
VALUES (:tenant_id, :name, 0, :now)
    ON CONFLICT DO NOTHING
""",
)
_BEGIN_HISTORY = Query(
    "begin_history",
    """
UPDATE organizations
   SET rev = rev + 1,
       updated_at = :now
 WHERE id = :tenant_id
RETURNING rev
""",
)


class OrganizationLine(Struct):
    """An organization of the store, with the numbers of its members and open projects."""

    id: str
    name: str
    created_at: str
    members: int
    projects: int


def list_organizations(tx: Transaction) -> list[OrganizationLine]:
    """Return every organization of the store, ordered by id."""
    return tx.all(_LIST, OrganizationLine)


def add_organization(tx: Transaction, name: str) -> bool:
    """Create the organization of the actor and begin its history; return False if it exists."""
    if not tx.run(_ADD, name=name):
        return False
    tx.rev = tx.scalar(_BEGIN_HISTORY)
    return True
