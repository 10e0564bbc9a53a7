"""`groundplan mcp`: serve the plan to an AI client over standard input and output.

A client waits for the first answer of every server it starts, so startup loads only what that answer needs: flags are
parsed by hand, and operations, schemas and the store are loaded right after the answer, while the client reads it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from groundplan import __version__
from groundplan.configuration import Flags, Identity, Settings, load_settings
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.wording import find_nearest, join_alternatives, quote_text
from groundplan.setting_values import TOOL_GROUPS

if TYPE_CHECKING:
    from groundplan.session import Session
    from groundplan.surfaces.mcp.methods import Tools

AGENT_DEFAULT = "agent"
HELP = f"""\
Usage: groundplan mcp [OPTIONS]

Serve the plan to an AI client over standard input and output (MCP). The client
starts this command itself. Add this to its settings:

  {{"command": "groundplan",
   "args": ["mcp", "--db", "/path/to/plan.db", "--agent", "claude"]}}

Options:
  --db PATH|URL          A file, or a postgresql:// URL.
                         Default: GROUNDPLAN_DB, else the plan of this folder.
  --org ID               The organization. Default: GROUNDPLAN_ORG, else local.
  --agent NAME           The agent that acts. Default: GROUNDPLAN_AGENT, else
                         the coding agent that starts this, else {AGENT_DEFAULT}.
  --tools all|GROUP,...  The tools: {", ".join(TOOL_GROUPS[:4])},
                         {", ".join(TOOL_GROUPS[4:])}. Default: all but containers.
  --access open|members  open: every person is an owner; members: the stored
                         roles decide. Default: open, with a URL members.
  --kind agent|person    What the name is, until it first acts. An agent acts
                         at most with the role that the policy "agents" of a
                         project allows. Default: agent.
  --owner NAME           The person who owns the projects that the agent
                         creates; needed for that with --access members.
  --repo DIR             The repository that paths of files are in, and whose
                         plan is used. Default: the one around this folder.
  --max-answer-tokens N  Maximum size of an answer; 0: no limit. Default: 20000.
  --config FILE          Configuration file.
                         Default: groundplan.yaml here, if it exists.
  --help                 Show this and exit.
"""
_FLAGS = ("db", "org", "agent", "tools", "access", "kind", "owner", "repo", "max-answer-tokens", "config")
_KINDS = ("agent", "person")


def run(argv: Sequence[str]) -> int:
    """Serve until the client disconnects, and return the exit status."""
    try:
        given = _parse_flags(argv)
        if "help" in given:
            print(HELP, end="")
            return 0
        return _serve(given)
    except GroundplanError as error:
        from groundplan.surfaces.cli.failures import report

        return report(error, as_json=False)
    except Exception:
        from groundplan.surfaces.cli.failures import report
        from groundplan.surfaces.exception_log import log_exception_to_file

        return report(log_exception_to_file(), as_json=False)


def _serve(given: dict[str, str]) -> int:
    kind = given.get("kind")
    if kind is not None and kind not in _KINDS:
        raise _usage_error(f"--kind must be {join_alternatives(_KINDS)}, not {quote_text(kind)}", allowed=list(_KINDS))
    tokens_max = _parse_tokens_max(given.get("max-answer-tokens"))
    repo = given.get("repo")
    if repo is not None:
        _refuse_missing_folder(repo)
    settings = load_settings(Flags(**{name: given.get(name) for name in Flags._fields}))
    if kind == "person" and settings.coding_agent is not None:
        from groundplan.surfaces.cli.command_settings import PersonNotConfirmed

        raise PersonNotConfirmed(settings.coding_agent, "--kind person")
    if sys.stdin is None or sys.stdout is None:
        raise _usage_error("MCP needs standard input and output, and one of them is closed")
    from groundplan.surfaces.mcp.instructions import build_instructions
    from groundplan.surfaces.mcp.methods import DeferredTools
    from groundplan.surfaces.mcp.stdio import serve

    sessions: list[Session] = []

    def build() -> Tools:
        session = _open_session(settings, kind, given.get("owner"), tokens_max, repo)
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
            instructions=build_instructions(settings.tools),
            on_ready=tools.load,
        )
    finally:
        for session in sessions:
            session.close()


def _will_open(settings: Settings) -> bool:
    from groundplan.surfaces.cli.setup.file_header import is_ready

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
        session.operations, groups, session.execute, entries=read_published_tools(), explain_groups=_explain_groups
    )


def _explain_groups(groups: Sequence[str]) -> str:
    """Return how a client of this server gets the tools of some groups."""
    return f"a person starts the server with --tools {','.join(groups)}, or sets tools in groundplan.yaml"


# --- Flags --------------------------------------------------------------------------------------------------------


def _parse_flags(argv: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word in ("--help", "-h"):
            return {"help": ""}
        name, has_value, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            raise _usage_error(f"mcp takes only options, not {quote_text(word)}")
        if name not in _FLAGS:
            near = find_nearest(name, _FLAGS)
            hint = f", did you mean --{near}" if near else ""
            raise _usage_error(
                f"no such option {quote_text('--' + name)}{hint}", **({"near": f"--{near}"} if near else {})
            )
        if not has_value:
            if not rest:
                raise _usage_error(f"--{name} needs a value")
            value = rest.pop(0)
        given[name] = value
    return given


def _parse_tokens_max(given: str | None) -> int | None:
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= 9):
        raise _usage_error(f"--max-answer-tokens must be a whole number, 0 for no limit, not {quote_text(given)}")
    return int(given)


def _refuse_missing_folder(repo: str) -> None:
    from pathlib import Path

    if not repo or not Path(repo).is_dir():
        raise _usage_error(f"--repo must be an existing folder, not {quote_text(repo)}")


def _usage_error(sentence: str, **details: Any) -> GroundplanError:
    from groundplan.surfaces.cli.failures import UsageError

    return UsageError(f"{sentence}; see groundplan mcp --help", **details)
