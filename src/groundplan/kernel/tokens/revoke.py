"""Revoke a token, and with it every token that was created with it."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, OpId, Route, declare
from groundplan.kernel.store.authorize import owns_organization
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.tokens.create import OrganizationOwnerRequired
from groundplan.kernel.tokens.token import ACTOR_KINDS, TokenKind, TokenRow, TokenView, load_token, view_token

sql = load_queries(__file__)


class RevokeToken(Struct, forbid_unknown_fields=True):
    """The token to revoke."""

    id: Name
    op_id: OpId = None


class RevokedToken(Struct):
    """The revoked token, and the ids of all tokens that ended now."""

    token: TokenView
    revoked: list[str]


def revoke_token(tx: Transaction, request: RevokeToken) -> RevokedToken:
    """Revoke a token. The next request with it is refused. Revoking it again changes nothing.

    Raises:
        NotFound: there is no such token, or it is somebody else's.
        OrganizationOwnerRequired: the caller once created it for another person, and is no owner any more.
    """
    row = load_token(tx, request.id)
    is_of_other_person = ACTOR_KINDS[row.kind] is ActorKind.PERSON and row.actor_id != tx.actor.id
    if is_of_other_person and not owns_organization(tx.actor):
        # The caller does not see the tokens that were created with it, so these would stay.
        raise OrganizationOwnerRequired(f"the token is for {row.actor_id!r}")
    revoked = [] if row.revoked_at else revoke_with_children(tx, row)
    return RevokedToken(view_token(tx.one(sql.token, TokenRow, id=row.id), tx.now), revoked)


def revoke_with_children(tx: Transaction, row: TokenRow) -> list[str]:
    """Revoke a token and all that were created with it, and return their ids."""
    ids = [row.id]
    latest = ids
    while latest := tx.scalars(sql.children_of_tokens, ids=to_json_array(latest)):
        ids = [*ids, *latest]
    tx.run(sql.revoke_tokens, ids=to_json_array(ids))
    op = KernelOp.SESSION_CLOSED if row.kind is TokenKind.SESSION else KernelOp.TOKEN_REVOKED
    for token_id in ids:
        tx.record(op, token_id, changed("revoked_at", None, tx.now))
    return ids


def revoke_tokens_of(tx: Transaction, user_id: str) -> list[str]:
    """Revoke the tokens and logins of a person and of agents that this person answers for, and return their ids."""
    revoked: dict[str, None] = {}
    for row in tx.all(sql.tokens_of_person, TokenRow, user_id=user_id):
        if row.id not in revoked:
            revoked.update(dict.fromkeys(revoke_with_children(tx, row)))
    return list(revoked)


OPERATION = declare(
    revoke_token,
    name="token.revoke",
    summary="Revoke a token, and every token that was created with it.",
    permission=Permission.TOKEN_REVOKE,
    effect=Effect.DESTROY,
    idempotent=True,
    command=Command(("token", "revoke"), arguments=("id",)),
    http=Route("DELETE", "/tokens/{id}"),
)
