"""Help: the first screen, all commands by topic, a group of commands, and one command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from groundplan.commands import EVERY_DAY, GROUPS, TOPICS, find_command
from groundplan.kernel.wording import PROGRAM, quote_text
from groundplan.surfaces.cli.command_line import Command, Parameter, argument
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.program_name import get_program_name
from groundplan.surfaces.cli.screen.output import Output, TextTable
from groundplan.surfaces.cli.screen.text import StyledText

INDENT = "  "
PAGE_COLUMNS = 80
COMMON_TITLE = "Common options"

# Texts that differ from the description of the argument, because the words of the command already say what it is, or
# because a shell has another way to say it. A key is the full command and the option, or its first word and the option.
OPTION_HELP: Mapping[str, str] = {
    "task id": "The task, by id or by an unambiguous prefix of it.",
    "task overview id": "Show one task. Without it: list tasks.",
    "feature id": "The feature, by id or by an unambiguous prefix of it.",
    "feature overview id": "Show one feature with its tasks. Without it: list features.",
    "project id": "The project, by name or id.",
    "project overview id": "Show one project with its features, by name or id. Without it: list projects.",
    "project update version": "The version that you read, as shown by project show.",
    "project summary": "What the project is for.",
    "feature name": "The name.",
    "feature create project": "The project, by name or id.",
    "task update feature": "The new feature of the task, by id; '' for none.",
    "task update complexity": "How hard it is, from 1 to 10; of two tasks of equal priority, the simpler one is next.",
    "purpose check gate": "A: is it consistent? B: is it ready to run and to measure? Or health, analysis.",
    "knowledge path": "A pattern of the files it covers, such as pay/**, from the current folder; :/src/pay/** is from "
    "the root of the repository.",
    "knowledge match paths": "Patterns of files, such as pay/**, from the current folder; :/src/pay/** is from the "
    "root of the repository.",
    "knowledge update molecule": "The molecule of the atom, by id; '' for none.",
}


def print_first_page() -> None:
    """Print what is used every day, on one screen."""
    output = _open_page()
    output.print(StyledText("Usage: ", "bold").append(f"{PROGRAM} COMMAND …   (pl is the same program)"))
    output.print()
    output.print("One durable planning memory, shared by people and AI agents.")
    _print_section(output, "Every day", [(name, summarize(name)) for name in EVERY_DAY])
    output.print()
    output.print(f"New here?  {PROGRAM} demo shows a filled plan, {PROGRAM} init starts your own.")
    output.print(f"The rest:  {PROGRAM} help, or {PROGRAM} help {'|'.join(TOPICS)}.")
    output.print(f"Details:   {PROGRAM} COMMAND --help.")


def show_help(
    _invocation: Invocation,
    words: Annotated[
        list[str] | None, argument("[TOPIC|COMMAND]", f"A topic ({', '.join(TOPICS)}), or the words of a command.")
    ] = None,
) -> CommandResult:
    """Show the commands, a topic, or one command."""
    name = " ".join(words or ())
    if not name:
        return CommandResult({"commands": _list_topics()}, _print_all)
    if name in TOPICS:
        return CommandResult({"commands": {name: _list_topic(name)}}, lambda: _print_topic(name))
    if name in GROUPS:
        from groundplan.surfaces.cli.program import load_summaries

        summaries = load_summaries(tuple(name.split()))
        return CommandResult({"commands": {name: summaries}}, lambda: print_group_help(name.split(), summaries))
    topic, *others = name.split()
    if topic in TOPICS and others and find_command(name) is None:
        raise UsageError(
            f"help {topic} does not take {quote_text(others[0])}; see {get_program_name()} help {topic}", near=topic
        )
    from groundplan.surfaces.cli.program import load_command

    command = load_command(name.split(), topics=TOPICS, with_help=True)
    return CommandResult({"commands": {name: command.summary}}, lambda: print_command_help(command))


def summarize(first: str) -> str:
    """Return what a command or a group of commands does, by its first word."""
    entry = find_command(first)
    return entry.summary if entry is not None else GROUPS[first]


def _list_topic(name: str) -> dict[str, str]:
    topic = TOPICS[name]
    return {first: summarize(first) for first in (*topic.listed, *topic.others)}


def _list_topics() -> dict[str, dict[str, str]]:
    return {name: _list_topic(name) for name in TOPICS}


def _print_all() -> None:
    output = _open_page()
    for topic in TOPICS.values():
        _print_section(output, topic.summary, [(name, summarize(name)) for name in topic.listed])
    _print_section(output, "More", [(f"help {name}", topic.summary) for name, topic in TOPICS.items()])
    output.print()
    sentence = f"{PROGRAM} COMMAND --help explains a command; docs/guides/everyday.md shows a day with them."
    for line in StyledText(sentence).wrap(output.columns):
        output.print(line)


def _print_topic(name: str) -> None:
    output = _open_page()
    _print_section(output, TOPICS[name].summary, _list_topic(name).items())


def print_group_help(words: Sequence[str], commands: Mapping[str, str]) -> None:
    """Print the help of a group of commands, with their summaries."""
    output = _open_page()
    output.print(StyledText("Usage: ", "bold").append(" ".join((PROGRAM, *words, "COMMAND …"))))
    output.print()
    output.print(GROUPS[" ".join(words)])
    _print_section(output, "Commands", commands.items())
    sys.stdout.flush()


def print_command_help(command: Command) -> None:
    """Print the help of a command."""
    output = _open_page()
    output.print(StyledText("Usage: ", "bold").append(format_usage(command)))
    output.print()
    output.print(command.summary)
    if command.about:
        output.print()
        for line in StyledText(command.about).wrap(output.columns):
            output.print(line)
    sections: dict[str, list[Parameter]] = {"Arguments": []}
    for one in command.parameters:
        sections.setdefault(one.section or ("Options" if one.names else "Arguments"), []).append(one)
    sections[COMMON_TITLE] = list(command.common)
    for title, parameters in sections.items():
        _print_section(output, title, [(format_parameter(one), one.help) for one in parameters])
    if command.synonyms:
        output.print()
        output.print(f"Also: {', '.join(command.synonyms)}.")
    sys.stdout.flush()


def format_usage(command: Command) -> str:
    """Return the usage of a command on one line."""
    shown = [_format_argument(one) for one in command.arguments]
    needed = [f"{one.names[0]} {one.value}" for one in command.options if one.required]
    return " ".join([PROGRAM, *command.words, *shown, *needed, *(["[OPTIONS]"] if command.options else [])])


def _format_argument(parameter: Parameter) -> str:
    name = f"{parameter.value}…" if parameter.many else parameter.value
    return name if parameter.required or name.startswith("[") else f"[{name}]"


def format_parameter(parameter: Parameter) -> str:
    """Return the names of an option with the name of its value, or the name of an argument."""
    names = ", ".join((*parameter.names, *([parameter.off] if parameter.off else [])))
    return f"{names} {parameter.value}".strip()


def find_option_help(words: Sequence[str], option: str) -> str:
    """Return the text that only this command has for an option, or an empty text."""
    return OPTION_HELP.get(" ".join((*words, option)), OPTION_HELP.get(f"{words[0]} {option}", ""))


def _open_page() -> Output:
    """Return standard output with the width of a page: also in a pipe, where nothing else is wrapped."""
    output = Output()
    if not output.is_terminal:
        given = os.environ.get("COLUMNS", "")
        output.columns = int(given) if given.isdigit() and len(given) < 5 else PAGE_COLUMNS
    return output


def _print_section(output: Output, title: str, rows: Iterable[tuple[str, str]]) -> None:
    cells = [[StyledText(f"{INDENT}{name}", "cyan"), StyledText(text)] for name, text in rows]
    if cells:
        output.print()
        output.print(StyledText(title, "bold"))
        output.print(TextTable(cells, whole=(0,)))
