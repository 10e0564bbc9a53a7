"""The tables of invitations and identities, with the conditions for reading and changing their rows."""

from __future__ import annotations

from groundplan.kernel.store.schema import ADMINISTERS, IN_ORGANIZATION, Table

_OWN_INVITATIONS = f"{IN_ORGANIZATION} AND (created_by = (SELECT gp_actor()) OR {ADMINISTERS})"
# An owner invites an address under its own name; only an administrator gives it to somebody who has another.
_OWNS_A_PROJECT = "cardinality((SELECT gp_projects_as(ARRAY['owner']))) > 0"

INVITATIONS = Table(
    "invitations",
    select=_OWN_INVITATIONS,
    insert=f"{IN_ORGANIZATION} AND (SELECT gp_may_write()) AND created_by = (SELECT gp_actor())"
    f" AND ({ADMINISTERS} OR (principal_id = email AND {_OWNS_A_PROJECT}))",
    update=_OWN_INVITATIONS,
    update_columns=("accepted_at", "revoked_at", "revoked_by"),
)
IDENTITIES = Table(
    "identities",
    select=f"{IN_ORGANIZATION} AND (principal_id = (SELECT gp_actor()) OR {ADMINISTERS})",
    # Only a login adds one, for the person themselves, and it acts with open access.
    insert=f"{IN_ORGANIZATION} AND (SELECT gp_owns_organization()) AND principal_id = (SELECT gp_actor())",
)
