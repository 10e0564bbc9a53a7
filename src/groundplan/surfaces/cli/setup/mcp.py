"""`groundplan mcp`: serve the plan to an AI client over standard input and output.

A client waits for the first answer of every server it starts, so startup loads only what that answer needs:
operations, schemas and the store are loaded right after the answer, while the client reads it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from groundplan import __version__
from groundplan.configuration import Flags, Identity, Settings, load_settings
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.wording import quote_text
from groundplan.migrations import get_latest_version
from groundplan.surfaces.cli.command_line import (
    CONFIG_OPTION,
    HELP_OPTION,
    Command,
    Line,
    make_flag,
    option,
    parse_line,
    usage_error,
)

if TYPE_CHECKING:
    from groundplan.session import Session
    from groundplan.surfaces.mcp.methods import Tools


HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"
USER_VERSION_OFFSET = 60
APPLICATION_ID_OFFSET = 68
APPLICATION_ID = 0x47504C4E  # the same as in `sqlite_file`, which would import SQLite; a test compares the two


def is_ready(path: str, *, may_create: bool = True) -> bool:
    """Return whether the file is a writable Groundplan database of the current schema, or may and can be created.

    A header can be older than the file's write-ahead log, never newer: then the answer is no, and opening decides.
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return False  # a named pipe would block
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # SQLite creates more files beside it, so the folder must be writable.
        return may_create and os.access(Path(path).parent, os.W_OK | os.X_OK)
    except (OSError, ValueError):
        return False
    try:
        header = os.read(file, HEADER_BYTES)
    except OSError:
        return False
    finally:
        os.close(file)  # this would drop the locks of our own connections, but there are none yet
    return (
        header.startswith(MAGIC)
        and _read_number(header, APPLICATION_ID_OFFSET) == APPLICATION_ID
        and _read_number(header, USER_VERSION_OFFSET) == get_latest_version()
    )


def _read_number(header: bytes, at: int) -> int:
    return int.from_bytes(header[at : at + 4], "big")


AGENT_DEFAULT = "agent"
KINDS = ("agent", "person")
COMMAND = Command(
    ("mcp",),
    "Serve the plan to an AI client over standard input and output (MCP).",
    None,
    (
        *map(make_flag, ("db", "org", "access", "tools")),
        make_flag("agent", f"the coding agent that starts this, else {AGENT_DEFAULT}"),
        option(
            "--kind",
            value="agent|person",
            choices=KINDS,
            text='What the name is, until it first acts. An agent acts at most with the role that the policy "agents" '
            "of a project allows. Default: agent.",
        ),
        option(
            "--owner",
            value="NAME",
            text="The person who owns the projects that the agent creates; needed for that with --access members.",
        ),
        option(
            "--repo",
            value="DIR",
            text="The repository of paths of files, whose plan is used. Default: the one around this folder.",
        ),
        option(
            "--max-answer-tokens",
            value="N",
            type=int,
            low=0,
            text="Maximum size of an answer; 0: no limit. Default: 20000.",
        ),
        CONFIG_OPTION,
        HELP_OPTION,
    ),
    """The client starts this command itself. Add this to its settings:

  {"command": "groundplan",
   "args": ["mcp", "--db", "/path/to/plan.db", "--agent", "claude"]}""",
)


def run(argv: Sequence[str]) -> int:
    """Serve until the client disconnects, and return the exit status."""
    try:
        line = parse_line(COMMAND, argv)
        if line.has("help"):
            from groundplan.surfaces.cli.help import print_command_help

            print_command_help(COMMAND)
            return 0
        return _serve(line)
    except GroundplanError as error:
        from groundplan.surfaces.cli.failures import load_vocabulary, report

        return report(error, as_json=False, load_names=load_vocabulary)
    except Exception:
        from groundplan.surfaces.cli.failures import load_vocabulary, report
        from groundplan.surfaces.exception_log import log_exception_to_file

        return report(log_exception_to_file(), as_json=False, load_names=load_vocabulary)


def _serve(line: Line) -> int:
    given = line.convert()
    kind, tokens_max = given["kind"], given["max_answer_tokens"]
    repo = given["repo"]
    if repo is not None:
        _refuse_missing_folder(repo)
    settings = load_settings(Flags(**{name: given.get(name) for name in Flags._fields}))
    if kind == "person" and settings.coding_agent is not None:
        from groundplan.surfaces.cli.command_settings import PersonNotConfirmed

        raise PersonNotConfirmed(settings.coding_agent, "--kind person")
    if sys.stdin is None or sys.stdout is None:
        raise usage_error(COMMAND.words, "MCP needs standard input and output, and one of them is closed")
    from groundplan.surfaces.mcp.instructions import build_instructions
    from groundplan.surfaces.mcp.methods import DeferredTools
    from groundplan.surfaces.mcp.stdio import serve

    sessions: list[Session] = []

    def build() -> Tools:
        session = _open_session(settings, kind, given["owner"], tokens_max, repo)
        sessions.append(session)
        return _build_tools(session, settings)

    tools = DeferredTools(build)
    if not _will_open(settings):
        from groundplan.surfaces.cli.missing_plan import refuse_missing

        refuse_missing(settings)
        tools.load()
    if sys.stdin.isatty():
        print("groundplan: waiting for an MCP client on standard input; press Ctrl-D to stop", file=sys.stderr)
    try:
        return serve(
            tools,
            sys.stdin.buffer,
            sys.stdout.buffer,
            version=__version__,
            instructions=build_instructions(settings.tools, has_project=settings.project is not None),
            on_ready=tools.load,
        )
    finally:
        for session in sessions:
            session.close()


def _will_open(settings: Settings) -> bool:

    return is_ready(settings.db, may_create=settings.may_create_db)


def _open_session(
    settings: Settings, kind: str | None, owner: str | None, tokens_max: int | None, repo: str | None
) -> Session:
    from groundplan.catalog import OPERATIONS, build_schema
    from groundplan.kernel.answers import ANSWER_TOKENS_MAX
    from groundplan.kernel.store.open_store import open_store
    from groundplan.repository.git import WorkingCopy
    from groundplan.session import Session
    from groundplan.surfaces.vocabularies import McpVocabulary

    cap = ANSWER_TOKENS_MAX if tokens_max is None else tokens_max
    return Session(
        open_store(settings.db, build_schema),
        settings.build_actor(_identify(settings, kind), responsible=owner),
        preferences=settings.preferences(
            McpVocabulary(OPERATIONS, settings.tools),
            answer_tokens_max=cap,
            working_copy=WorkingCopy(
                repo or ".",
                starts_at_root=True,
                is_chosen=repo is not None,
                advice="start the server in the repository or with --repo DIR",
            ),
        ),
    )


def _identify(settings: Settings, kind: str | None) -> Identity:
    """Return who acts, as `--kind` says until the name first acts."""
    from groundplan.kernel.actors import ActorKind

    who = settings.identity
    if kind != ActorKind.PERSON and not who.is_named:
        who = who._replace(name=AGENT_DEFAULT)
    return who._replace(kind=ActorKind(kind or ActorKind.AGENT), takes_stored_kind=kind is not None)


def _build_tools(session: Session, settings: Settings) -> Tools:
    from groundplan.kernel.operations.registry import Group
    from groundplan.surfaces.mcp.tools import RegistryTools, read_published_tools

    groups = [Group(name) for name in settings.tools]
    return RegistryTools(
        session.operations,
        groups,
        session.execute,
        entries=read_published_tools(),
        explain_groups=_explain_groups,
        has_project=settings.project is not None,
    )


def _explain_groups(groups: Sequence[str]) -> str:
    """Return how a client of this server gets the tools of some groups."""
    return f"a person starts the server with --tools {','.join(groups)}, or sets tools in groundplan.yaml"


def _refuse_missing_folder(repo: str) -> None:
    from pathlib import Path

    if not repo or not Path(repo).is_dir():
        raise usage_error(COMMAND.words, f"--repo must be an existing folder, not {quote_text(repo)}")
