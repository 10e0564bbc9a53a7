"""Authenticate requests by a bearer token or the cookie of a login, and limit their rate.

Authorization: Bearer gpt_…          any client; the browser never adds it by itself
Authorization: Bearer eyJ….….…       the same with an access token of the configured issuer
Cookie: groundplan_session_8321=…    a browser; requests that change something must also show that a page of this
                                     server sent them, because a browser adds the cookie to requests of any page
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import HTTPConnection

from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Forbidden, Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import RefusalCounts, VerifiedToken, record_use, verify_token
from groundplan.kernel.tokens.token import TokenKind
from groundplan.surfaces.http.answers import HttpProblem
from groundplan.surfaces.http.front_door import ACTOR_OF_REQUEST

if TYPE_CHECKING:
    from groundplan.surfaces.http.issuer import IdentityProvider
    from groundplan.surfaces.http.issuer_tokens import SignedActors


CSRF_HEADER = "x-csrf-token"
CSRF_OF_FORM = "groundplan.csrf"  # in the scope: the same text, from the field of a form
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SAME_ORIGIN = frozenset({"same-origin", "none"})  # `none`: the user typed the address
REQUESTS_PER_S = 50.0  # of one principal; an agent sends a few in a second
BURST_S = 4  # as many requests at once as in so many seconds
REFUSALS_PER_S, REFUSAL_BURST = 1.0, 20  # of one address without a valid token


@dataclass(frozen=True, slots=True)
class Principal:
    """The sender of a request, and the secret that proves it."""

    verified: VerifiedToken
    secret: str
    is_login: bool  # by the cookie of a login

    @property
    def actor(self) -> Actor:
        return self.verified.actor

    @property
    def csrf_token(self) -> str:
        """The CSRF token for forms of this login. It is derived from the secret, which other pages cannot read."""
        return compute_csrf_token(self.secret)


class Authenticator:
    """An authenticator that finds the sender of a request and counts the sender's requests."""

    def __init__(
        self,
        store: Store,
        *,
        cookie: str,
        requests_per_s: float = REQUESTS_PER_S,
        provider: IdentityProvider | None = None,
    ) -> None:
        self._store = store
        self._cookie = cookie
        self.refusals = RefusalCounts()
        self._signed_actors: SignedActors | None = None
        if provider is not None:
            from groundplan.surfaces.http.issuer_tokens import SignedActors  # few servers need it

            self._signed_actors = SignedActors(store, provider, self.refusals)
        self._requests = RateLimiter(per_s=requests_per_s, burst=max(1, round(requests_per_s * BURST_S)))
        self._refused_addresses = RateLimiter(per_s=REFUSALS_PER_S, burst=REFUSAL_BURST)
        self._recorder = ThreadPoolExecutor(1, thread_name_prefix="token-use")
        self._recorded: set[str | None] = set()  # tokens whose use is being recorded

    def authenticate(self, connection: HTTPConnection) -> Principal:
        """Return the sender of a request, and count the request. Call this in a thread."""
        principal = self._identify(connection)
        wait_s = self._requests.admit((principal.actor.organization, principal.actor.id))
        if wait_s:
            raise _too_many_requests(wait_s)
        return principal

    def find_actor(self, connection: HTTPConnection) -> Actor:
        """Authenticate and count a request, and return its actor."""
        return self.authenticate(connection).actor

    def find_actor_again(self, connection: HTTPConnection) -> Actor:
        """Return the actor of an open request, without counting another request."""
        return self._identify(connection).actor

    def _identify(self, connection: HTTPConnection) -> Principal:
        secret, is_login = self._find_secret(connection)
        try:
            if secret is None:
                raise Unauthenticated("send a token: Authorization: Bearer TOKEN, or log in with a browser")
            verified = self._verify(secret, is_login=is_login)
            if (verified.kind is TokenKind.SESSION) != is_login:
                # The secret of a login works in its cookie only, where scripts cannot read it.
                raise Unauthenticated("a login is valid in its cookie, and a token in the header Authorization")
        except (Unauthenticated, Forbidden):
            self.limit_refusals(connection)
            raise
        connection.scope[ACTOR_OF_REQUEST] = verified.actor.id
        principal = Principal(verified, secret, is_login)
        if is_login and connection.scope["method"] not in SAFE_METHODS:
            _require_own_page(connection, principal)
        if verified.is_use_due and verified.actor.token_id not in self._recorded:
            self._recorded.add(verified.actor.token_id)
            self._recorder.submit(self._record, verified)  # the request does not wait for a write
        return principal

    def _verify(self, secret: str, *, is_login: bool) -> VerifiedToken:
        """Return the actor of a token of Groundplan, or of an access token of the issuer, which has two dots."""
        if self._signed_actors is not None and not is_login and secret.count(".") == 2:
            return self._signed_actors.verify(secret)
        return verify_token(self._store, secret, self.refusals)

    def close(self) -> None:
        """Stop recording the use of tokens."""
        self._recorder.shutdown(wait=True, cancel_futures=True)

    def _record(self, verified: VerifiedToken) -> None:
        try:
            record_use(self._store, verified)
        finally:
            self._recorded.discard(verified.actor.token_id)

    def limit_refusals(self, connection: HTTPConnection) -> None:
        """Count a refused request from an address."""
        address = connection.client.host if connection.client else ""
        wait_s = self._refused_addresses.admit(address)
        if wait_s:
            raise _too_many_requests(wait_s)

    def _find_secret(self, connection: HTTPConnection) -> tuple[str | None, bool]:
        """Return the token of a request, and True if it is in the cookie. A header takes precedence."""
        given = connection.headers.get("authorization")
        if given is not None:
            scheme, _, secret = given.partition(" ")
            return (secret.strip() or None, False) if scheme.lower() == "bearer" else (None, False)
        return connection.cookies.get(self._cookie), True


def compute_csrf_token(secret: str) -> str:
    """Return the CSRF token, which proves that a page of this server sent a request."""
    return hmac.new(secret.encode(), b"groundplan csrf", hashlib.sha256).hexdigest()


def _require_own_page(connection: HTTPConnection, principal: Principal) -> None:
    site = connection.headers.get("sec-fetch-site", "none")
    sent = connection.headers.get(CSRF_HEADER) or connection.scope.get(CSRF_OF_FORM, "")
    if site not in SAME_ORIGIN or not hmac.compare_digest(sent.encode(), principal.csrf_token.encode()):
        raise HttpProblem(
            403,
            "csrf",
            "a page of this server must send this; reload the page and try again",
        )


def _too_many_requests(wait_s: float) -> HttpProblem:
    seconds = max(1, round(wait_s + 0.5))
    return HttpProblem(
        429,
        "too_many_requests",
        f"too many requests; try again in {seconds} s",
        headers={"retry-after": str(seconds)},
        retry_after_s=seconds,
    )


# --- The rate of requests ---------------------------------------------------------------------------------------------


class _Bucket(NamedTuple):
    level: float
    at_s: float


class RateLimiter:
    """The remaining requests of each principal, as token buckets in memory. It is safe in several threads.

    A bucket holds up to `burst` requests and refills at a constant rate. The number of buckets is bounded: the one that
    was idle longest is dropped first, and it is full again by then unless more principals are active than there are
    buckets.
    """

    def __init__(
        self,
        *,
        per_s: float,
        burst: int,
        principals_max: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if per_s <= 0 or burst < 1 or principals_max < 1:
            raise ValueError("per_s must be positive, burst and principals_max at least 1")
        self._per_s = per_s
        self._burst = float(burst)
        self._principals_max = principals_max
        self._clock = clock
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()  # the one that was idle longest is first
        self._lock = threading.Lock()

    def admit(self, principal: Hashable) -> float:
        """Count a request and return 0; over the limit, return the number of seconds until a retry."""
        with self._lock:
            now_s = self._clock()
            level = self._get_level(principal, now_s)
            retry_after_s = 0.0 if level >= 1 else (1 - level) / self._per_s
            self._buckets[principal] = _Bucket(level if retry_after_s else level - 1, now_s)
            self._buckets.move_to_end(principal)
            if len(self._buckets) > self._principals_max:
                self._buckets.popitem(last=False)
            return retry_after_s

    def _get_level(self, principal: Hashable, now_s: float) -> float:
        bucket = self._buckets.get(principal)
        if bucket is None:
            return self._burst
        # A clock that runs backwards must not take requests away.
        return min(self._burst, bucket.level + max(0.0, now_s - bucket.at_s) * self._per_s)

    def __len__(self) -> int:
        return len(self._buckets)
