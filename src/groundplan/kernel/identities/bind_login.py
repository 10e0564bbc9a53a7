"""Bind an account that an identity provider has verified to a person of the organization at the first login.

    the account is bound              that person, if they are still in the organization
    an open invitation for the        binds the account to the invited person; the invitation is used up
    verified address
    the domain of the verified        joins the organization without projects
    address is allowed
    otherwise                         a refusal that says why; nothing is stored

It decides and writes under the lock of the organization: of two logins at once, one binds and the other finds it bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import Access, Actor, ActorKind, trusted_reader
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.errors import Forbidden, Invalid, Unavailable
from groundplan.kernel.identities.email_address import get_domain, normalize_email
from groundplan.kernel.identities.invitation import InvitationState, InvitationView
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.principals import add_to_organization
from groundplan.kernel.store.authorize import authorize_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction

TRIES_MAX = 3  # a login plans before the lock; more than one change between the two is unlikely
ISSUER_CHARS_MAX = 1024
SUBJECT_CHARS_MAX = 255  # OpenID Connect allows no more

sql = load_queries(__file__)


@dataclass(frozen=True, slots=True)
class VerifiedIdentity:
    """An account that a trusted identity provider has verified."""

    issuer: str
    subject: str
    email: str | None
    email_verified: bool
    name: str | None  # shown nowhere yet: a person is known by the address
    organization: str  # of the configuration, never of the provider


class LoginRefused(Forbidden):
    """The account is genuine, but it is not allowed to log in."""

    code = "login_refused"


class EmailNotVerified(LoginRefused):
    """The identity provider has not verified the e-mail address, so the account cannot be bound."""

    code = "email_not_verified"

    def __init__(self) -> None:
        super().__init__(
            "your account has no verified e-mail address; verify it where you log in, then log in here again"
        )


class NotInvited(LoginRefused):
    """The address has no invitation, and its domain is not allowed."""

    code = "not_invited"

    def __init__(self, email: str) -> None:
        super().__init__(f"nobody has invited {email}; ask an owner of a project to add this address", email=email)


class InvitationExpired(LoginRefused):
    """The invitation for the address has expired."""

    code = "invitation_expired"

    def __init__(self, email: str, expired_at: str) -> None:
        super().__init__(
            f"the invitation for {email} expired at {expired_at}; ask to be added again",
            email=email,
            expired_at=expired_at,
        )


class PersonRemoved(LoginRefused):
    """The person was removed from the organization."""

    code = "person_removed"

    def __init__(self) -> None:
        super().__init__("you are no longer in this organization; ask one of its administrators to add you again")


class AccountMismatch(LoginRefused):
    """The address belongs to a person with another account, or to an actor that is not a person."""

    code = "account_mismatch"

    def __init__(self, email: str) -> None:
        super().__init__(
            f"{email} already belongs to another account here; "
            "log in with that account, or ask an administrator to unlink it",
            email=email,
        )


class _Match(NamedTuple):
    """The account or the invitation that a login belongs to."""

    principal_id: str
    email: str | None = None  # the address to bind; None: the account is bound already
    is_new: bool = False
    invitation: InvitationView | None = None


def bind_login(store: Store, identity: VerifiedIdentity) -> Actor:
    """Return the actor of a verified account, and bind the account at its first login.

    The actor has the roles that are stored for the person. Open a session for it with `open_session`.
    """
    _validate(identity)
    for _ in range(TRIES_MAX):
        match = store.read(_trust(identity, ""), lambda tx: _find_person(tx, identity))
        if match.email is not None:
            # The events of the first login are by the person themselves.
            trusted = _trust(identity, match.principal_id)
            if not store.write(trusted, None, lambda tx: _bind(tx, identity), needs=Permission.ORGANIZATION_MANAGE):
                continue
        return Actor(identity.organization, match.principal_id, ActorKind.PERSON, Access.MEMBERS)
    raise Unavailable("others change the same person at this moment; log in again", code="store_busy")


def _trust(identity: VerifiedIdentity, principal_id: str) -> Actor:
    """Return the actor that binds a login. The store trusts it, because the new person has no rights yet."""
    return Actor(identity.organization, principal_id, ActorKind.PERSON, Access.OPEN)


def _validate(identity: VerifiedIdentity) -> None:
    for name, text, chars_max in (
        ("issuer", identity.issuer, ISSUER_CHARS_MAX),
        ("subject", identity.subject, SUBJECT_CHARS_MAX),
    ):
        validate_value(text)
        if not 0 < len(text) <= chars_max:
            raise Invalid(f"the {name} of the account must have 1 to {chars_max} characters", code="invalid_identity")


def _find_person(tx: Transaction, identity: VerifiedIdentity) -> _Match:
    authorize_organization(tx, Permission.ORGANIZATION_MANAGE)
    bound = tx.one_or_none(sql.identity, issuer=identity.issuer, subject=identity.subject)
    if bound is not None:
        principal_id, role = bound
        if role is None:
            raise PersonRemoved
        return _Match(principal_id)
    if not identity.email or not identity.email_verified:
        raise EmailNotVerified
    email = normalize_email(identity.email)
    invitation = tx.one_or_none(sql.open_invitation, InvitationView, email=email)
    is_open = invitation is not None and invitation.state is InvitationState.OPEN
    if invitation is not None and is_open:
        if _find_kind_and_role(tx, invitation.name)[1] is None:
            raise PersonRemoved
        return _Match(invitation.name, email, invitation=invitation)
    if get_domain(email) not in _list_allowed_domains(tx):
        raise NotInvited(email) if invitation is None else InvitationExpired(email, invitation.expires_at)
    return _match_by_domain(tx, email)


def _match_by_domain(tx: Transaction, email: str) -> _Match:
    if tx.all(sql.person_of_email, email=email):
        raise AccountMismatch(email)
    kind, role = _find_kind_and_role(tx, email)
    if kind is None:
        return _Match(email, email, is_new=True)
    if kind != ActorKind.PERSON or tx.all(sql.identities_of, principal_id=email):
        raise AccountMismatch(email)
    if role is None:
        raise PersonRemoved
    # Somebody who is there already has no account, or lost it by being unlinked: only an invitation gives them one.
    raise NotInvited(email)


def _find_kind_and_role(tx: Transaction, principal_id: str) -> tuple[str | None, str | None]:
    row = tx.one_or_none(sql.person, id=principal_id)
    return (None, None) if row is None else (row[0], row[1])


def _list_allowed_domains(tx: Transaction) -> list[str]:
    text = tx.scalar(sql.allowed_domains)
    return [] if text is None else msgspec.json.decode(text, type=list[str])


def _bind(tx: Transaction, identity: VerifiedIdentity) -> bool:
    """Bind the account and return True if it belongs to the actor now. False means that the match was outdated."""
    match = _find_person(tx, identity)
    email = match.email
    if email is None or match.principal_id != tx.actor.id:
        return match.principal_id == tx.actor.id
    if match.is_new:
        add_to_organization(tx, match.principal_id, kind=ActorKind.PERSON)
        tx.record(KernelOp.PERSON_JOINED, match.principal_id, changed("domain", None, get_domain(email)))
    if match.invitation is not None:
        tx.run(sql.accept_invitation, id=match.invitation.id)
        tx.record(KernelOp.INVITATION_ACCEPTED, match.invitation.id, changed("accepted_at", None, tx.now))
    tx.run(
        sql.add_identity,
        issuer=identity.issuer,
        subject=identity.subject,
        principal_id=match.principal_id,
        email=email,
        invitation_id=None if match.invitation is None else match.invitation.id,
    )
    tx.record(
        KernelOp.IDENTITY_BOUND,
        match.principal_id,
        changed("issuer", None, identity.issuer),
        changed("email", None, email),
    )
    return True


# --- Accounts that were bound before, for requests with an access token of the issuer ---------------------------------


class Account(NamedTuple):
    """An account with the principal that it belongs to."""

    person: str | None  # None: nobody, or somebody who is not in the organization any more
    knows_agent: bool


def find_account(store: Store, organization: str, issuer: str, subject: str, *, agent: str) -> Account:
    """Return the person of an account, and whether the organization has an agent with this name."""

    def run(tx: Transaction) -> Account:
        authorize_organization(tx, Permission.ORGANIZATION_MANAGE)
        bound = tx.one_or_none(sql.identity, issuer=issuer, subject=subject)
        known = tx.one_or_none(sql.person, id=agent)
        return Account(
            None if bound is None or bound[1] is None else bound[0],
            known is not None and known[0] == ActorKind.AGENT and known[1] is not None,
        )

    # Trusted to look: who sends the request has no rights yet.
    return store.read(trusted_reader(organization), run)
