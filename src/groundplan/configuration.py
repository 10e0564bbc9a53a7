"""The settings of a process: from the configuration file, then the environment, then the flags.

    groundplan.yaml (or graph.config.yaml)   db_path, project, agent_identity, access, tools, claim_ttl_minutes, lean,
                                             pipelines, write_timeout_s, short_name
    environment                              GROUNDPLAN_DB, GROUNDPLAN_PROJECT, GROUNDPLAN_AGENT, …
    flags                                    --db, --agent, --access, --tools

A later source overrides an earlier one. An invalid value raises an error that names its location. The MCP server loads
this module before its first answer, so it imports very little, and YAML only if there is a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from groundplan.configuration_file import malformed, read_entries
from groundplan.discovery import DB_NAME, FoundPlan, find_plans
from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import describe_value, find_nearest, join_alternatives, quote_text

if TYPE_CHECKING:
    from groundplan.kernel.actors import Actor, ActorKind
    from groundplan.kernel.next_steps import Vocabulary
    from groundplan.kernel.preferences import Preferences, RepositoryPaths

PLAIN_NAME_CHARS_MAX = 64  # a shorter ASCII name needs no further check
DB_DEFAULT = DB_NAME

# Copies of `Group`, `Access` and `policies`, which import other modules; a test compares them.
ACCESS = ("open", "members")
TOOL_GROUPS = ("work", "knowledge", "purpose", "context", "containers", "briefing")
TOOL_GROUPS_DEFAULT = tuple(group for group in TOOL_GROUPS if group != "containers")
TOOLS_ALL = "all"
CLAIM_TTL_MINUTES = 60.0
CLAIM_TTL_MINUTES_MAX = 525_600.0
WRITE_TIMEOUT_S = 10.0
WRITE_TIMEOUT_S_MAX = 600.0  # other writers wait as long
SHORT_NAME_DEFAULT = "pl"  # installed with the program
SHORT_NAME_CHARS_MAX = 20

TRUE_WORDS = ("true", "yes", "on", "1")
FALSE_WORDS = ("false", "no", "off", "0")

_ENVIRONMENT: Final[Mapping[str, str]] = {
    "GROUNDPLAN_DB": "db",
    "GROUNDPLAN_PROJECT": "project",
    "GROUNDPLAN_AGENT": "agent",
    "GROUNDPLAN_ACCESS": "access",
    "GROUNDPLAN_TOOLS": "tools",
    "GROUNDPLAN_CLAIM_TTL_MINUTES": "claim_ttl_minutes",
    "GROUNDPLAN_LEAN": "lean",
    "GROUNDPLAN_WRITE_TIMEOUT_S": "write_timeout_s",
}
_FILE_KEYS: Final[Mapping[str, str]] = {
    "db_path": "db",
    "project": "project",
    "agent_identity": "agent",
    "access": "access",
    "tools": "tools",
    "claim_ttl_minutes": "claim_ttl_minutes",
    "lean": "lean",
    "pipelines": "pipelines",
    "write_timeout_s": "write_timeout_s",
    "short_name": "short_name",
}


class Flags(NamedTuple):
    """The flags of the command line; None if a flag is not given."""

    db: str | None = None
    agent: str | None = None
    access: str | None = None
    tools: str | None = None
    config: str | None = None
    repo: str | None = None  # the folder where the plan is looked for first


class Settings(NamedTuple):
    """The resulting settings."""

    db: str = DB_DEFAULT
    project: str | None = None  # where a command names none; None: the only project of the plan
    agent: str | None = None  # None: not given
    access: str = "open"
    tools: tuple[str, ...] = TOOL_GROUPS_DEFAULT
    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    lean: bool = False
    pipelines: str | None = None  # as a project stores them; None: the defaults
    write_timeout_s: float = WRITE_TIMEOUT_S
    short_name: str = SHORT_NAME_DEFAULT  # another name of the program, and of its tasks in commit messages
    config_file: str | None = None
    sources: Mapping[str, str] = MappingProxyType({})  # where each setting was given; the others have their defaults

    @property
    def may_create_db(self) -> bool:
        """Whether a missing database may be created: only one that was named, not one that was looked for."""
        return "db" in self.sources

    def build_actor(
        self, otherwise: Callable[[], str], kind: ActorKind, *, responsible: str | None = None
    ) -> Actor | None:
        """Return the actor; None if stored roles decide and no name is given. Else `otherwise` supplies a name."""
        from groundplan.kernel.actors import Access, local_actor

        access = Access(self.access)
        if self.agent is None and access is Access.MEMBERS:
            return None
        return local_actor(self.agent or otherwise(), kind=kind, access=access, responsible=responsible)

    def preferences(
        self, vocabulary: Vocabulary, *, answer_tokens_max: int = 0, working_copy: RepositoryPaths | None = None
    ) -> Preferences:
        """Return the session defaults for one surface. 0 tokens means no cap on answers."""
        from groundplan.kernel.preferences import Preferences
        from groundplan.work.preferences import WorkPreferences

        of_work = WorkPreferences(self.claim_ttl_minutes, self.pipelines)
        return Preferences(
            self.lean,
            answer_tokens_max,
            vocabulary,
            working_copy=working_copy,
            write_timeout_s=self.write_timeout_s,
            of_slices=(of_work,),
        )


def load_settings(flags: Flags = Flags(), environment: Mapping[str, str] | None = None) -> Settings:  # noqa: B008 - an immutable value
    """Return the settings of this process.

    Raises:
        Invalid: a value in the file, the environment or the flags is not valid; it says where and what is.
    """
    environment = os.environ if environment is None else environment
    found: dict[str, Any] = {}
    sources: dict[str, str] = {}
    is_db_named = flags.db is not None or bool(environment.get("GROUNDPLAN_DB"))
    plan = _choose_plan(flags, is_db_named=is_db_named)
    if plan is not None and plan.config_file is not None:
        found = _read_settings(plan.config_file)
        sources = dict.fromkeys(found, plan.config_file)
        found["config_file"] = plan.config_file
    elif plan is not None and plan.db is not None:
        found["db"] = plan.db
    for variable, setting in _ENVIRONMENT.items():
        if given := environment.get(variable):
            found[setting] = _PARSERS[setting](given, variable)
            sources[setting] = variable
    for setting in ("db", "agent", "access", "tools"):
        if (given := getattr(flags, setting)) is not None:
            found[setting] = _PARSERS[setting](given, f"--{setting}")
            sources[setting] = f"--{setting}"
    return Settings(**found, sources=sources)


def get_user_name() -> str:
    """Return the name of the user of the operating system."""
    import getpass  # here, because a server does not need it

    try:
        return _parse_name(getpass.getuser(), "user name")
    except (OSError, KeyError, ImportError, Invalid):  # an account without a name, as in containers
        return "local"


def check_db(db: str, where: str = "--db") -> str:
    """Return a checked store: a path, or the URL of a PostgreSQL database."""
    if not db.strip() or "\0" in db:
        raise _invalid(f"{where} names no file; give a path such as plan.db, or a postgresql:// URL", where)
    if db.startswith(("postgresql://", "postgres://")):
        return _check_url(db, where)
    scheme, separator, _ = db.partition("://")
    if (separator and "/" not in scheme) or db.startswith((":memory:", "file:")):
        # Only the scheme of a URL is shown: the rest may contain a password.
        found = quote_text(scheme + separator) if separator else quote_text(db)
        raise _invalid(f"{where} must be a path such as plan.db, or a postgresql:// URL, not {found}", where)
    if not db.strip("./"):
        raise _invalid(
            f"{where} is a folder; name a file in it, for example {quote_text(db.rstrip('/') + '/plan.db')}", where
        )
    # Clients start a server without a shell, so `~` is not expanded.
    return _expand_user(db) if db.startswith("~") else db


def _check_url(url: str, where: str) -> str:
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:  # opening the store reports it
        return url
    try:
        conninfo_to_dict(url)
    except (ProgrammingError, UnicodeError):
        # The message does not show the URL, which contains a password.
        sentence = "is not a valid PostgreSQL URL; write postgresql://USER:PASSWORD@HOST:PORT/NAME"
        raise _invalid(f"{where} {sentence}", where) from None
    return url


def _expand_user(db: str) -> str:
    from pathlib import Path

    try:
        return str(Path(db).expanduser())
    except RuntimeError:  # no such user, so it is a file name
        return db


def _choose_plan(flags: Flags, *, is_db_named: bool) -> FoundPlan | None:
    """Return the plan of the given configuration file, else the nearest one of the given repository or this folder."""
    config = flags.config
    if config is not None:
        if not config or "\0" in config or not os.path.lexists(config):
            raise Invalid(
                f"there is no configuration file {quote_text(config)}; check the path after --config",
                code="config_missing",
                file=config,
            )
        return FoundPlan(config, None)
    plan = next(find_plans(flags.repo), None) if flags.repo else None
    plan = plan or next(find_plans(), None)
    if plan is not None and plan.owner is not None:
        if is_db_named:
            return None
        # In a folder that others may write to, such as /tmp, a file of theirs would decide where plans are kept.
        path = plan.config_file or plan.db or ""
        raise Invalid(
            f"{quote_text(path)} belongs to another user (uid {plan.owner}); "
            "to use it, name it with --config; to use or start another plan, name that with --db",
            code="config_of_another_user",
            file=path,
        )
    return plan


# --- Values, from any source ---------------------------------------------------------------------------------------


def _parse_text(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    raise _invalid(f"{where} must be text, not {describe_value(value)}; put it in quotes if it is text", where)


def _parse_db(value: Any, where: str) -> str:
    return check_db(_parse_text(value, where), where)


def _parse_name(value: Any, where: str) -> str:
    name = _parse_text(value, where)
    if 0 < len(name) < PLAIN_NAME_CHARS_MAX and name.isascii() and name.isprintable() and " " not in name:
        return name
    from groundplan.kernel.input_gate.strict_json import validate_value
    from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker

    try:
        validate_value(name)
        return apply_marker(NormalizedName(), name, ())
    except Invalid as error:
        wrong = error.message.removeprefix("arguments ")
        raise Invalid(f"{where} {wrong}", code=error.code, setting=where) from None


def check_short_name(value: Any, where: str) -> str:
    """Return a checked short name of the program."""
    name = _parse_text(value, where)
    if len(name) <= SHORT_NAME_CHARS_MAX and name.isascii() and name[:1].isalpha() and name.replace("-", "").isalnum():
        return name
    allowed = f"a letter, then letters, digits or hyphens, at most {SHORT_NAME_CHARS_MAX} characters"
    raise _invalid(f"{where} must be {allowed}, not {describe_value(value)}", where)


def _parse_access(value: Any, where: str) -> str:
    if value in ACCESS:
        return str(value)
    raise _not_among(value, ACCESS, where)


def _parse_tools(value: Any, where: str) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise _invalid(
            f"{where} must be a list of tool groups, not {describe_value(value)}", where, allowed=list(TOOL_GROUPS)
        )
    names = [name.strip() for name in given if name.strip()]
    if not names:
        raise _invalid(
            f"{where} names no tool group; give {TOOLS_ALL}, or some of {join_alternatives(TOOL_GROUPS)}", where
        )
    for name in names:
        if name != TOOLS_ALL and name not in TOOL_GROUPS:
            raise _not_among(name, [*TOOL_GROUPS, TOOLS_ALL], where)
    if TOOLS_ALL in names:
        return TOOL_GROUPS
    return tuple(group for group in TOOL_GROUPS if group in names)


def _parse_duration(value: Any, where: str, *, unit: str, most: float) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else 0.0
    except (ValueError, OverflowError):
        number = 0.0
    if 0 < number <= most:
        return number
    raise _invalid(
        f"{where} must be a number of {unit} above 0, at most {most:,.0f}, not {describe_value(value)}", where
    )


def _parse_boolean(value: Any, where: str) -> bool:
    word = str(value).lower() if isinstance(value, str | bool | int) else ""
    if word in TRUE_WORDS or word in FALSE_WORDS:
        return word in TRUE_WORDS
    raise _not_among(value, (TRUE_WORDS[0], FALSE_WORDS[0]), where)


def _parse_pipelines(value: Any, where: str) -> str | None:
    from groundplan.work.containers.pipeline import (  # here, because few processes have some
        DEFAULT_PIPELINES,
        encode_pipelines,
        parse_pipelines,
    )

    try:
        return encode_pipelines(parse_pipelines(value, DEFAULT_PIPELINES, ("pipelines",)))
    except Invalid as error:
        raise _invalid(f"{where}: {error.message}", where) from None


_PARSERS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "db": _parse_db,
    "project": _parse_name,
    "agent": _parse_name,
    "access": _parse_access,
    "tools": _parse_tools,
    "claim_ttl_minutes": partial(_parse_duration, unit="minutes", most=CLAIM_TTL_MINUTES_MAX),
    "lean": _parse_boolean,
    "pipelines": _parse_pipelines,
    "write_timeout_s": partial(_parse_duration, unit="seconds", most=WRITE_TIMEOUT_S_MAX),
    "short_name": check_short_name,
}


def _not_among(value: Any, allowed: Sequence[str], where: str) -> Invalid:
    near = find_nearest(value, allowed) if isinstance(value, str) else None
    hint = f"; did you mean {near!r}?" if near else ""
    details = {"near": near} if near else {}
    sentence = f"{where} must be {join_alternatives(allowed)}, not {describe_value(value)}{hint}"
    return _invalid(sentence, where, allowed=list(allowed), **details)


def _invalid(sentence: str, where: str, **details: Any) -> Invalid:
    return Invalid(sentence, code="config_invalid_value", setting=where, **details)


# --- The file -------------------------------------------------------------------------------------------------------


def _read_settings(path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value, line in read_entries(path):
        where = f"{key} ({path}, line {line})"
        if key not in _FILE_KEYS:
            raise _unknown_key(key, path, line)
        setting = _FILE_KEYS[key]
        if setting in found:
            raise malformed(f"{where} appears twice; keep one of them", path, line)
        if value is None:
            raise _invalid(f"{where} has no value; give it one or remove the line", where)
        checked = _PARSERS[setting](value, where)
        found[setting] = _resolve_beside_file(path, checked) if setting == "db" else checked
    return found


def _resolve_beside_file(path: str, db: str) -> str:
    """Return a path of the file relative to its folder, not to the current folder."""
    from pathlib import Path

    return db if "://" in db else str(Path(path).parent / db)


def _unknown_key(key: str, path: str, line: int) -> Invalid:
    near = find_nearest(key, list(_FILE_KEYS))
    hint = f"did you mean {near}?" if near else f"the keys are {join_alternatives(list(_FILE_KEYS))}"
    details = {"near": near} if near else {"allowed": list(_FILE_KEYS)}
    return Invalid(
        f"unknown key {quote_text(key)} ({path}, line {line}); {hint}",
        code="config_unknown_key",
        key=key,
        file=path,
        line=line,
        **details,
    )
