"""The settings of a process: one row for each, in the fields of `Settings`.

A row says the key in the configuration file, the variable of the environment, the flag of the command line, how a value
is parsed, its default, and what it means. Reading them, `groundplan where`, the flags with their help, and the
reference are made from it.

A later source overrides an earlier one: the file, the environment, the flags. A command that names nobody acts as the
coding agent that has started it, else as the user of the operating system. An invalid value raises an error that names
its location. The MCP server loads this module before its first answer, so it imports very little, and YAML only if
there is a file. The annotations are evaluated here, because the rows stand in them.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from groundplan.coding_agents import CodingAgent, find_coding_agent
from groundplan.discovery import DB_NAME, FoundPlan, find_plans
from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import find_nearest, join_alternatives, quote_text
from groundplan.setting_values import (
    ACCESS,
    CLAIM_TTL_MINUTES,
    CLAIM_TTL_MINUTES_MAX,
    ORGANIZATION_DEFAULT,
    TOOL_GROUPS_DEFAULT,
    WRITE_TIMEOUT_S,
    WRITE_TIMEOUT_S_MAX,
    find_user_name,
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

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FILE_BYTES_MAX = 65_536  # usual files have five lines


class Setting(NamedTuple):
    """Where one setting is given, how it is parsed, and what it means."""

    parse: Callable[[Any, str], Any]
    help: str
    key: str = ""  # in the configuration file
    variable: str = ""  # of the environment
    flag: str = ""  # what its value is called on the command line, if there is such an option
    choices: tuple[str, ...] = ()
    otherwise: str = ""  # what holds if it is given nowhere, if that is no fixed value
    is_secret: bool = False


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
    kind: "ActorKind"
    source: str
    is_named: bool = True  # False: the user of the operating system, because nothing names anybody
    takes_stored_kind: bool = False  # whether the kind only counts until the name first acts


class Settings(NamedTuple):
    """The resulting settings."""

    db: Annotated[
        str,
        Setting(
            parse_db,
            "The store: a file, or a postgresql:// URL.",
            key="db_path",
            variable="GROUNDPLAN_DB",
            flag="PATH|URL",
            otherwise="the plan here or above",
        ),
    ] = DB_NAME
    org: Annotated[
        str,
        Setting(
            parse_org,
            "The organization, by id. A token has its own.",
            key="org",
            variable="GROUNDPLAN_ORG",
            flag="ID",
        ),
    ] = ORGANIZATION_DEFAULT
    project: Annotated[
        str | None,
        Setting(
            parse_name,
            "The project of a command or tool call that names none. Without it, a command takes the only project.",
            key="project",
            variable="GROUNDPLAN_PROJECT",
        ),
    ] = None
    agent: Annotated[
        str | None,
        Setting(
            parse_name,
            "The agent that acts.",
            key="agent_identity",
            variable="GROUNDPLAN_AGENT",
            flag="NAME",
            otherwise="the coding agent that starts this",
        ),
    ] = None
    access: Annotated[
        str,
        Setting(
            parse_access,
            "open: whoever can open the store is an owner; members: the stored roles decide.",
            key="access",
            variable="GROUNDPLAN_ACCESS",
            flag="open|members",
            choices=ACCESS,
            otherwise="open, with a URL members",
        ),
    ] = "open"
    tools: Annotated[
        tuple[str, ...],
        Setting(
            parse_tools,
            "The groups of tools that the MCP server offers.",
            key="tools",
            variable="GROUNDPLAN_TOOLS",
            flag="all|GROUP,…",
            otherwise="all but containers",
        ),
    ] = TOOL_GROUPS_DEFAULT
    claim_ttl_minutes: Annotated[
        float,
        Setting(
            partial(parse_duration, unit="minutes", most=CLAIM_TTL_MINUTES_MAX),
            "How long a claim on a work node lasts. A policy of the project overrides it.",
            key="claim_ttl_minutes",
            variable="GROUNDPLAN_CLAIM_TTL_MINUTES",
        ),
    ] = CLAIM_TTL_MINUTES
    lean: Annotated[
        bool,
        Setting(
            parse_boolean,
            "Omit null, empty and bookkeeping fields from answers about work and purpose. A request can override it.",
            key="lean",
            variable="GROUNDPLAN_LEAN",
        ),
    ] = False
    pipelines: Annotated[
        str | None,  # as a project stores them
        Setting(
            parse_pipelines_setting,
            "The steps of tasks and features in new projects: `{task: […], feature: […]}`, or one list for both. "
            "Existing projects keep theirs.",
            key="pipelines",
        ),
    ] = None
    write_timeout_s: Annotated[
        float,
        Setting(
            partial(parse_duration, unit="seconds", most=WRITE_TIMEOUT_S_MAX),
            "How many seconds a write may take, and other writers wait, before it is rolled back, at most 600. Imports "
            "and migrations have no limit, except `--timeout`.",
            key="write_timeout_s",
            variable="GROUNDPLAN_WRITE_TIMEOUT_S",
        ),
    ] = WRITE_TIMEOUT_S
    oidc_issuer: Annotated[
        str | None,
        Setting(
            parse_text,
            "The OpenID Connect issuer where people log in to `groundplan serve`, as an https address "
            "([guide](../guides/single-sign-on.md)).",
            key="oidc_issuer",
            variable="GROUNDPLAN_OIDC_ISSUER",
        ),
    ] = None
    oidc_client_id: Annotated[
        str | None,
        Setting(
            parse_text,
            "The name of this server at the issuer.",
            key="oidc_client_id",
            variable="GROUNDPLAN_OIDC_CLIENT_ID",
        ),
    ] = None
    oidc_client_secret: Annotated[
        str | None,
        Setting(
            parse_text,
            "Its secret there, better in the environment than in a file. A public client has none.",
            key="oidc_client_secret",
            variable="GROUNDPLAN_OIDC_CLIENT_SECRET",
            is_secret=True,
        ),
    ] = None
    oidc_audience: Annotated[
        tuple[str, ...],
        Setting(
            parse_texts,
            "The names of this server in access tokens of the issuer. Default: `https://NAME` and `https://NAME/mcp` "
            "for each `--allowed-host`.",
            key="oidc_audience",
        ),
    ] = ()
    oidc_hosts: Annotated[
        tuple[str, ...],
        Setting(
            parse_texts,
            "Hosts of the issuer's endpoints besides its own. The server connects to no others.",
            key="oidc_hosts",
        ),
    ] = ()
    oidc_person_clients: Annotated[
        tuple[str, ...],
        Setting(
            parse_texts,
            "Clients at the issuer whose access tokens act as the person. All others act as agents.",
            key="oidc_person_clients",
        ),
    ] = ()
    config_file: str | None = None
    person: Annotated[
        str | None,  # empty: the user of the operating system
        Setting(parse_person, "The person who acts; without NAME, and by default, your user name.", flag="[NAME]"),
    ] = None
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

    def build_actor(self, who: Identity | None = None, *, responsible: str | None = None) -> "Actor | None":
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
        self, vocabulary: "Vocabulary", *, answer_tokens_max: int = 0, working_copy: "RepositoryPaths | None" = None
    ) -> "Preferences":
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


SETTINGS: Mapping[str, Setting] = {
    name: row for name, hint in Settings.__annotations__.items() for row in getattr(hint, "__metadata__", ())
}
BY_KEY: Mapping[str, str] = {row.key: name for name, row in SETTINGS.items() if row.key}
NO_FLAGS = Flags()


def load_settings(flags: Flags = NO_FLAGS, environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of this process."""
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    plan = _choose_plan(flags, is_db_named=flags.db is not None or bool(environment.get(SETTINGS["db"].variable)))
    if plan is not None and plan.config_file is not None:
        values = _read_settings(plan.config_file)
        sources = dict.fromkeys(values, plan.config_file)
        values["config_file"] = plan.config_file
    elif plan is not None and plan.db is not None:
        values["db"] = plan.db
    if flags.agent is not None and flags.person is not None:
        raise Invalid("--agent names an agent and --person a person; give one of them", code="config_invalid_value")
    for name, row in SETTINGS.items():
        for source, given in (
            (row.variable, environment.get(row.variable) or None),
            (f"--{name}", getattr(flags, name, None)),
        ):
            if given is not None:
                values[name] = row.parse(given, source)
                sources[name] = source
    if "access" not in values and is_url(values.get("db", DB_NAME)):
        values["access"] = "members"  # many people reach a server; a file is of those who can open it
    return Settings(**values, coding_agent=find_coding_agent(environment), sources=sources)


def get_user_name() -> str:
    """Return the name of the user of the operating system."""
    try:
        return parse_name(find_user_name(), "user name")
    except (OSError, KeyError, ImportError, Invalid):  # an account without a name, as in containers
        return "local"


def _choose_plan(flags: Flags, *, is_db_named: bool) -> FoundPlan | None:
    """Return the plan of the given configuration file, else the nearest plan of the given repository or this folder."""
    config = flags.config
    if config is not None:
        if not config or "\0" in config or not os.path.lexists(config):
            raise Invalid(
                f"there is no configuration file {quote_text(config)}; check the path after --config",
                code="config_missing",
                file=config,
            )
        return FoundPlan(config, None)
    plan = next(find_plans(repository), None) if (repository := flags.repo) else None
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


def _read_settings(path: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value, line in read_entries(path):
        where = f"{key} ({path}, line {line})"
        if key not in BY_KEY:
            raise _unknown_key(key, path, line)
        setting = BY_KEY[key]
        if setting in values:
            raise malformed(f"{where} appears twice; keep one of them", path, line)
        if value is None:
            sentence = f"{where} has no value; give it one or remove the line"
            raise Invalid(sentence, code="config_invalid_value", setting=where)
        checked = SETTINGS[setting].parse(value, where)
        values[setting] = _resolve_beside_file(path, checked) if setting == "db" else checked
    return values


def _resolve_beside_file(path: str, db: str) -> str:
    """Return a path in the file resolved against the folder of the file."""
    if "://" in db:
        return db
    first, *parts = os.path.join(os.path.dirname(path), db).split("/")
    return "/".join([*([] if first == "." else [first]), *(part for part in parts if part not in ("", "."))])


def _unknown_key(key: str, path: str, line: int) -> Invalid:
    near = find_nearest(key, list(BY_KEY))
    hint = f"did you mean {near}?" if near else f"the keys are {join_alternatives(list(BY_KEY))}"
    details = {"near": near} if near else {"allowed": list(BY_KEY)}
    return Invalid(
        f"unknown key {quote_text(key)} ({path}, line {line}); {hint}",
        code="config_unknown_key",
        key=key,
        file=path,
        line=line,
        **details,
    )


# --- The file -------------------------------------------------------------------------------------------------------


def read_entries(path: str) -> list[tuple[str, Any, int]]:
    """Return the keys of the file with their values and line numbers."""
    text = _read_text(path)
    plain = read_plain_entries(text)
    if plain is not None:
        return plain
    import yaml  # here, because it takes 30 ms

    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return []
        if not isinstance(root, yaml.MappingNode):
            raise malformed(f"{path} contains no settings; write lines such as 'db_path: plan.db'", path, 1)
        loader.construct_mapping(root, deep=True)  # rejects keys that cannot be hashed
        return [
            (str(key.value), loader.construct_object(value, deep=True), key.start_mark.line + 1)
            for key, value in root.value
        ]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise malformed(f"{path} is not valid YAML: line {line}: {error.problem}", path, line) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise malformed(f"{path} is not valid YAML; it contains text that YAML does not allow", path, 1) from None


def read_plain_entries(text: str) -> list[tuple[str, Any, int]] | None:
    """Return the entries of simple lines such as `key: value`; None if the text needs a YAML parser.

    A value is a plain word, a path, or a text in single quotation marks, as `init` writes them.
    """
    entries: list[tuple[str, Any, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        key, colon, value = line.partition(": ")
        if not (colon and key.isidentifier() and key.isascii()):
            return None
        quoted = len(value) > 1 and value[0] == value[-1] == "'" and "'" not in value[1:-1]
        if quoted and value.isprintable():
            value = value[1:-1]
        elif not (set(value) <= _PLAIN_VALUE and value[:1].isalpha() and value.lower() not in _YAML_WORDS):
            return None
        entries.append((key, value, number))
    return entries


# What stands for itself in YAML, and the words that do not.
_PLAIN_VALUE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./")
_YAML_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


def _read_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise Invalid(
            f"cannot read the configuration file {quote_text(path)}: {error.strerror}",
            code="config_unreadable",
            file=path,
        ) from None
    if len(raw) > FILE_BYTES_MAX:
        raise malformed(
            f"{path} is larger than {FILE_BYTES_MAX} bytes, which is too large for a configuration file", path, 1
        )
    try:
        return raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError:
        raise malformed(f"{path} is not UTF-8 text; save it as UTF-8", path, 1) from None


def malformed(sentence: str, path: str, line: int) -> Invalid:
    """Return the error for a file with malformed text at a line."""
    return Invalid(sentence, code="config_invalid", file=path, line=line)
