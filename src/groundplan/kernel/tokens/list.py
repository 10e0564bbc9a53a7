"""List tokens, never with their secrets."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.store.authorize import owns_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.tokens.token import TokenRow, TokenState, TokenView, view_token

sql = load_queries(__file__)


class ListTokens(Struct, forbid_unknown_fields=True):
    """The filter of a token list."""

    ended: bool = False


class Tokens(Struct):
    """Tokens, newest first."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("tokens",)))

    tokens: list[TokenView]
    left_out: LeftOut = UNSET


def list_tokens(tx: Transaction, request: ListTokens) -> Tokens:
    """Return the tokens that are for the caller or were created by them; all of them for an owner of the organization.

    Expired and revoked tokens only on request.
    """
    rows = tx.all(sql.tokens if owns_organization(tx.actor) else sql.own_tokens, TokenRow)
    views = [view_token(row, tx.now) for row in rows]
    shown = [view for view in views if request.ended or view.state is TokenState.ACTIVE]
    return Tokens(sorted(shown, key=lambda view: (view.created_at, view.id), reverse=True))


LIST = declare(
    list_tokens,
    name="token.list",
    summary="List your tokens; expired and revoked ones too when asked.",
    permission=Permission.TOKEN_LIST,
    effect=Effect.READ,
    command=Command(
        ("token", "list"),
        columns=("id", "kind", "name", "role", "projects", "label", "state", "expires_at", "last_used_at"),
    ),
    http=Route("GET", "/tokens"),
)
