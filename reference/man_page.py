"""The manual page of the program, in the format of man(7), from its commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from groundplan.commands import COMMANDS, GROUPS, Entry
from groundplan.configuration import SETTINGS
from groundplan.discovery import CONFIG_NAMES, DB_NAME, PLAN_FOLDER, REPOSITORY_DB_NAME
from groundplan.surfaces.cli.command_line import COMMON_OPTIONS, PROJECT_OPTION, Command, Parameter
from groundplan.surfaces.cli.help import format_parameter, format_usage
from groundplan.surfaces.cli.program import build_command
from reference.errors import list_families

ALIAS = ".so man1/groundplan.1\n"
_MARKUP = re.compile(r"\[/?bold\]|`")


def build_man_page(summary: str) -> str:
    """Return the manual page: commands with their options, settings, files and exit status."""
    shown = [entry for entry in COMMANDS if not entry.is_hidden]
    words = [build_command(entry, with_help=True) for entry in shown if entry.in_project]
    single = [build_command(one, with_help=True) for one in shown if len(one.words) == 1 and not one.in_project]
    groups = {name: [one for one in shown if one.words[:-1] == tuple(name.split())] for name in GROUPS}
    lines = [
        '.TH GROUNDPLAN 1 "" "Groundplan" "User Commands"',
        ".SH NAME",
        f"groundplan, pl \\- {_escape(summary)}",
        ".SH SYNOPSIS",
        ".B groundplan\n.RI [ OPTIONS ]\n.I COMMAND\n.RI [ ARGUMENTS ]",
        ".SH DESCRIPTION",
        _escape(
            "Groundplan keeps the work of a project, its purpose, the facts that it stands on and what is known about "
            "its files in one database, for people and AI agents. Every command and every group of commands has its "
            "own --help. Commands find the plan of the current folder or of the nearest folder above it."
        ),
        ".SH EVERY DAY",
        *(line for word in words for line in _describe_command(word)),
        ".SH COMMANDS",
        *(line for command in single for line in _describe_command(command)),
        *(line for name, entries in groups.items() for line in _list_group(name, entries)),
        ".SH COMMON OPTIONS",
        *(line for option in (PROJECT_OPTION, *COMMON_OPTIONS) for line in _describe_option(option)),
        ".SH ENVIRONMENT",
        *(line for row in SETTINGS.values() if row.variable for line in _describe(row.variable, row.help)),
        ".SH FILES",
        *_describe(f"{PLAN_FOLDER}/{CONFIG_NAMES[0]}", "the configuration of a repository's plan"),
        *_describe(f"{PLAN_FOLDER}/{REPOSITORY_DB_NAME}", "its database"),
        *_describe(DB_NAME, "a plan outside of a repository"),
        ".SH EXIT STATUS",
        *_describe("0", "success"),
        *(line for family in _list_families() for line in _describe(str(family[0]), family[1])),
    ]
    return "\n".join(lines) + "\n"


def _describe_command(command: Command) -> Iterator[str]:
    yield from _describe(format_usage(command), command.summary)
    if command.options:
        yield ".RS"
        for option in command.options:
            yield from _describe_option(option)
        yield ".RE"


def _list_group(name: str, entries: Iterable[Entry]) -> Iterator[str]:
    yield f'.SS "groundplan {_escape(name)}"'
    for entry in entries:
        yield from _describe(f"groundplan {entry.name}", build_command(entry).summary)


def _describe_option(option: Parameter) -> Iterable[str]:
    return _describe(format_parameter(option), option.help)


def _describe(term: str, text: str) -> Iterable[str]:
    return (".TP", f".B {_escape(term)}", _escape(_MARKUP.sub("", text)))


def _list_families() -> list[tuple[int, str]]:
    found: dict[int, list[str]] = {}
    for family in list_families():
        found.setdefault(family.exit_code, []).append(family.__name__)
    return [(code, " or ".join(sorted(names))) for code, names in sorted(found.items())]


def _escape(text: str) -> str:
    """Return a text that man prints as it is."""
    escaped = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in escaped)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
