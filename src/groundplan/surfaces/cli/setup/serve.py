"""`groundplan serve`: serve the plan over HTTP: REST, MCP, and pages for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from groundplan.kernel.actors import LOCAL_ORGANIZATION, ActorKind, trusted_reader
from groundplan.kernel.errors import Unavailable
from groundplan.surfaces.cli.failures import UsageError, write_line
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.missing_plan import refuse_missing

if TYPE_CHECKING:
    from groundplan.kernel.store.store import Store
    from groundplan.surfaces.http.exposure import Exposure

PORT = 8321
PORT_MAX = 65_535
STREAMS_MAX = 9_000  # of the connections that a server accepts
SESSIONS_MAX = 100_000  # each takes some kilobytes


class ServerMissing(Unavailable):
    """The libraries of the server, an optional dependency, are not installed."""

    code = "server_missing"

    def __init__(self) -> None:
        super().__init__("the server is not installed; run: pip install 'groundplan[server]'")


def serve(
    invocation: Invocation,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=PORT_MAX, help=f"The port; 0: any free one. Default: {PORT}, with --once any free one."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on.", show_default=True)
    ] = "127.0.0.1",
    allowed_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name that browsers use for this server; repeatable.")
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option(metavar="FILE", help="The certificate for TLS, with --tls-key.")
    ] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="The key of the certificate.")] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS", help="A proxy in front that speaks TLS, whose headers are believed; repeatable."
        ),
    ] = None,
    log_format: Annotated[
        Literal["text", "json"], typer.Option(help="How log lines are written to stderr.", show_default=True)
    ] = "text",
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=1, max=PORT_MAX, help="A port on 127.0.0.1 for /metrics without a token, /healthz and /readyz."
        ),
    ] = None,
    requests_per_s: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Requests in a second of one principal.", show_default=True)
    ] = 50,
    streams_per_principal: Annotated[
        int, typer.Option(min=1, max=STREAMS_MAX, help="Open event streams of one principal.", show_default=True)
    ] = 20,
    streams: Annotated[
        int, typer.Option(min=1, max=STREAMS_MAX, help="Open event streams of the server.", show_default=True)
    ] = 2_000,
    sessions_per_principal: Annotated[
        int, typer.Option(min=1, max=SESSIONS_MAX, help="Open MCP sessions of one principal.", show_default=True)
    ] = 20,
    sessions: Annotated[
        int, typer.Option(min=1, max=SESSIONS_MAX, help="Open MCP sessions of the server.", show_default=True)
    ] = 1_000,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve a filled example, in a temporary file or in the one of --db.")
    ] = False,
    play: Annotated[
        bool, typer.Option("--play", help="Let an agent work in the example of --demo, one step every few seconds.")
    ] = False,
    design: Annotated[
        bool, typer.Option("--design", help="Also show all components of the pages at /_design, for developers.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Log in, call the server once, print what it answered, and end.")
    ] = False,
) -> CommandResult:
    """Serve the plan over HTTP: pages for people, REST for programs, described at /v1/docs, and MCP for AI clients."""
    try:
        from groundplan.surfaces.http.server import open_socket
        from groundplan.surfaces.http.server import serve as serve_app
        from groundplan.surfaces.web.server_app import build_server_app
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("groundplan", ""):
            raise
        raise ServerMissing from None
    from groundplan.catalog import OPERATIONS, build_schema
    from groundplan.demo import fill_database
    from groundplan.kernel.store.open_store import open_store
    from groundplan.surfaces.cli.setup.serve_demo import OWNER, BackgroundPlay, list_demo_lines
    from groundplan.surfaces.cli.setup.serve_issuer import build_provider
    from groundplan.surfaces.http.event_streams import StreamLimits
    from groundplan.surfaces.http.exposure import check_exposure
    from groundplan.surfaces.http.log_lines import start_logging
    from groundplan.surfaces.http.mcp import SessionLimits
    from groundplan.surfaces.vocabularies import HttpVocabulary

    if play and (once or not demo):
        raise UsageError("--play works in the example: give --demo, and leave out --once")
    wanted_port = port if port is not None else 0 if once else PORT
    exposure = _build_exposure(host, wanted_port, allowed_host or (), (tls_cert, tls_key), proxy or ())
    settings = invocation.settings
    with ExitStack() as opened:
        listening = opened.enter_context(open_socket(exposure.port, exposure.host))
        exposure = exposure._replace(port=listening.getsockname()[1])
        sockets = [listening]
        if metrics_port is not None:
            sockets.append(opened.enter_context(open_socket(metrics_port)))
        db = _choose_demo_db(invocation, opened, keep=not once) if demo else settings.db
        if demo:
            fill_database(db)
        else:
            refuse_missing(settings)
        store = open_store(db, build_schema, for_server=True)
        opened.callback(store.close)
        provider = build_provider(settings, exposure.allowed_hosts)
        if provider is not None:
            opened.callback(provider.http.close)
        check_exposure(exposure, lambda: provider is not None or _has_tokens(store, settings.org))
        actor = OWNER if demo else settings.build_actor()
        logs_in = actor is not None and actor.kind is ActorKind.PERSON
        server = build_server_app(
            store,
            exposure,
            actor=actor if logs_in else None,
            preferences=settings.preferences(HttpVocabulary(OPERATIONS)),
            metrics_port=metrics_port,
            requests_per_s=requests_per_s,
            stream_limits=StreamLimits(per_principal=streams_per_principal, per_server=streams),
            provider=provider,
            session_limits=SessionLimits(per_principal=sessions_per_principal, per_server=sessions),
            tool_groups=settings.tools,
            design=design,
        )
        opened.callback(server.close)
        run_server = partial(
            serve_app, server.app, sockets, exposure=exposure, on_stop=server.app.state.event_streams.stop
        )
        code = server.codes.issue() if logs_in and exposure.offers_login_address else None
        if once:
            return _call_once(exposure, code, run_server)
        opened.callback(start_logging(log_format).flush)
        lines = _list_lines(
            exposure, code, None if actor is None else actor.organization, provider.settings.name if provider else None
        )
        lines += list_demo_lines(db, exposure.address) if demo else []
        player = opened.enter_context(BackgroundPlay(store)) if play else None

        def announce(_stop: Callable[[], None]) -> None:
            _announce(lines)
            if player is not None:
                player.start()

        run_server(announce)
    return CommandResult({"address": exposure.address}, lambda: None)


def _choose_demo_db(invocation: Invocation, opened: ExitStack, *, keep: bool) -> str:
    """Return where the example goes: only --db counts, so that it does not end up in a real plan."""
    import shutil
    from pathlib import Path

    from groundplan.setting_values import check_db
    from groundplan.surfaces.cli.setup.demo import make_temporary_path

    if invocation.flags.db is not None:
        return check_db(invocation.flags.db)
    db = make_temporary_path()
    if not keep:
        opened.callback(shutil.rmtree, Path(db).parent, ignore_errors=True)
    return db


def _call_once(exposure: Exposure, code: str | None, run: Callable[[Callable[..., None]], None]) -> CommandResult:
    from groundplan.surfaces.cli.setup.serve_once import ServerCall

    if code is None or exposure.tls is not None:
        raise UsageError("--once logs in by the one-time address: leave out --tls-cert and --proxy, and give --agent")
    call = ServerCall(f"{exposure.address}/login?code={code}")
    run(call.start)
    answers = call.collect()

    def draw() -> None:
        from groundplan.surfaces.cli.drawing import Rows, View
        from groundplan.surfaces.cli.terminal import echo

        echo(f"Groundplan answered at {exposure.address}:", "")
        View(Rows("answers", "path, status, type, bytes"))({"answers": answers})

    return CommandResult({"address": exposure.address, "answers": answers}, draw)


def _announce(lines: Sequence[str]) -> None:
    for line in lines:
        write_line(sys.stderr, line)


def _build_exposure(
    host: str,
    port: int,
    names: list[str] | tuple[()],
    tls: tuple[str | None, str | None],
    proxies: list[str] | tuple[()],
) -> Exposure:
    from pathlib import Path

    from groundplan.surfaces.http.exposure import Exposure, TlsFiles, parse_host, parse_proxy

    certificate, key = tls
    if (certificate is None) != (key is None):
        raise UsageError("--tls-cert and --tls-key belong together; give both")
    for file in (certificate, key):
        if file is not None and not Path(file).is_file():
            raise UsageError(f"there is no file {file!r}; --tls-cert and --tls-key name files in PEM format")
    return Exposure(
        parse_host(host),
        port,
        tuple(names),
        TlsFiles(certificate, key) if certificate and key else None,
        tuple(parse_proxy(one) for one in proxies),
    )


def _has_tokens(store: Store, organization: str) -> bool:
    from groundplan.session import Session

    tokens = Session(store, trusted_reader(organization)).call("token.list").tokens
    return any(token.kind != "session" for token in tokens)


def _list_lines(exposure: Exposure, code: str | None, organization: str | None, issuer: str | None) -> list[str]:
    address = exposure.address
    means = f"with a token, or at {issuer}" if issuer else "with a token"
    login = f"{address}/login?code={code}   (works once, for 15 minutes)" if code else f"{address}/login   ({means})"
    of_organization = "" if organization in (None, LOCAL_ORGANIZATION) else f" to the organization {organization}"
    return [
        f"Groundplan answers at {address}; press Ctrl-C to stop.",
        f"  Log in:    {login}{of_organization}",
        f"  REST:      {address}/v1   (Authorization: Bearer TOKEN; groundplan token create makes one)",
        f"  MCP:       {address}/mcp   (for the settings of an AI client:)",
        f"             {json.dumps(build_http_client_settings(exposure))}",
        f"  Reference: {address}/v1/docs",
    ]


def build_http_client_settings(exposure: Exposure) -> dict[str, object]:
    """Return the settings with which an AI client connects over HTTP; the token goes where the capitals are."""
    name = exposure.allowed_hosts[0] if exposure.allowed_hosts else None
    address = f"https://{name}" if name and exposure.is_https else exposure.address
    headers = {"Authorization": "Bearer TOKEN"}
    return {"mcpServers": {"groundplan": {"type": "http", "url": f"{address}/mcp", "headers": headers}}}
