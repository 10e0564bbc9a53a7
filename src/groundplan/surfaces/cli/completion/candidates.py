"""`groundplan complete SHELL INDEX WORD…`: what can stand at a place of a command line, one candidate a line.

A line is a value, a tab and a description. It only reads, creates nothing, and prints nothing if anything is wrong: a
shell shows what it prints while somebody types.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from groundplan.surfaces.cli.short.words.table import (
    COMMON_OPTIONS,
    STATES,
    WORDS,
    Kind,
    Option,
    Word,
    WordArgument,
    find_word,
)

if TYPE_CHECKING:
    from groundplan.surfaces.cli.short.session import WordSession

CANDIDATES_MAX = 50
TITLE_CHARS_MAX = 60
PURPOSE_WORDS = ("purpose", "throughline")  # commands whose arguments are keys


class Candidate(NamedTuple):
    """A value that can stand there, and what it is."""

    value: str
    description: str = ""


class TypedPlace(NamedTuple):
    """The words before the place, without the program, and what is typed there."""

    before: Sequence[str]
    current: str


def run(argv: Sequence[str]) -> int:
    """Print the candidates, and return 0 whatever happens."""
    try:
        place = _read_place(argv)
        lines = [_format(one) for one in list_candidates(place) if one.value.startswith(place.current)]
        sys.stdout.write("".join(lines[:CANDIDATES_MAX]))
        sys.stdout.flush()
    except Exception:  # noqa: S110 - a message would appear in the middle of what somebody types
        pass
    return 0


def _read_place(argv: Sequence[str]) -> TypedPlace:
    _shell, index, *words = argv
    at = int(index) - 1
    return TypedPlace(words[:at], words[at] if at < len(words) else "")


def _format(one: Candidate) -> str:
    from groundplan.surfaces.cli.screen.control_chars import escape_control_chars

    value, description = (escape_control_chars(" ".join(text.split())) for text in one)
    return f"{value}\t{description[:TITLE_CHARS_MAX]}\n" if description else f"{value}\n"


def list_candidates(place: TypedPlace) -> Iterable[Candidate]:
    """Return the candidates for a place; those that do not begin with what is typed are left out later."""
    before = list(place.before)
    leading = {name: option for option in COMMON_OPTIONS for name in option.names if option.value}
    given: dict[str, str] = {}
    while before and before[0] in leading:
        option = leading[before[0]]
        if len(before) == 1:
            return _list_values(option.kind, place.current, given)
        given[option.key] = before[1]
        del before[:2]
    if not before:
        return _list_options(COMMON_OPTIONS) if place.current.startswith("-") else list_commands()
    word = find_word(before[0])
    if word is None:
        return _complete_group(before, place.current, given)
    return _complete_word(word, before[1:], place.current, given)


def _complete_word(word: Word, before: Sequence[str], current: str, given: dict[str, str]) -> Iterable[Candidate]:
    options = {name: option for option in (*word.options, *COMMON_OPTIONS) for name in option.names}
    positional = 0
    pending: Option | None = None
    for text in before:
        if pending is not None:
            given[pending.key] = text
            pending = None
        elif text.startswith("-") and text != "-":
            option = options.get(text)
            pending = option if option is not None and option.value else None
        else:
            positional += 1
    if pending is not None:
        return _list_values(pending.kind, current, given)
    if current.startswith("-"):
        return _list_options((*word.options, *COMMON_OPTIONS))
    argument = _find_argument(word.arguments, positional)
    return () if argument is None else _list_values(argument.kind, current, given)


def _find_argument(arguments: Sequence[WordArgument], index: int) -> WordArgument | None:
    if index < len(arguments):
        return arguments[index]
    return arguments[-1] if arguments and arguments[-1].many else None


def _complete_group(before: Sequence[str], current: str, given: dict[str, str]) -> Iterable[Candidate]:
    """Return candidates for the other commands: their second words, options, ids, keys, projects and tags."""
    if before[-1] == "--project":
        return _list_values(Kind.PROJECT, current, given)
    if before[-1] == "--tag":
        return _list_values(Kind.TAG, current, given)
    commands = _list_group(before[0])
    if len(before) == 1 and commands and not current.startswith("-"):
        return [Candidate(name, summary) for name, summary in commands.items()]
    if current.startswith("-"):
        return _list_options(COMMON_OPTIONS)
    return _list_values(Kind.KEY if before[0] in PURPOSE_WORDS else Kind.NODE, current, given)


def _list_group(first: str) -> dict[str, str]:
    """Return the second words of a group of commands, with their summaries. It loads all operations."""
    from groundplan.catalog import OPERATIONS
    from groundplan.surfaces.cli.program import CUSTOM_COMMANDS

    found = {
        command.words[1]: command.summary or operation.summary
        for operation in OPERATIONS
        for command in operation.commands
        if command.words[0] == first and len(command.words) > 1
    }
    found |= {name: (function.__doc__ or "") for name, function in CUSTOM_COMMANDS.get(first, {}).items()}
    return dict(sorted(found.items()))


def list_commands() -> Iterator[Candidate]:
    """Yield the first words of all commands."""
    from groundplan.surfaces.cli.short.words.help import GROUPS

    for word in WORDS:
        yield Candidate(word.name, word.summary)
    for commands in GROUPS.values():
        for names, summary in commands.items():
            yield from (Candidate(name, summary) for name in names.split(", "))


def _list_options(options: Iterable[Option]) -> Iterator[Candidate]:
    for option in options:
        yield from (Candidate(name, option.help) for name in option.names)


def _list_values(kind: Kind, current: str, given: dict[str, str]) -> Iterable[Candidate]:
    match kind:
        case Kind.STATE:
            return [Candidate(state) for state in STATES]
        case Kind.FILE:
            return _list_files(current)
        case Kind.TEXT:
            return ()
    return _read_plan(kind, current, given)


def _list_files(current: str) -> Iterator[Candidate]:
    folder, _, name = current.rpartition("/")
    start = f"{folder}/" if "/" in current else ""
    with os.scandir(start or ".") as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith(name) and (name or not entry.name.startswith(".")):
                yield Candidate(f"{start}{entry.name}{'/' if entry.is_dir() else ''}")


# --- From the plan --------------------------------------------------------------------------------------------------


def _read_plan(kind: Kind, current: str, given: dict[str, str]) -> Iterable[Candidate]:
    from groundplan.configuration import Flags, load_settings
    from groundplan.surfaces.cli.short.session import WordSession

    flags = Flags(**{name: given.get(name) for name in ("db", "org", "agent", "person", "access", "config")})
    with WordSession(load_settings(flags), given.get("project")) as session:
        match kind:
            case Kind.PROJECT:
                return [Candidate(one.name, one.goal or "") for one in session.read("project.list").projects]
            case Kind.TAG:
                return [Candidate(one.tag) for one in session.read("tag.list", projectId=session.project).tags]
            case Kind.KEY:
                return list(_list_keys(session))
        return _list_tasks(session, current)


def _list_tasks(session: WordSession, current: str) -> list[Candidate]:
    if current:
        nodes = session.read("work.lookup", project=session.project, beginning=current).nodes
    else:
        nodes = session.read(
            "work.outline", project=session.project, filter={"resolved": False}, limit=CANDIDATES_MAX
        ).nodes
    return [Candidate(node.id, f"{node.state}: {node.summary}") for node in nodes]


def _list_keys(session: WordSession) -> Iterator[Candidate]:
    answer = session.read("purpose.open", project=session.project)
    for node in answer.nodes or ():
        yield Candidate(node.key, node.title)
    assumptions = {
        one.key: one.assumption_text
        for carrier in (*(answer.nodes or ()), *(answer.edges or ()))
        for one in carrier.assumptions or ()
    }
    yield from (Candidate(key, text) for key, text in assumptions.items())
    for indicator in answer.indicators or ():
        yield Candidate(indicator.key, indicator.name)
