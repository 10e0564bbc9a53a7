"""Who sends a request with an access token of the issuer.

    client_id in oidc_person_clients   the person, up to the role of the scope
    any other client                   the agent of that name, for the person: with no more rights than either has

The account must belong to a person of the organization, which is looked up for every request: whoever leaves, or is
removed, is refused by the next one.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.errors import Forbidden
from groundplan.kernel.identities.find_account import find_account
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import RefusalCounts, RefusalReason, VerifiedToken
from groundplan.kernel.tokens.token import TokenKind
from groundplan.surfaces.http.identity_provider.access_token import AccessClaims, verify_access_token
from groundplan.surfaces.http.identity_provider.provider import IdentityProvider
from groundplan.surfaces.http.identity_provider.signed_tokens import SignedTokenRefused

log = logging.getLogger(__name__)


class AccountUnknown(Forbidden):
    """The access token is genuine, but its account or its client is not known here."""

    code = "account_unknown"


class SignedActors:
    """From access tokens of the issuer to actors."""

    def __init__(self, store: Store, provider: IdentityProvider, refusals: RefusalCounts) -> None:
        self._store = store
        self._provider = provider
        self._refusals = refusals

    def verify(self, token: str) -> VerifiedToken:
        """Return what an access token proves.

        Raises:
            SignedTokenRefused: the token does not hold.
            AccountUnknown: nobody here has this account, or no agent has the name of the client.
            IssuerUnavailable: the keys are not known, and the issuer does not answer.
        """
        try:
            claims = verify_access_token(self._provider, token)
        except SignedTokenRefused as error:
            self._refusals[RefusalReason.MALFORMED] += 1
            log.warning("refused a token of the issuer: %s", error.reason)
            raise
        actor = self._build_actor(claims)
        kind = TokenKind.PERSON if actor.kind is ActorKind.PERSON else TokenKind.AGENT
        issued_at, expires_at = (
            format_timestamp(datetime.fromtimestamp(at_s, UTC)) for at_s in (claims.issued_at_s, claims.expires_at_s)
        )
        return VerifiedToken(actor, kind, issued_at, expires_at, renewable_until=None, is_use_due=False)

    def _build_actor(self, claims: AccessClaims) -> Actor:
        settings = self._provider.settings
        account = find_account(
            self._store, settings.organization, settings.issuer, claims.subject, agent=claims.client_id
        )
        if claims.is_without_person or account.person is None:
            raise AccountUnknown("this account is not known here; log in with a browser once, then try again")
        if claims.client_id in settings.person_clients:
            return Actor(
                settings.organization, account.person, ActorKind.PERSON, Access.MEMBERS, role_max=claims.role_max
            )
        if not account.knows_agent:
            raise AccountUnknown(
                f"the client {claims.client_id!r} is not known here; an owner adds it to a project as an agent of this "
                "name, with groundplan member add NAME --kind agent",
                client=claims.client_id,
            )
        return Actor(
            settings.organization,
            claims.client_id,
            ActorKind.AGENT,
            Access.MEMBERS,
            responsible=account.person,
            role_max=claims.role_max,
            sponsor=account.person,
        )
