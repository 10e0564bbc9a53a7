"""The whole server on one store: REST, MCP, pages, logins, and what operators see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import Actor
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.setting_values import TOOL_GROUPS_DEFAULT
from groundplan.surfaces.http.authentication import REQUESTS_PER_S, Authenticator
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.http.front_door import EncryptedOnly, RequestMonitor, RunningRequests
from groundplan.surfaces.http.live_events import StreamLimits
from groundplan.surfaces.http.log_lines import log_request
from groundplan.surfaces.http.mcp import MCP_PATH, McpEndpoint, McpSessions, SessionLimits, list_metadata_routes
from groundplan.surfaces.http.metrics import HealthRoutes, MetricsPort, ServerMetrics
from groundplan.surfaces.http.operation_pool import OperationPool, give_turn_away
from groundplan.surfaces.http.server import build_app
from groundplan.surfaces.vocabularies import HttpVocabulary
from groundplan.surfaces.web.design_page import list_design_routes
from groundplan.surfaces.web.login import BrowserLogins, LoginCodes, LoginPages
from groundplan.surfaces.web.pages import ProjectPages, list_asset_routes

if TYPE_CHECKING:
    from groundplan.surfaces.http.issuer import IdentityProvider


class ServerApp(NamedTuple):
    """The application, and what belongs to it."""

    app: Any
    authenticator: Authenticator
    codes: LoginCodes
    metrics: ServerMetrics

    def close(self) -> None:
        """Stop what runs beside the application, after it has ended."""
        self.authenticator.close()


def build_server_app(
    store: Store,
    exposure: Exposure,
    *,
    actor: Actor | None = None,
    preferences: Preferences | None = None,
    metrics_port: int | None = None,
    requests_per_s: float = REQUESTS_PER_S,
    stream_limits: StreamLimits | None = None,
    session_limits: SessionLimits | None = None,
    provider: IdentityProvider | None = None,
    tool_groups: Sequence[str] = TOOL_GROUPS_DEFAULT,
    design: bool = False,
) -> ServerApp:
    """Return the server on an open store.

    `actor` is who opens the one-time address; None if nobody can. On `metrics_port` metrics need no token.
    `requests_per_s` is the limit of one principal. `provider` also logs people in. `tool_groups` are the
    tools of MCP. `design` adds a page with all components, for developers.
    """
    vocabulary = HttpVocabulary(OPERATIONS)
    preferences = preferences or Preferences(vocabulary=vocabulary)
    authenticator = Authenticator(store, cookie=exposure.cookie, requests_per_s=requests_per_s, provider=provider)
    codes = LoginCodes()
    running = RunningRequests()
    sessions = McpSessions(session_limits)
    metrics = ServerMetrics(running, sessions, authenticator.refusals)
    pool = OperationPool(turns=1 if store.runs_in_process else None)
    store.on_wait = give_turn_away
    logins = BrowserLogins(store, exposure)
    login = LoginPages(
        store,
        authenticator,
        codes,
        actor if exposure.offers_login_address else None,
        exposure,
        logins,
        provider.settings.name if provider else None,
    )
    mcp = McpEndpoint(store, authenticator, sessions, preferences=preferences, pool=pool, groups=tool_groups)
    app = build_app(
        store,
        authenticator.find_actor,
        recheck=authenticator.find_actor_again,
        preferences=preferences,
        hosts=exposure.hosts,
        pool=pool,
        stream_limits=stream_limits,
        routes=[
            Route(MCP_PATH, mcp),
            *list_metadata_routes([provider.settings.issuer] if provider else []),
            *ProjectPages(store, authenticator, preferences).list_routes(pool),
            *list_asset_routes(pool),
            *(list_design_routes(pool) if design else []),
            *login.list_routes(pool),
            *(_list_issuer_routes(store, provider, login, logins, exposure, pool) if provider else []),
            *HealthRoutes(store, authenticator, metrics, vocabulary, metrics_port).list_routes(pool),
        ],
        middleware=[
            Middleware(RequestMonitor, observers=[log_request, metrics.observe], running=running),
            *([Middleware(MetricsPort, port=metrics_port)] if metrics_port is not None else []),
            *([Middleware(EncryptedOnly, metrics_port=metrics_port)] if exposure.proxies and not exposure.tls else []),
        ],
    )
    return ServerApp(app, authenticator, codes, metrics)


def _list_issuer_routes(
    store: Store,
    provider: IdentityProvider,
    login: LoginPages,
    logins: BrowserLogins,
    exposure: Exposure,
    pool: OperationPool,
) -> list[BaseRoute]:
    from groundplan.surfaces.web.issuer_login import IssuerLogin  # here, because few servers need it

    return IssuerLogin(store, provider, login, logins, exposure).list_routes(pool)
