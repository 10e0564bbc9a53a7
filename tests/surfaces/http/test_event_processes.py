"""Events of one process reach the streams of another one, on one file and on one PostgreSQL."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import threading
from contextlib import closing

import uvicorn

from groundplan.surfaces.http.app import build_app
from groundplan.surfaces.http.server import Server, open_socket
from tests.engines import Engine
from tests.surfaces.http.client import FunctionAuthenticator
from tests.surfaces.http.event_server import event_server, trust_header
from tests.surfaces.http.test_live_events import get_rev, plan

PATIENCE_S = 60


def test_two_servers_on_one_database_tell_the_same_events(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    with event_server(engine.store) as first, event_server(engine.another_store()) as second:
        streams = [server.follow() for server in (first, second)]
        for ref in ("coast", "hills"):
            plan(ada, ref)
        assert streams[0].read_until(get_rev(engine)) == streams[1].read_until(get_rev(engine))


def test_a_write_of_another_process_reaches_a_stream(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    with event_server(engine.store) as server:
        stream = server.follow()
        arguments = (
            "--db",
            engine.db,
            "--access",
            "open",
            "--person",
            "ben",
            "member",
            "add",
            "cleo",
            "--project",
            "atlas",
            "--role",
            "viewer",
        )
        subprocess.run((sys.executable, "-m", "groundplan", *arguments), check=True, capture_output=True)
        event = stream.read_until(get_rev(engine))[-1]
    assert (event.data["area"], event.data["ids"]) == ("members", ["cleo"])


def test_a_server_with_open_streams_stops_when_they_are_told_to(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    app = build_app(Server(store=engine.store, authenticator=FunctionAuthenticator(engine.store, trust_header)))
    ready = threading.Event()

    class StoppingServer(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready.set()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.state.event_streams.stop()
            await super().shutdown(sockets)

    with closing(open_socket(0)) as listening:
        server = StoppingServer(uvicorn.Config(app, log_config=None, lifespan="on"))  # it waits for ever by itself
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        serving.start()
        assert ready.wait(PATIENCE_S)
        port = listening.getsockname()[1]
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as client:
            client.request("GET", "/v1/projects/atlas/events")
            response = client.getresponse()
            while response.readline() != b"event: hello\n":
                pass
            plan(ada, "coast")
            while b'"area":"work"' not in response.readline():
                pass
            server.should_exit = True
            rest = response.read()
        serving.join(PATIENCE_S)
    assert rest.endswith(b"event: bye\ndata: {}\n\n")
    assert not serving.is_alive()
