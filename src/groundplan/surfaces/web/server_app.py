"""The whole server on one store: REST, MCP, pages, logins, and routes for operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.routing import BaseRoute, Route

from groundplan.kernel.actors import Actor
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.setting_values import TOOL_GROUPS_DEFAULT
from groundplan.surfaces.http.app import build_app
from groundplan.surfaces.http.authentication import REQUESTS_PER_S, Authenticator
from groundplan.surfaces.http.event_streams import StreamLimits
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.http.log_lines import log_request
from groundplan.surfaces.http.mcp import MCP_PATH, McpEndpoint, McpSessions, SessionLimits, list_metadata_routes
from groundplan.surfaces.http.metrics import HealthRoutes, ServerMetrics
from groundplan.surfaces.http.operation_pool import OperationPool, give_turn_away
from groundplan.surfaces.http.server import VOCABULARY, Server
from groundplan.surfaces.web.design_page import list_design_routes
from groundplan.surfaces.web.login import BrowserLogins, LoginCodes, LoginPages
from groundplan.surfaces.web.pages import ProjectPages, list_asset_routes

if TYPE_CHECKING:
    from groundplan.surfaces.http.issuer import IdentityProvider


class ServerApp(NamedTuple):
    """The ASGI application and its background tasks."""

    app: Any
    authenticator: Authenticator
    codes: LoginCodes
    metrics: ServerMetrics

    def close(self) -> None:
        """Stop the background tasks after the application has ended."""
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
    """Return the server for an open store.

    `actor` is who opens the one-time address; None if nobody can. On `metrics_port` metrics need no token.
    `requests_per_s` is the limit of one principal. `provider` also logs people in. `tool_groups` are the
    tools of MCP. `design` adds a page with all components, for developers.
    """
    authenticator = Authenticator(store, cookie=exposure.cookie, requests_per_s=requests_per_s, provider=provider)
    server = Server(
        store=store,
        authenticator=authenticator,
        exposure=exposure,
        metrics_port=metrics_port,
        preferences=preferences or Preferences(vocabulary=VOCABULARY),
        pool=OperationPool(turns=1 if store.runs_in_process else None),
    )
    store.on_wait = give_turn_away
    codes = LoginCodes()
    sessions = McpSessions(session_limits)
    metrics = ServerMetrics(server.running, sessions, authenticator.refusals)
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
    pool = server.pool
    issuer_routes: list[BaseRoute] = []
    if provider is not None:
        from groundplan.surfaces.web.issuer_login import IssuerLogin  # here, because few servers need it

        issuer_routes = IssuerLogin(store, provider, login, logins, exposure).list_routes(pool)
    app = build_app(
        server,
        stream_limits=stream_limits,
        pages=[
            Route(MCP_PATH, McpEndpoint(server, sessions, tool_groups)),
            *list_metadata_routes([provider.settings.issuer] if provider else []),
            *ProjectPages(store, authenticator, server.preferences).list_routes(pool),
            *list_asset_routes(pool),
            *(list_design_routes(pool) if design else []),
            *login.list_routes(pool),
            *issuer_routes,
            *HealthRoutes(server, metrics).list_routes(),
        ],
        observers=[log_request, metrics.observe],
    )
    return ServerApp(app, authenticator, codes, metrics)
