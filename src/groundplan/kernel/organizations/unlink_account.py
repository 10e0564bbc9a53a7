"""Unlink the accounts of a person: the next verified login with an invitation for them binds another one."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NotFound
from groundplan.kernel.identities.invitation import unbind_accounts
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, OpId, Route, declare
from groundplan.kernel.principals import find_principal
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.tokens.revoke import revoke_tokens_of


class UnlinkAccount(Struct, forbid_unknown_fields=True):
    """The person whose accounts to unlink."""

    name: Name
    op_id: OpId = None


class UnlinkedAccounts(Struct):
    """The person, how many accounts were unlinked, and how many tokens and logins ended."""

    unlinked: str
    accounts: int
    tokens_revoked: int


def unlink(tx: Transaction, request: UnlinkAccount) -> UnlinkedAccounts:
    """Unlink the accounts of a person, and end what was opened with them. Changes nothing if there is none.

    Raises:
        NotFound: there is no such person.
    """
    user_id = find_principal(tx, request.name)
    if user_id is None:
        raise NotFound("person", request.name)
    accounts = unbind_accounts(tx, user_id)
    return UnlinkedAccounts(user_id, accounts, len(revoke_tokens_of(tx, user_id)) if accounts else 0)


UNLINK = declare(
    unlink,
    name="organization.unlink_account",
    summary="Unlink the account that a person logs in with, so that another one can be bound; their logins end.",
    permission=Permission.ORGANIZATION_MANAGE,
    effect=Effect.DESTROY,
    idempotent=True,
    command=Command(("org", "member", "unlink"), arguments=("name",)),
    http=Route("DELETE", "/organization/members/{name}/account"),
)
