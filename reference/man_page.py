"""The manual page of the program, in the format of man(7), from its commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from groundplan import setting_sources
from groundplan.discovery import CONFIG_NAMES, DB_NAME, PLAN_FOLDER, REPOSITORY_DB_NAME
from groundplan.surfaces.cli.invocation import PANEL
from groundplan.surfaces.cli.short.words.arguments import format_option, format_usage
from groundplan.surfaces.cli.short.words.table import WORDS, Word
from reference.errors import list_families

ALIAS = ".so man1/groundplan.1\n"
_MARKUP = re.compile(r"\[/?bold\]|`")


def build_man_page(commands: dict[str, Any], summary: str, settings: dict[str, str]) -> str:
    """Return the manual page: commands with their options, settings, files and exit status."""
    single = {name: one for name, one in commands.items() if not hasattr(one, "commands") and not one.hidden}
    groups = {name: one for name, one in commands.items() if hasattr(one, "commands")}
    common = [one for one in next(iter(single.values())).params if one.rich_help_panel == PANEL]
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
        *(line for word in WORDS for line in _describe_word(word)),
        ".SH COMMANDS",
        *_list_commands(single),
        *(line for name, group in groups.items() for line in _list_group(name, group.commands)),
        ".SH COMMON OPTIONS",
        *(line for option in common for line in _describe_option(option)),
        ".SH ENVIRONMENT",
        *(
            line
            for variable, setting in setting_sources.ENVIRONMENT.items()
            for line in _describe(variable, settings[setting])
        ),
        ".SH FILES",
        *_describe(f"{PLAN_FOLDER}/{CONFIG_NAMES[0]}", "the configuration of a repository's plan"),
        *_describe(f"{PLAN_FOLDER}/{REPOSITORY_DB_NAME}", "its database"),
        *_describe(DB_NAME, "a plan outside of a repository"),
        ".SH EXIT STATUS",
        *_describe("0", "success"),
        *(line for family in _list_families() for line in _describe(str(family[0]), family[1])),
    ]
    return "\n".join(lines) + "\n"


def _describe_word(word: Word) -> Iterator[str]:
    yield from _describe(format_usage(word), word.summary)
    if word.options:
        yield ".RS"
        for option in word.options:
            yield from _describe(format_option(option), option.help)
        yield ".RE"


def _list_commands(commands: dict[str, Any]) -> Iterator[str]:
    for name, command in commands.items():
        yield from _describe(f"groundplan {name}", _get_summary(command))
        options = [one for one in command.params if one.rich_help_panel != PANEL]
        if options:
            yield ".RS"
            for option in options:
                yield from _describe_option(option)
            yield ".RE"


def _list_group(name: str, commands: dict[str, Any]) -> Iterator[str]:
    yield f'.SS "groundplan {_escape(name)}"'
    for word, command in commands.items():
        yield from _describe(f"groundplan {name} {word}", _get_summary(command))


def _describe_option(option: Any) -> Iterator[str]:
    if option.param_type_name == "argument":
        yield from _describe(option.metavar or option.name.upper(), option.help or "")
    else:
        yield from _describe(f"{', '.join(option.opts)} {option.metavar or ''}".rstrip(), option.help or "")


def _describe(term: str, text: str) -> Iterable[str]:
    return (".TP", f".B {_escape(term)}", _escape(_MARKUP.sub("", text)))


def _get_summary(command: Any) -> str:
    return " ".join(str(command.help).partition("\n\n")[0].split()).replace("\\[", "[")


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
