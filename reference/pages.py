"""The reference pages about the whole: the index, access, errors, the configuration and the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, get_args, get_type_hints

from typer.main import get_command

from groundplan import configuration
from groundplan.catalog import OPERATIONS, build_schema
from groundplan.kernel.access import (
    AGENT_ROLE,
    AGENT_ROLE_POLICY,
    GRANTS,
    ORGANIZATION_GRANTS,
    WIDENING_POLICIES,
    Permission,
    Role,
)
from groundplan.kernel.store import tables
from groundplan.kernel.wording import join_alternatives
from groundplan.policies import Policies
from groundplan.purpose.exchange.formats.document import native_json
from groundplan.purpose.exchange.formats.table import FORMATS
from groundplan.surfaces.cli.invocation import PANEL
from groundplan.surfaces.cli.program import CUSTOM_COMMANDS, build_app
from groundplan.surfaces.cli.setup.mcp import HELP as MCP_HELP
from groundplan.surfaces.exception_log import LOG_VARIABLE
from reference.errors import list_error_codes, list_families
from reference.examples import COMMANDS
from reference.operation_pages import build_operation_pages, format_page, format_table, group_by_page, list_roles
from tests.purpose.exchange.theory_strategies import make_published, make_waiver
from tests.purpose.theories import whole_theory

SETTINGS = {
    "db": "The store: a file, or the `postgresql://` URL of a database.",
    "agent": "Who acts. The command line takes your user name and the MCP server a name of its own if nobody says.",
    "access": "`open` trusts whoever can open the store; `members` lets the stored roles decide.",
    "tools": "The groups of tools that the MCP server offers.",
    "claim_ttl_minutes": "How long a claim on a work node holds, where its project has no policy about it.",
    "lean": "Leave null, empty and bookkeeping fields out of answers about work, where a request does not say.",
    "pipelines": "The steps of tasks and features in projects that are made from now on: `{task: […], feature: […]}`, "
    "or one list for both. A project keeps its own.",
    "config_file": "The configuration file itself.",
}


def build_pages() -> dict[str, str]:
    """Return every page under docs/reference, by file name."""
    pages = {
        **dict(build_operation_pages()),
        "index": _build_index(),
        "access": _build_access(),
        "errors": _build_errors(),
        "configuration": _build_configuration(),
        "cli": _build_commands(),
        "formats": _build_formats(),
    }
    return {f"{name}.md": text for name, text in pages.items()}


def _build_index() -> str:
    rows = [
        (
            f"[`{operation.name}`]({_format_link(name, operation.name)})",
            operation.summary,
            list_roles(operation.permission),
        )
        for name, operations in group_by_page().items()
        for operation in operations
    ]
    others = [
        "- [Access](access.md): which role may do what, and what the database itself allows",
        "- [Errors](errors.md): every code, its HTTP status and its exit code",
        "- [Configuration](configuration.md): the file, the environment, the flags",
        "- [Command line](cli.md): every command",
        "- [Formats](formats.md): as what a theory is written and read, and what each keeps and loses",
    ]
    return format_page("Reference", format_table(("Operation", "What it does", "Who may"), rows), "\n".join(others))


# --- Access ---------------------------------------------------------------------------------------------------------


def _build_access() -> str:
    of_role = [
        (f"`{permission}`", *(_format_grant(role, permission) for role in Role), _list_operations(permission))
        for permission in GRANTS
    ]
    of_organization = [
        (f"`{permission}`", _list_operations(permission))
        for permission in Permission
        if permission in ORGANIZATION_GRANTS
    ]
    of_tables = [
        (
            f"`{one.name}`",
            *map(describe_condition, (one.select, one.insert, one.update, one.delete)),
            _list_restrictions(one),
        )
        for one in build_schema().tables
    ]
    return format_page(
        "Access",
        "Somebody who is not a member of a project gets the answer that a missing project gets.",
        "## Inside a project",
        format_table(("Permission", *(role.value for role in Role), "Needed by"), of_role),
        "## Agents",
        f"An agent has the smaller of its own role and the one that the policy `{AGENT_ROLE_POLICY}` of the project "
        f"allows, by default {AGENT_ROLE}. This also holds in open access, where every person is an owner. What the "
        "policy keeps from an agent is refused as `agent_not_allowed`, with the command of a person. An agent may "
        "discard a draft that only it has written. Where stored roles decide, it creates a project only for a person "
        "who then owns it (`groundplan mcp --owner NAME`).",
        "## In the organization",
        "Every member of the organization has these.",
        format_table(("Permission", "Needed by"), of_organization),
        "## In the database",
        "PostgreSQL enforces this by row level security, whatever a statement asks for. A role means: the rows of the "
        "projects in which the actor has it.",
        format_table(("Table", "Read", "Add", "Change", "Remove", "Besides"), of_tables),
    )


def _format_grant(role: Role, permission: Permission) -> str:
    policy = WIDENING_POLICIES.get(permission)
    if role in GRANTS[permission]:
        return "yes"
    return f"by policy `{policy}`" if policy and role in get_args(get_type_hints(Policies)[policy]) else ""


def _list_operations(permission: Permission) -> str:
    return ", ".join(
        f"`{one.name}`"
        for one in OPERATIONS
        if permission in (one.permission, one.without_project, *(other.permission for other in one.variants))
    )


def _list_conditions() -> Iterator[tuple[str, str]]:
    for permission, column in product(GRANTS, ("project_id", "id", "subject")):
        # Permissions of the same roles have the same condition, so it is described by the roles.
        roles = join_alternatives([role.value for role in Role if role in GRANTS[permission]])
        yield tables.in_project(permission, column=column), roles
    yield tables.OWN_ROWS, "the actor's own"
    yield tables.OWN_DRAFT_OF_AGENT, "only this agent has written it"
    yield "(SELECT gp_actor_is_agent())", "an agent"
    yield "gp_is_making(project_id)", "the actor is creating the project"
    yield tables.IN_ORGANIZATION, "members of the organization"
    yield "id = (SELECT gp_tenant()) AND (SELECT gp_in_organization())", "members of the organization"
    for column in ("actor_id", "created_by", "user_id"):
        yield f"{column} = (SELECT gp_actor())", f"`{column}` is the actor"
    yield "gp_has_no_members(project_id)", "the project has no members yet"


def describe_condition(condition: str) -> str:
    """Return the condition of a row policy in words, as far as possible."""
    if condition in (tables.NOBODY, tables.EVERYBODY):
        return "nobody" if condition == tables.NOBODY else "everybody"
    for sql, words in _list_conditions():
        condition = condition.replace(f"({sql})", words).replace(sql, words)
    condition = re.sub(r"(\w+) = '(\w+)'", r"`\1` is \2", condition)
    condition = re.sub(r"NOT EXISTS \(SELECT 1 FROM (\w+)[^()]*\)", r"no row of `\1` has this id", condition)
    return condition.replace(" AND ", ", and ").replace(" OR ", " or ")


def _list_restrictions(declared: tables.Table) -> str:
    facts = []
    if declared.append_only:
        facts.append("append only, also for the owner of the schema")
    if declared.update_columns:
        facts.append("only " + ", ".join(f"`{column}`" for column in declared.update_columns) + " can change")
    for permission, columns in (declared.reserved_columns or {}).items():
        facts.append(", ".join(f"`{column}`" for column in columns) + f" needs `{permission}`")
    return "; ".join(facts)


# --- Errors, configuration, commands --------------------------------------------------------------------------------


def _build_errors() -> str:
    blocks = [
        "Every error has a `code` for programs, a `message` that says what to do, and `details`. Its family alone "
        "decides the HTTP status and the exit code; over MCP all of them come with `isError: true`.",
        format_table(
            ("Family", "HTTP", "Exit", "Meaning"),
            [
                (f"[{one.__name__}](#{one.__name__.lower()})", str(one.status), str(one.exit_code), _get_summary(one))
                for one in list_families()
            ],
        ),
    ]
    for family in list_families():
        meanings: dict[str, list[str]] = {}
        for refusal in list_error_codes():
            if refusal.family is family:
                meanings.setdefault(refusal.code, []).extend([refusal.meaning] if refusal.meaning else [])
        rows = [
            (f'<a id="{code}"></a>`{code}`', " · ".join(texts) or "The message says what is wrong.")
            for code, texts in meanings.items()
        ]
        blocks += [f"## {family.__name__}", format_table(("Code", "Meaning, or what it says"), rows)]
    return format_page("Errors", *blocks)


def _get_summary(documented: type) -> str:
    return (documented.__doc__ or "").partition("\n")[0]


def _build_configuration() -> str:
    defaults = configuration.Settings._field_defaults
    flags = configuration.Flags._fields
    variables = {setting: name for name, setting in configuration._ENVIRONMENT.items()}
    rows = [
        (
            f"`{key}`",
            f"`{variables[setting]}`" if setting in variables else "",
            f"`--{setting}`" if setting in flags else "",
            _format_default(defaults[setting]),
            SETTINGS[setting],
        )
        for key, setting in configuration._FILE_KEYS.items()
    ]
    files = " or ".join(f"`{name}`" for name in configuration.FILE_NAMES)
    return format_page(
        "Configuration",
        f"A file {files} in the current folder, or the one that `--config` names; then the environment; then the "
        "flags. The later one wins. A relative path in the file is meant from the folder of the file. An unknown key "
        "is refused.",
        format_table(("In the file", "Environment", "Flag", "Default", "What it is"), rows),
        "## Tool groups",
        ", ".join(f"`{group}`" for group in configuration.TOOL_GROUPS)
        + f"; `{configuration.TOOLS_ALL}` is all of them.",
        "## The log",
        f"`{LOG_VARIABLE}` names a file to which a defect of Groundplan itself is appended: the whole of it, under the "
        "reference that the error shows. It is made for you alone (mode 0600). Without it nothing is kept; an MCP "
        "server that is already serving writes to stderr instead.",
    )


def _format_default(value: object) -> str:
    match value:
        case None:
            return ""
        case tuple():
            return f"`{','.join(value)}`"
        case bool():
            return f"`{str(value).lower()}`"
        case float():
            return f"`{value:g}`"
    return f"`{value}`"


def _build_commands() -> str:
    shown = {name: command for name, command in load_commands().items() if not command.hidden}
    alone = {name: command for name, command in shown.items() if not hasattr(command, "commands")}
    rows = [
        (
            f"`groundplan {' '.join(command.words)}`",
            _summarize_command(*command.words),
            f"[{one.name}]({_format_link(name, one.name)})",
        )
        for name, operations in group_by_page().items()
        for one in operations
        for command in one.commands
    ]
    pairs = [(first, second) for first, several in CUSTOM_COMMANDS.items() for second in several]
    written = [(f"`groundplan {first} {second}`", _summarize_command(first, second)) for first, second in pairs]
    common = [(_format_option(one), one.help) for one in next(iter(alone.values())).params if _is_common(one)]
    return format_page(
        "Command line",
        "## Around a plan",
        "The examples belong together: run them from top to bottom.",
        *(_build_command(name, command) for name, command in alone.items()),
        "## Operations",
        format_table(("Command", "What it does", "Operation"), rows),
        "## More than an operation",
        "These look at a file or at a working copy too, or take one thing as it is typed; `--help` says how.",
        format_table(("Command", "What it does"), written),
        "## Options that every command has",
        "They may stand before the words, between them or after them. `groundplan mcp` alone has no `--json`: what it "
        "prints is the protocol.",
        format_table(("Option", "What it does"), common),
        "The exit status is 0, or that of the [family](errors.md) of the error.",
    )


@cache
def load_commands() -> dict[str, Any]:
    """Return the commands and groups of the program, by name."""
    program: Any = get_command(build_app())
    return dict(program.commands)


@cache
def _summarize_command(first: str, *rest: str) -> str:
    """Return the first paragraph of the help of a command."""
    help_: str = load_commands()[first].commands[" ".join(rest)].help
    return " ".join(help_.partition("\n\n")[0].split()).replace("\\[", "[")


def _build_command(name: str, command: Any) -> str:
    rows = [(_format_option(one), one.help) for one in command.params if not _is_common(one)]
    parts = [f"### groundplan {name}", command.help.strip()]
    if rows:
        parts.append(format_table(("Argument or option", "What it is"), rows))
    if name == "mcp":  # which reads its flags by hand, to start faster
        parts.append(f"```text\n{MCP_HELP.strip()}\n```")
    return "\n\n".join((*parts, f"```sh\n{COMMANDS[name]}\n```"))


def _is_common(option: Any) -> bool:
    return bool(option.rich_help_panel == PANEL)


def _format_option(option: Any) -> str:
    if option.param_type_name == "argument":
        return f"`{option.metavar or option.name.upper()}`"
    value = "|".join(get_args(option.type_descriptor.annotation)) if option.metavar is None else option.metavar
    return f"`{option.opts[0]} {value}".rstrip() + "`"


def _format_link(name: str, operation: str) -> str:
    return f"{name}.md#{operation.replace('.', '')}"


# --- Formats --------------------------------------------------------------------------------------------------------


def _build_formats() -> str:
    rows = [
        (
            f"`{one}`",
            about.what,
            f"`{about.suffix}`",
            _format_directions(about.is_written, about.is_read),
            about.keeps,
            about.loses,
        )
        for one, about in FORMATS.items()
    ]
    example = native_json(
        make_published(
            whole_theory(), waivers=[make_waiver("GA_LEAP", ["AC1->OP1"], reason="Known and small", owner="ben")]
        )
    )
    return format_page(
        "Formats",
        "`groundplan purpose export` writes a version, `groundplan purpose import` takes a file in as a new draft. "
        "How to: [the guide](../guides/files.md). What the picture shows: [pictures](../concepts/pictures.md).",
        format_table(("Format", "What it is", "Files", "Goes", "Keeps", "Loses"), rows),
        "## Native JSON",
        "What has no value is left out. An assumption is on a `node`, or on the edge from `source` to `target` (with "
        "`edge_type` where it is no CONTRIBUTES_TO). `profile`, `edges`, `assumptions`, `indicators` and `waivers` may "
        "be missing. A key may be any name of up to 128 characters; one that is no key of ours becomes a fresh one.",
        f"```json\n{example}```",
    )


def _format_directions(is_written: bool, is_read: bool) -> str:
    return {(True, True): "both ways", (True, False): "out", (False, True): "in"}[is_written, is_read]
