"""Find the person of an account that was bound before, for requests with an access token of the issuer."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.store.authorize import authorize_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class Account(NamedTuple):
    """Whose an account is, and whether an agent is known."""

    person: str | None  # None: nobody, or somebody who is not in the organization any more
    knows_agent: bool


def find_account(store: Store, organization: str, issuer: str, subject: str, *, agent: str) -> Account:
    """Return the person of an account, and whether the organization has an agent of this name.

    Raises:
        NotFound: there is no such organization.
    """

    def run(tx: Transaction) -> Account:
        authorize_organization(tx, Permission.ORGANIZATION_MANAGE)
        bound = tx.one_or_none(sql.identity, issuer=issuer, subject=subject)
        known = tx.one_or_none(sql.person, id=agent)
        return Account(
            None if bound is None or bound[1] is None else bound[0],
            known is not None and known[0] == ActorKind.AGENT and known[1] is not None,
        )

    # Trusted to look: who sends the request has no rights yet.
    return store.read(Actor(organization, "", ActorKind.PERSON, Access.OPEN), run)
