"""The settings of a process: from the configuration file, then the environment, then the flags.

    groundplan.yaml (or graph.config.yaml)   db_path, org, project, agent_identity, access, tools, claim_ttl_minutes,
                                             lean, pipelines, write_timeout_s, short_name, oidc_issuer, …
    environment                              GROUNDPLAN_DB, GROUNDPLAN_ORG, GROUNDPLAN_PROJECT, GROUNDPLAN_AGENT, …
    flags                                    --db, --org, --agent, --person, --access, --tools

A later source overrides an earlier one. A command that names nobody acts as the coding agent that has started it, else
as the user of the operating system. An invalid value raises an error that names its location. The MCP server loads
this module before its first answer, so it imports very little, and YAML only if there is a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from groundplan.coding_agents import CodingAgent, find_coding_agent
from groundplan.discovery import DB_NAME
from groundplan.kernel.errors import Invalid
from groundplan.setting_sources import collect_settings, find_user_name
from groundplan.setting_values import (
    CLAIM_TTL_MINUTES,
    CLAIM_TTL_MINUTES_MAX,
    ORGANIZATION_DEFAULT,
    SHORT_NAME_DEFAULT,
    TOOL_GROUPS_DEFAULT,
    WRITE_TIMEOUT_S,
    WRITE_TIMEOUT_S_MAX,
    check_short_name,
    is_url,
    parse_access,
    parse_boolean,
    parse_db,
    parse_duration,
    parse_name,
    parse_org,
    parse_person,
    parse_pipelines_setting,
    parse_text,
    parse_texts,
    parse_tools,
)

if TYPE_CHECKING:
    from groundplan.kernel.actors import Actor, ActorKind
    from groundplan.kernel.errors import Vocabulary
    from groundplan.kernel.preferences import Preferences, RepositoryPaths

DB_DEFAULT = DB_NAME


class Flags(NamedTuple):
    """The flags of the command line; None if a flag is not given."""

    db: str | None = None
    agent: str | None = None
    access: str | None = None
    tools: str | None = None
    config: str | None = None
    repo: str | None = None  # the folder where the plan is looked for first
    org: str | None = None
    person: str | None = None  # empty: the user of the operating system


class Identity(NamedTuple):
    """Who acts, and why."""

    name: str
    kind: ActorKind
    source: str
    is_named: bool = True  # False: the user of the operating system, because nothing names anybody
    takes_stored_kind: bool = False  # whether the kind only counts until the name first acts


class Settings(NamedTuple):
    """The resulting settings."""

    db: str = DB_DEFAULT
    org: str = ORGANIZATION_DEFAULT  # where no token decides
    project: str | None = None  # where a request names none; None: for commands, the only project of the plan
    agent: str | None = None  # None: not given
    access: str = "open"
    tools: tuple[str, ...] = TOOL_GROUPS_DEFAULT
    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    lean: bool = False
    pipelines: str | None = None  # as a project stores them; None: the defaults
    write_timeout_s: float = WRITE_TIMEOUT_S
    # The issuer of logins for a server; see surfaces/http/issuer.py.
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_client_secret: str | None = None
    oidc_audience: tuple[str, ...] = ()
    oidc_hosts: tuple[str, ...] = ()
    oidc_person_clients: tuple[str, ...] = ()
    short_name: str = SHORT_NAME_DEFAULT  # another name of the program, and of its tasks in commit messages
    config_file: str | None = None
    person: str | None = None  # None: not given; empty: the user of the operating system
    coding_agent: CodingAgent | None = None  # that has started this process
    sources: Mapping[str, str] = MappingProxyType({})  # where each setting was given; the others have their defaults

    @property
    def may_create_db(self) -> bool:
        """True if a missing database may be created: a setting names it, so that it was not found by a search."""
        return "db" in self.sources

    @property
    def identity(self) -> Identity:
        """Who acts: the person or agent that is named, else the coding agent that has started this, else the user."""
        from groundplan.kernel.actors import ActorKind

        if self.person is not None:
            return Identity(self.person or get_user_name(), ActorKind.PERSON, "--person")
        if self.agent is not None:
            return Identity(self.agent, ActorKind.AGENT, self.sources["agent"])
        if self.coding_agent is not None:
            name, variable, source = self.coding_agent
            return Identity(parse_name(name, variable), ActorKind.AGENT, f"{variable} is set, see {source}")
        return Identity(get_user_name(), ActorKind.PERSON, "your user name", is_named=False)

    def build_actor(self, who: Identity | None = None, *, responsible: str | None = None) -> Actor | None:
        """Return the actor; None if stored roles decide and nobody is named.

        A person on a PostgreSQL store whose access nobody chose has the name of the account, as in `groundplan init`.
        """
        from groundplan.kernel.actors import Access, ActorKind, local_actor

        who = self.identity if who is None else who
        access = Access(self.access)
        is_chosen = "access" in self.sources
        if not who.is_named and access is Access.MEMBERS and (is_chosen or who.kind is not ActorKind.PERSON):
            return None
        return local_actor(
            who.name,
            kind=who.kind,
            access=access,
            responsible=responsible,
            organization=self.org,
            takes_stored_kind=who.takes_stored_kind,
        )

    def preferences(
        self, vocabulary: Vocabulary, *, answer_tokens_max: int = 0, working_copy: RepositoryPaths | None = None
    ) -> Preferences:
        """Return the session defaults for one surface. A limit of 0 tokens means that answers have no cap."""
        from groundplan.kernel.preferences import Preferences
        from groundplan.work.kinds import WorkPreferences

        of_work = WorkPreferences(self.claim_ttl_minutes, self.pipelines)
        return Preferences(
            self.lean,
            answer_tokens_max,
            vocabulary,
            working_copy=working_copy,
            project=self.project,
            write_timeout_s=self.write_timeout_s,
            of_slices=(of_work,),
        )


def load_settings(flags: Flags = Flags(), environment: Mapping[str, str] | None = None) -> Settings:  # noqa: B008 - an immutable value
    """Return the settings of this process."""
    environment = os.environ if environment is None else environment
    values, sources = collect_settings(flags._asdict(), environment, _PARSERS)
    if "access" not in values and is_url(values.get("db", DB_DEFAULT)):
        values["access"] = "members"  # many people reach a server; a file is of those who can open it
    return Settings(**values, coding_agent=find_coding_agent(environment), sources=sources)


def get_user_name() -> str:
    """Return the name of the user of the operating system."""
    try:
        return parse_name(find_user_name(), "user name")
    except (OSError, KeyError, ImportError, Invalid):  # an account without a name, as in containers
        return "local"


_PARSERS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "db": parse_db,
    "org": parse_org,
    "project": parse_name,
    "agent": parse_name,
    "person": parse_person,
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
