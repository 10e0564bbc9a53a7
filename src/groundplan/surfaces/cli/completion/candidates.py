"""`groundplan __complete SHELL INDEX WORD…`: what can stand at a place of a command line, one candidate a line.

A line is a value, a tab and a description. It only reads, creates nothing, and prints nothing if anything is wrong: a
shell shows what it prints while somebody types.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from groundplan.surfaces.cli.command_line import COMMON_OPTIONS, PROJECT_OPTION, Command, Kind, Parameter, index_options
from groundplan.surfaces.cli.program import GROUPS, load_command, load_summaries, split_words

if TYPE_CHECKING:
    from groundplan.surfaces.cli.invocation import Invocation

CANDIDATES_MAX = 50
TITLE_CHARS_MAX = 60


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
    from groundplan.surfaces.cli.screen.text import escape_control_chars

    value, description = (escape_control_chars(" ".join(text.split())) for text in one)
    return f"{value}\t{description[:TITLE_CHARS_MAX]}\n" if description else f"{value}\n"


def list_candidates(place: TypedPlace) -> Iterable[Candidate]:
    """Return the candidates for a place; those that do not begin with what is typed are left out later."""
    words, others = split_words(place.before)
    if not words or tuple(words) in GROUPS:
        command = Command(tuple(words), common=(PROJECT_OPTION, *COMMON_OPTIONS))
    else:
        command = load_command(words, with_help=place.current.startswith("-"))
    options = index_options((*command.options, *command.common))
    given: dict[str, str] = {}
    positional = 0
    pending: Parameter | None = None
    for text in others:
        if pending is not None:
            given[pending.key] = text
            pending = None
        elif text.startswith("-") and text != "-":
            found = options.get(text)
            pending = found if found is not None and not found.is_switch else None
        else:
            positional += 1
    if pending is not None:
        return _list_values(pending, place.current, given)
    if place.current.startswith("-"):
        return [Candidate(name, option.help) for name, option in options.items()]
    if command.run is None:
        summaries = load_summaries(tuple(words)) if words else _summarize_first()
        return [Candidate(name, summary) for name, summary in summaries.items()]
    argument = _find_argument(command.arguments, positional)
    return () if argument is None else _list_values(argument, place.current, given)


def _find_argument(arguments: Sequence[Parameter], index: int) -> Parameter | None:
    if index < len(arguments):
        return arguments[index]
    return arguments[-1] if arguments and arguments[-1].many else None


def _summarize_first() -> dict[str, str]:
    from groundplan.commands import TOPICS
    from groundplan.surfaces.cli.help import summarize

    return {name: summarize(name) for topic in TOPICS.values() for name in (*topic.listed, *topic.others)}


def _list_values(parameter: Parameter, current: str, given: dict[str, str]) -> Iterable[Candidate]:
    if parameter.choices:
        return [Candidate(choice) for choice in parameter.choices]
    match parameter.kind:
        case Kind.FILE:
            return _list_files(current)
        case Kind.TEXT:
            return ()
    return _read_plan(parameter.kind, current, given)


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
    from groundplan.kernel.errors import OPERATION_NAMES
    from groundplan.surfaces.cli.invocation import Invocation

    flags = Flags(**{name: given.get(name) for name in Flags._fields})
    settings, project = load_settings(flags), given.get("project")
    with Invocation(flags, as_json=True, vocabulary=OPERATION_NAMES, project=project, settings=settings) as invocation:
        match kind:
            case Kind.PROJECT:
                return [Candidate(one.name, one.goal or "") for one in invocation.read("project.list").projects]
            case Kind.TAG:
                return [Candidate(one.tag) for one in invocation.read("tag.list", projectId=invocation.project).tags]
            case Kind.KEY:
                return list(_list_keys(invocation))
        return _list_tasks(invocation, current)


def _list_tasks(invocation: Invocation, current: str) -> list[Candidate]:
    if current:
        nodes = invocation.read("work.lookup", project=invocation.project, beginning=current).nodes
    else:
        nodes = invocation.read(
            "work.outline", project=invocation.project, filter={"resolved": False}, limit=CANDIDATES_MAX
        ).nodes
    return [Candidate(node.id, f"{node.state}: {node.summary}") for node in nodes]


def _list_keys(invocation: Invocation) -> Iterator[Candidate]:
    answer = invocation.read("purpose.open", project=invocation.project)
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
