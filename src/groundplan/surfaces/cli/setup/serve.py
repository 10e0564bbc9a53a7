"""`groundplan serve`: serve the plan over HTTP: REST, MCP, and pages for people."""

from __future__ import annotations

import http.client
import json
import re
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from msgspec import Struct

from groundplan import demo as example
from groundplan.configuration import Settings
from groundplan.demo.play import PlayingAgent
from groundplan.kernel.actors import LOCAL_ORGANIZATION, ActorKind, local_actor, trusted_reader
from groundplan.kernel.errors import Invalid, Unavailable
from groundplan.kernel.store.open_store import is_postgres
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from groundplan.surfaces.cli.command_line import option
from groundplan.surfaces.cli.drawing import GAP, Rows, View
from groundplan.surfaces.cli.failures import UsageError, write_line
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.missing_plan import refuse_missing
from groundplan.surfaces.cli.setup.demo import find_program
from groundplan.surfaces.cli.steps import Step, join_steps

if TYPE_CHECKING:
    from groundplan.kernel.store.store import Store
    from groundplan.surfaces.http.exposure import Exposure
    from groundplan.surfaces.http.issuer import IdentityProvider


def build_provider(settings: Settings, allowed_hosts: Sequence[str]) -> IdentityProvider | None:
    """Return the issuer; None if none is configured. It is asked for the first time when somebody logs in."""
    if settings.oidc_issuer is None:
        return None
    from groundplan.surfaces.http.issuer import IdentityProvider, IssuerClient, IssuerSettings, check_issuer
    from groundplan.surfaces.http.mcp import MCP_PATH

    issuer = check_issuer(settings.oidc_issuer, settings.sources["oidc_issuer"])
    if settings.oidc_client_id is None:
        raise Invalid(
            "oidc_issuer needs oidc_client_id, the name of this server at the issuer; add it to the configuration",
            code="config_missing_value",
            setting="oidc_client_id",
        )
    named = tuple(f"https://{host}{path}" for host in allowed_hosts for path in ("", MCP_PATH))
    issuer_settings = IssuerSettings(
        issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret,
        settings.oidc_audience or named,
        organization=settings.org,
        hosts=settings.oidc_hosts,
        person_clients=settings.oidc_person_clients,
    )
    return IdentityProvider(issuer_settings, IssuerClient(issuer_settings))


TIMEOUT_S = 30.0
PATHS = ("/v1/projects", "/v1/openapi.json")
_PLAN = re.compile(r'href="(/p/[^"/]+/plan)"')


class SeenAnswer(Struct):
    """One answer of the server."""

    path: str
    status: int
    bytes: int
    type: str


class ServerCall:
    """The requests of one visit, sent by a thread beside the server."""

    def __init__(self, login_address: str) -> None:
        self._target = urlsplit(login_address)
        self._seen: list[SeenAnswer] = []
        self._thread: threading.Thread | None = None
        self._failure: str | None = None

    def start(self, stop: Callable[[], None]) -> None:
        """Call the server from a thread, then `stop` it."""

        def run() -> None:
            try:
                self._visit()
            except (OSError, http.client.HTTPException) as error:
                self._failure = str(error) or type(error).__name__
            finally:
                stop()

        self._thread = threading.Thread(target=run, name="once")
        self._thread.start()

    def collect(self) -> list[SeenAnswer]:
        """Return the answers."""
        if self._thread is not None:
            self._thread.join()
        wrong = [f"{answer.path} answered {answer.status}" for answer in self._seen if answer.status not in (200, 303)]
        if self._failure or wrong or not self._seen:
            raise Unavailable(
                f"the server did not answer as it should: {self._failure or '; '.join(wrong)}", code="server_failed"
            )
        return self._seen

    def _visit(self) -> None:
        connection = http.client.HTTPConnection(str(self._target.hostname), self._target.port, timeout=TIMEOUT_S)
        try:
            opened, _ = self._get(connection, f"{self._target.path}?{self._target.query}", {})
            headers = {"Cookie": (opened.getheader("set-cookie") or "").partition(";")[0]}
            first, _ = self._get(connection, "/", headers)
            _, home = self._get(connection, first.getheader("location") or "/", headers)
            for path in PATHS:
                self._get(connection, path, headers)
            if plan := _PLAN.search(home.decode()):
                self._get(connection, plan[1], headers)
        finally:
            connection.close()

    def _get(self, connection: Any, target: str, headers: dict[str, str]) -> tuple[http.client.HTTPResponse, bytes]:
        connection.request("GET", target, headers=headers)
        answer: http.client.HTTPResponse = connection.getresponse()
        body = answer.read()
        kind = (answer.getheader("content-type") or "").partition(";")[0]
        # Without the query string, which has the code of the login.
        self._seen.append(SeenAnswer(target.partition("?")[0], answer.status, len(body), kind))
        return answer, body


OWNER = local_actor(example.OWNER, kind=ActorKind.PERSON)
PLAY_ENDS_S = 2.0  # the longest that the end of the server waits for a step
URL_GIVEN = "URL-THAT-YOU-GAVE"  # a URL is not printed because it may hold a password


class BackgroundPlay:
    """The agent that works in the example, in a thread that ends with the server."""

    def __init__(self, store: Store) -> None:
        self._is_over = threading.Event()
        agent = PlayingAgent(Session(store, OWNER), example.PROJECT)
        self._thread = threading.Thread(target=agent.play, args=(self._is_over.wait,), name="play", daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._is_over.set()
        if self._thread.ident is not None:
            self._thread.join(PLAY_ENDS_S)

    def start(self) -> None:
        """Begin, when the server answers."""
        self._thread.start()


def list_demo_lines(db: str, address: str) -> list[str]:
    """Return what the terminal shows besides the addresses: the settings of an AI client, and three things to try."""
    name = example.PROJECT
    shown_db = URL_GIVEN if is_postgres(db) else str(Path(db).absolute())
    program = f"{find_program()} --db {shlex.quote(shown_db)}"
    return [
        "",
        f"The example is in {shown_db}. For an AI client, add this to its settings:",
        f"  {json.dumps(build_client_settings(shown_db))}",
        "",
        "Three things to try:",
        "  1. Open the login address: the picture, the counts and the next tasks of the example.",
        f"  2. Take the next task, then reload the page:\n     {program} work claim --project {name}",
        "  3. Ask over REST:\n"
        f"     TOKEN=$({program} token create --kind person --trusted)\n"
        f'     curl -H "Authorization: Bearer $TOKEN" {address}/v1/projects/{name}/work/next',
    ]


def build_client_settings(db: str) -> dict[str, object]:
    """Return the settings with which an AI client starts `groundplan mcp` on a store."""
    started = Path(sys.argv[0])
    found = str(started.absolute()) if started.name == "groundplan" else shutil.which("groundplan")
    command, first = (found, []) if found else (sys.executable, ["-m", "groundplan"])
    arguments = [*first, "mcp", "--db", db, "--agent", "claude"]
    return {"mcpServers": {"groundplan": {"command": command, "args": arguments}}}


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
        option(text=f"The port; 0: any free one. Default: {PORT}, with --once any free one.", low=0, high=PORT_MAX),
    ] = None,
    host: Annotated[str, option(value="ADDRESS", text="The address to listen on.")] = "127.0.0.1",
    allowed_host: Annotated[
        list[str] | None, option(value="NAME", text="A name that browsers use for this server; repeatable.")
    ] = None,
    tls_cert: Annotated[str | None, option(value="FILE", text="The certificate for TLS, with --tls-key.")] = None,
    tls_key: Annotated[str | None, option(value="FILE", text="The key of the certificate.")] = None,
    proxy: Annotated[
        list[str] | None,
        option(value="ADDRESS", text="A proxy in front that speaks TLS, whose headers are believed; repeatable."),
    ] = None,
    log_format: Annotated[Literal["text", "json"], option(text="How log lines are written to stderr.")] = "text",
    metrics_port: Annotated[
        int | None,
        option(text="A port on 127.0.0.1 for /metrics without a token, /healthz and /readyz.", low=1, high=PORT_MAX),
    ] = None,
    requests_per_s: Annotated[int, option(text="Requests in a second of one principal.", low=1, high=1_000_000)] = 50,
    streams_per_principal: Annotated[
        int, option(text="Open event streams of one principal.", low=1, high=STREAMS_MAX)
    ] = 20,
    streams: Annotated[int, option(text="Open event streams of the server.", low=1, high=STREAMS_MAX)] = 2_000,
    sessions_per_principal: Annotated[
        int, option(text="Open MCP sessions of one principal.", low=1, high=SESSIONS_MAX)
    ] = 20,
    sessions: Annotated[int, option(text="Open MCP sessions of the server.", low=1, high=SESSIONS_MAX)] = 1_000,
    demo: Annotated[
        bool, option("--demo", text="Serve a filled example, in a temporary file or in the one of --db.")
    ] = False,
    play: Annotated[
        bool, option("--play", text="Let an agent work in the example of --demo, one step every few seconds.")
    ] = False,
    design: Annotated[
        bool, option("--design", text="Also show all components of the pages at /_design, for developers.")
    ] = False,
    once: Annotated[
        bool, option("--once", text="Log in, call the server once, print what it answered, and end.")
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

    if code is None or exposure.tls is not None:
        raise UsageError("--once logs in by the one-time address: leave out --tls-cert and --proxy; be a person")
    call = ServerCall(f"{exposure.address}/login?code={code}")
    run(call.start)
    answers = call.collect()

    data = {"address": exposure.address, "answers": answers}
    view = View(f"Groundplan answered at {exposure.address}:", GAP, Rows("answers", "path, status, type, bytes"))
    return join_steps(Step(data, view.list_parts(data)))


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
