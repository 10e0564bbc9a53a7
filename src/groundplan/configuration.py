"""The settings of a process: from the configuration file, then the environment, then the flags.

    groundplan.yaml (or graph.config.yaml)   db_path, org, project, agent_identity, access, tools, claim_ttl_minutes,
                                             lean, pipelines, write_timeout_s, short_name, oidc_issuer, …
    environment                              GROUNDPLAN_DB, GROUNDPLAN_ORG, GROUNDPLAN_PROJECT, GROUNDPLAN_AGENT, …
    flags                                    --db, --org, --agent, --access, --tools

A later source overrides an earlier one. An invalid value raises an error that names its location. The MCP server loads
this module before its first answer, so it imports very little, and YAML only if there is a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from groundplan.configuration_file import malformed, read_entries
from groundplan.discovery import DB_NAME, FoundPlan, find_plans
from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import find_nearest, join_alternatives, quote_text
from groundplan.setting_values import (
    CLAIM_TTL_MINUTES,
    CLAIM_TTL_MINUTES_MAX,
    ORGANIZATION_DEFAULT,
    SHORT_NAME_DEFAULT,
    TOOL_GROUPS_DEFAULT,
    WRITE_TIMEOUT_S,
    WRITE_TIMEOUT_S_MAX,
    check_short_name,
    invalid_setting,
    parse_access,
    parse_boolean,
    parse_db,
    parse_duration,
    parse_name,
    parse_org,
    parse_pipelines_setting,
    parse_text,
    parse_texts,
    parse_tools,
)

if TYPE_CHECKING:
    from groundplan.kernel.actors import Actor, ActorKind
    from groundplan.kernel.next_steps import Vocabulary
    from groundplan.kernel.preferences import Preferences, RepositoryPaths

DB_DEFAULT = DB_NAME

_ENVIRONMENT: Final[Mapping[str, str]] = {
    "GROUNDPLAN_DB": "db",
    "GROUNDPLAN_ORG": "org",
    "GROUNDPLAN_PROJECT": "project",
    "GROUNDPLAN_AGENT": "agent",
    "GROUNDPLAN_ACCESS": "access",
    "GROUNDPLAN_TOOLS": "tools",
    "GROUNDPLAN_CLAIM_TTL_MINUTES": "claim_ttl_minutes",
    "GROUNDPLAN_LEAN": "lean",
    "GROUNDPLAN_WRITE_TIMEOUT_S": "write_timeout_s",
    "GROUNDPLAN_OIDC_ISSUER": "oidc_issuer",
    "GROUNDPLAN_OIDC_CLIENT_ID": "oidc_client_id",
    "GROUNDPLAN_OIDC_CLIENT_SECRET": "oidc_client_secret",
}
_FILE_KEYS: Final[Mapping[str, str]] = {
    "db_path": "db",
    "org": "org",
    "project": "project",
    "agent_identity": "agent",
    "access": "access",
    "tools": "tools",
    "claim_ttl_minutes": "claim_ttl_minutes",
    "lean": "lean",
    "pipelines": "pipelines",
    "write_timeout_s": "write_timeout_s",
    "short_name": "short_name",
    "oidc_issuer": "oidc_issuer",
    "oidc_client_id": "oidc_client_id",
    "oidc_client_secret": "oidc_client_secret",
    "oidc_audience": "oidc_audience",
    "oidc_hosts": "oidc_hosts",
    "oidc_person_clients": "oidc_person_clients",
}


class Flags(NamedTuple):
    """The flags of the command line; None if a flag is not given."""

    db: str | None = None
    agent: str | None = None
    access: str | None = None
    tools: str | None = None
    config: str | None = None
    repo: str | None = None  # the folder where the plan is looked for first
    org: str | None = None


class Settings(NamedTuple):
    """The resulting settings."""

    db: str = DB_DEFAULT
    org: str = ORGANIZATION_DEFAULT  # where no token decides
    project: str | None = None  # where a command names none; None: the only project of the plan
    agent: str | None = None  # None: not given
    access: str = "open"
    tools: tuple[str, ...] = TOOL_GROUPS_DEFAULT
    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    lean: bool = False
    pipelines: str | None = None  # as a project stores them; None: the defaults
    write_timeout_s: float = WRITE_TIMEOUT_S
    # The issuer of logins for a server; see surfaces/http/identity_provider/settings.py.
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_client_secret: str | None = None
    oidc_audience: tuple[str, ...] = ()
    oidc_hosts: tuple[str, ...] = ()
    oidc_person_clients: tuple[str, ...] = ()
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
        return local_actor(
            self.agent or otherwise(), kind=kind, access=access, responsible=responsible, organization=self.org
        )

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
    for setting in ("db", "agent", "access", "tools", "org"):
        if (given := getattr(flags, setting)) is not None:
            found[setting] = _PARSERS[setting](given, f"--{setting}")
            sources[setting] = f"--{setting}"
    return Settings(**found, sources=sources)


def get_user_name() -> str:
    """Return the name of the user of the operating system."""
    # The variables that getpass looks at, which takes long to import.
    named = next(filter(None, map(os.environ.get, ("LOGNAME", "USER", "LNAME", "USERNAME"))), None)
    try:
        if named is None:
            import pwd

            named = pwd.getpwuid(os.getuid()).pw_name
        return parse_name(named, "user name")
    except (OSError, KeyError, ImportError, Invalid):  # an account without a name, as in containers
        return "local"


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


_PARSERS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "db": parse_db,
    "org": parse_org,
    "project": parse_name,
    "agent": parse_name,
    "access": parse_access,
    "tools": parse_tools,
    "claim_ttl_minutes": partial(parse_duration, unit="minutes", most=CLAIM_TTL_MINUTES_MAX),
    "lean": parse_boolean,
    "pipelines": parse_pipelines_setting,
    "write_timeout_s": partial(parse_duration, unit="seconds", most=WRITE_TIMEOUT_S_MAX),
    "oidc_issuer": parse_text,
    "oidc_client_id": parse_text,
    "oidc_client_secret": parse_text,
    "oidc_audience": parse_texts,
    "oidc_hosts": parse_texts,
    "oidc_person_clients": parse_texts,
    "short_name": check_short_name,
}


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
            raise invalid_setting(f"{where} has no value; give it one or remove the line", where)
        checked = _PARSERS[setting](value, where)
        found[setting] = _resolve_beside_file(path, checked) if setting == "db" else checked
    return found


def _resolve_beside_file(path: str, db: str) -> str:
    """Return a path of the file relative to its folder, not to the current folder."""
    if "://" in db:
        return db
    first, *parts = os.path.join(os.path.dirname(path), db).split("/")
    return "/".join([*([] if first == "." else [first]), *(part for part in parts if part not in ("", "."))])


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
