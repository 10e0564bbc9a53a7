"""The demo of `groundplan serve`: fill an example, and say what to try."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import threading
from pathlib import Path
from typing import Self

from groundplan import demo as example
from groundplan.demo.play import PlayingAgent
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.store.open_store import is_postgres
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from groundplan.surfaces.cli.setup.demo import find_program

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
