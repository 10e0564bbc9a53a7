"""The reference pages that are not about single operations: index, access, errors, configuration, commands, formats.

The page of REST is in `http_page.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import get_args, get_type_hints

from groundplan import setting_values
from groundplan.catalog import OPERATIONS, build_schema
from groundplan.coding_agents import ANY_AGENT, CODING_AGENTS
from groundplan.commands import COMMANDS, Entry
from groundplan.configuration import SETTINGS, Settings
from groundplan.discovery import CONFIG_NAMES, DB_NAME, PLAN_FOLDER
from groundplan.kernel.access import (
    ADMINISTRATOR_PERMISSIONS,
    AGENT_ROLE,
    AGENT_ROLE_POLICY,
    GRANTS,
    ORGANIZATION_GRANTS,
    PERSON_PERMISSIONS,
    WIDENING_POLICIES,
    Permission,
    Role,
)
from groundplan.kernel.store import schema
from groundplan.kernel.tables import PEOPLE_EVENTS
from groundplan.kernel.tokens.token import NEW_TOKENS, OWN_TOKENS, TOKEN_EVENTS
from groundplan.kernel.wording import join_alternatives
from groundplan.policies import Policies
from groundplan.purpose.exchange.document import write_json
from groundplan.purpose.exchange.formats import FORMATS
from groundplan.surfaces.cli.command_line import COMMON_OPTIONS, PROJECT_OPTION, Command, Parameter
from groundplan.surfaces.cli.help import format_parameter, format_usage
from groundplan.surfaces.cli.program import build_command
from groundplan.surfaces.exception_log import LOG_VARIABLE
from reference.errors import list_error_codes, list_families
from reference.examples import COMMANDS as EXAMPLES
from reference.http_page import build_http_page
from reference.operation_pages import build_operation_pages, format_page, format_table, group_by_page, list_roles
from tests.purpose.exchange.theory_strategies import make_published, make_waiver
from tests.purpose.theories import whole_theory


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
        "http": build_http_page(),
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
        "- [HTTP](http.md): every route, the headers, and what each status means",
        "- [Formats](formats.md): the file formats of a theory of change, and what each keeps and loses",
    ]
    return format_page("Reference", format_table(("Operation", "What it does", "Who may"), rows), "\n".join(others))


# --- Access ---------------------------------------------------------------------------------------------------------


def _build_access() -> str:
    of_role = [
        (f"`{permission}`", *(_format_grant(role, permission) for role in Role), _list_operations(permission))
        for permission in GRANTS
    ]
    of_organization = [
        (f"`{permission}`", *_format_organization_grant(permission), _list_operations(permission))
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
        "For somebody who is not a member, a project does not exist: the answer is the same as for a missing project.",
        "## Inside a project",
        format_table(("Permission", *(role.value for role in Role), "Needed by"), of_role),
        "## Agents",
        f"An agent has at most the role that the policy `{AGENT_ROLE_POLICY}` of the project allows, by default "
        f"{AGENT_ROLE}. This also holds in open access, where every person is an owner. If the policy forbids an "
        "operation, the error is `agent_not_allowed`, and it names the command that a person can run. An agent may "
        "discard a draft of a theory that only it has written, and whoever may write facts a draft of facts that only "
        "they have written. With `access: members`, an agent creates a project only for a "
        "person, who then owns it (`groundplan mcp --owner NAME`).",
        "## In the organization",
        "Every member of the organization has these permissions; some are for persons or for administrators only. An "
        "administrator is a person with this role in the organization, or with open access; the role opens no "
        "project. The organization may restrict who creates projects. A token that is limited to "
        "a role needs one of the roles named here; one that is limited to projects counts as a viewer's.",
        format_table(("Permission", "Who", "Role of a limited token", "Needed by"), of_organization),
        "## Tokens",
        "A token has the rights of its actor at the time of each request, up to its role and in its projects. A "
        "project outside its list does not exist for it. If only the token forbids an operation, the error is "
        "`token_limited`. The token of an agent that a person with stored roles has created also has at most the roles "
        "of that person. [Tokens](../guides/tokens.md) shows how to use them.",
        "## In the database",
        "PostgreSQL enforces these rules by row level security, for every statement. A role stands for the rows of the "
        "projects in which the actor has that role.",
        format_table(("Table", "Select", "Insert", "Update", "Delete", "Restrictions"), of_tables),
    )


def _format_grant(role: Role, permission: Permission) -> str:
    policy = WIDENING_POLICIES.get(permission)
    if role in GRANTS[permission]:
        return "yes"
    return f"by policy `{policy}`" if policy and role in get_args(get_type_hints(Policies)[policy]) else ""


def _format_organization_grant(permission: Permission) -> tuple[str, str]:
    who = "persons" if permission in PERSON_PERMISSIONS else "all"
    who = "administrators" if permission in ADMINISTRATOR_PERMISSIONS else who
    return who, ", ".join(role.value for role in Role if role in ORGANIZATION_GRANTS[permission])


def _list_operations(permission: Permission) -> str:
    return ", ".join(
        f"`{one.name}`"
        for one in OPERATIONS
        if permission in (one.permission, one.without_project, *(other.permission for other in one.variants))
    )


def _list_conditions() -> Iterator[tuple[str, str]]:
    yield NEW_TOKENS, "persons: for themselves and agents; for others, owners of the organization"
    yield OWN_TOKENS, "whom it is for, who created it, administrators"
    yield PEOPLE_EVENTS, "for events of people and templates, members; of addresses and accounts, administrators"
    yield TOKEN_EVENTS, "for events of tokens and logins, the actor and owners of the organization"
    for permission, column in product(GRANTS, ("project_id", "id", "subject")):
        # Permissions of the same roles have the same condition, so it is described by the roles.
        roles = join_alternatives([role.value for role in Role if role in GRANTS[permission]])
        yield schema.in_project(permission, column=column), roles
    yield schema.OWN_ROWS, "the actor's own"
    yield schema.OWN_DRAFT_OF_AGENT, "only this agent has written it"
    yield "(SELECT gp_actor_is_agent())", "an agent"
    yield "gp_is_making(project_id)", "the actor is creating the project"
    yield (
        "((SELECT gp_is_unlimited_person()) AND user_id = (SELECT gp_actor()) OR (SELECT gp_administers()))",
        ("administrators and the person"),
    )
    yield schema.ADMINISTERS, "an administrator"
    yield "(SELECT gp_owns_organization())", "a login"
    yield schema.WRITES_IN_ORGANIZATION, "members of the organization, without a token for viewers or projects"
    yield (
        f"{schema.IN_ORGANIZATION} AND (SELECT gp_may_write())",
        "members of the organization, without a token for viewers",
    )
    yield schema.IN_ORGANIZATION, "members of the organization"
    yield "id = (SELECT gp_tenant()) AND (SELECT gp_in_organization())", "members of the organization"
    for column in ("actor_id", "created_by", "user_id", "principal_id", "updated_by", "sole_writer"):
        yield f"{column} = (SELECT gp_actor())", f"`{column}` is the actor"
    yield "gp_has_no_members(project_id)", "the project has no members yet"


def describe_condition(condition: str) -> str:
    """Return the condition of a row policy in words, as far as possible."""
    if condition in (schema.NOBODY, schema.EVERYBODY):
        return "nobody" if condition == schema.NOBODY else "everybody"
    for sql, words in _list_conditions():
        condition = condition.replace(f"({sql})", words).replace(sql, words)
    condition = re.sub(r"(\w+) = '(\w+)'", r"`\1` is \2", condition)
    condition = re.sub(r"NOT EXISTS \(SELECT 1 FROM (\w+)[^()]*\)", r"no row of `\1` has this id", condition)
    return condition.replace(" AND ", ", and ").replace(" OR ", " or ")


def _list_restrictions(declared: schema.Table) -> str:
    facts = []
    if declared.append_only:
        facts.append("append only, also for the owner of the schema")
    if declared.select_columns:
        facts.append("only a function reads its digest")
    if declared.update_columns:
        facts.append("only " + ", ".join(f"`{column}`" for column in declared.update_columns) + " can change")
    for permission, columns in (declared.reserved_columns or {}).items():
        facts.append(", ".join(f"`{column}`" for column in columns) + f" needs `{permission}`")
    return "; ".join(facts)


# --- Errors, configuration, commands --------------------------------------------------------------------------------


def _build_errors() -> str:
    blocks = [
        "Every error has a `code` for programs, a `message` that says what to do, and `details`. Its family alone "
        "decides the HTTP status and the exit code; over MCP every error has `isError: true`.",
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
        blocks += [f"## {family.__name__}", format_table(("Code", "Meaning"), rows)]
    return format_page("Errors", *blocks)


def _get_summary(documented: type) -> str:
    return (documented.__doc__ or "").partition("\n")[0]


def _build_configuration() -> str:
    rows = [
        (
            f"`{row.key}`" if row.key else "",
            f"`{row.variable}`" if row.variable else "",
            f"`--{name}`" if row.flag else "",
            row.otherwise or _format_default(Settings._field_defaults[name]),
            row.help,
        )
        for name, row in SETTINGS.items()
    ]
    files = " or ".join(f"`{name}`" for name in CONFIG_NAMES)
    return format_page(
        "Configuration",
        f"Settings come from the nearest file {files}: in the current folder, in its folder `{PLAN_FOLDER}/`, or in "
        "the nearest folder above that has one; or from the file that `--config` names. Then from the environment, "
        "then from the flags. Later sources override earlier ones. A relative path in the file is relative to the "
        "folder of the file. An unknown key is an error. `groundplan where` shows what is in force and why.",
        f"Without a file the nearest `{DB_NAME}` is used. A database that was found this way, or not found at all, is "
        "never created: only one that `db_path`, `GROUNDPLAN_DB` or `--db` names. A file above the current folder that "
        "another user owns is refused.",
        format_table(("Key in the file", "Environment", "Flag", "Default", "Description"), rows),
        "## Who acts",
        "`--person` names a person, `--agent` an agent. A command that names nobody acts as the coding agent that has "
        "started it, which one of these variables tells; else as you, by your user name. The kind of a name is stored "
        "when it first changes something, and no flag changes it.",
        format_table(
            ("Variable", "Agent", "Source"),
            [
                (f"`{agent.variable}`", f"`{agent.name}`", f"<{agent.source}>")
                for agent in (*CODING_AGENTS, ANY_AGENT._replace(name="its value"))
            ],
        ),
        "## Tool groups",
        ", ".join(f"`{group}`" for group in setting_values.TOOL_GROUPS)
        + f"; `{setting_values.TOOLS_ALL}` selects all of them.",
        "## Log",
        f"`{LOG_VARIABLE}` names a file for internal errors of Groundplan. Each one is appended with its traceback, "
        "under the reference that the error message shows. Only you can read the file (mode 0600). Without this "
        "variable nothing is logged. A running MCP server always writes to stderr instead.",
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
    words = [build_command(entry, with_help=True) for entry in COMMANDS if entry.in_project]
    setup = [build_command(entry, with_help=True) for entry in COMMANDS if entry.name in EXAMPLES]
    rows = [
        (f"`groundplan {entry.name}`", summarize_command(entry), f"[{one.name}]({_format_link(name, one.name)})")
        for name, operations in group_by_page().items()
        for one in operations
        for entry in COMMANDS
        if entry.operation == one.name
    ]
    written = [
        (f"`groundplan {entry.name}`", summarize_command(entry))
        for entry in COMMANDS
        if not (entry.operation or entry.in_project or entry.is_hidden or entry.name in EXAMPLES)
    ]
    return format_page(
        "Command line",
        "`groundplan` alone shows what is used every day, `groundplan help` all commands by topic, and "
        "`groundplan COMMAND --help` one of them.",
        "## Every day",
        "They work in the project of the repository, take ids from three characters on, titles where they are unique, "
        "`-` for the last task, and several ids at once. `pl` is the same program. "
        "[Every day](../guides/everyday.md) shows them.",
        format_table(("Word", "What it does", "Arguments", "Options", "Also"), list(map(_describe_word, words))),
        "## Setup",
        "Run the examples in this order.",
        *map(_build_command, setup),
        "## Operations",
        "`groundplan op NAME '{…}'` calls any operation, also those without words of their own, with the arguments "
        "that their pages describe, and answers JSON.",
        format_table(("Command", "What it does", "Operation"), rows),
        "## Other commands",
        "These commands also use files or a working copy; see their `--help`.",
        format_table(("Command", "What it does"), written),
        "## Common options",
        "They may be given before, between or after the words of a command. Only `groundplan mcp` has no `--json`: its "
        "output is the protocol. An option that takes one value is given once.",
        format_table(("Option", "What it does"), list(map(_describe, (PROJECT_OPTION, *COMMON_OPTIONS)))),
        "The exit status is 0, or the exit code of the [family](errors.md) of the error.",
    )


def summarize_command(entry: Entry) -> str:
    """Return what a command does."""
    return build_command(entry).summary


def _describe_word(word: Command) -> tuple[str, ...]:
    shown = " ".join(format_usage(word).split()[2:]).replace("[OPTIONS]", "").strip()
    options = ", ".join(f"`{format_parameter(option)}`" for option in word.options)
    return f"`{word.words[0]}`", word.summary, f"`{shown}`" if shown else "", options, ", ".join(word.synonyms)


def _describe(parameter: Parameter) -> tuple[str, str]:
    return f"`{format_parameter(parameter)}`", parameter.help


def _build_command(command: Command) -> str:
    (name,) = command.words
    parts = [f"### groundplan {name}", command.summary]
    if command.about:
        parts.append(f"```text\n{command.about.strip()}\n```" if name == "mcp" else command.about.strip())
    if command.parameters:
        parts.append(format_table(("Argument or option", "Description"), list(map(_describe, command.parameters))))
    return "\n\n".join((*parts, f"```sh\n{EXAMPLES[name]}\n```"))


def _format_link(name: str, operation: str) -> str:
    return f"{name}.md#{operation.replace('.', '')}"


# --- Formats --------------------------------------------------------------------------------------------------------


def _build_formats() -> str:
    rows = [
        (
            f"`{one}`",
            about.description,
            f"`{about.suffix}`",
            _format_directions(about.is_written, about.is_read),
            about.keeps,
            about.loses,
        )
        for one, about in FORMATS.items()
    ]
    example = write_json(
        make_published(
            whole_theory(), waivers=[make_waiver("GA_LEAP", ["AC1->OP1"], reason="Known and small", owner="ben")]
        )
    )
    return format_page(
        "Formats",
        "`groundplan purpose export` writes a version to a file, `groundplan purpose import` reads a file into a new "
        "draft. See [the guide](../guides/files.md), and [pictures](../concepts/pictures.md) for the SVG.",
        format_table(("Format", "Description", "Suffix", "Direction", "Keeps", "Loses"), rows),
        "## Native JSON",
        "Fields without a value are omitted. An assumption is about a `node`, or about the edge from `source` to "
        "`target` (with `edge_type` unless it is CONTRIBUTES_TO). `profile`, `edges`, `assumptions`, `indicators` and "
        "`waivers` are optional. A key may be any name of up to 128 characters; a name that is not a Groundplan key "
        "gets a new key.",
        f"```json\n{example}```",
    )


def _format_directions(is_written: bool, is_read: bool) -> str:
    return {(True, True): "export, import", (True, False): "export", (False, True): "import"}[is_written, is_read]
