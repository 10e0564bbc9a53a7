"""The help of the short words, and the page of `groundplan --help`: what is used every day first."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.screen.table import TextTable
from groundplan.surfaces.cli.short.words.arguments import format_option, format_usage
from groundplan.surfaces.cli.short.words.program_name import PROGRAM
from groundplan.surfaces.cli.short.words.table import COMMON_OPTIONS, WORDS, Option, Word

INDENT = "  "
PAGE_COLUMNS = 80
EPILOG = (
    "Every command takes --db, --org, --agent, --access and --config, and all but mcp take --person and --json; "
    "see its --help."
)

# The other commands, by what they are about.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "The plan": {
        "work": "Plan, claim, connect and resolve in batches.",
        "purpose": "The theory of change: goals, assumptions, versions.",
        "context": "The facts that the plan rests on, and their sources.",
        "knowledge": "What to know about which files.",
        "task, feature, dependency": "Tasks with statuses, grouped by features.",
        "section, template, tag": "Their texts, templates of these, and tags.",
    },
    "All of it together": {
        "search, events": "Find words and past changes, with filters.",
        "briefing, throughline": "What to know for a task; what anything is for.",
        "coverage, serving, titles": "What is missing between work and purpose.",
    },
    "People and projects": {
        "project, member, token": "Projects, who may do what, and tokens for programs.",
        "org": "Your organization: people, invitations, settings.",
    },
    "Setting up": {
        "init, demo": "Start a plan here, or look at a filled one.",
        "where, doctor": "Say which plan is in force, and check it.",
        "import, export": "Bring a plan from another tool, or take it there.",
        "serve, mcp": "The page and REST for a team; MCP for an agent.",
    },
}


def print_front_page() -> None:
    """Print the help of the program."""
    output = Output()
    output.print(StyledText("Usage: ", "bold").append(f"{PROGRAM} COMMAND …   (or pl COMMAND …)"))
    output.print()
    output.print("One durable planning memory, shared by people and AI agents.")
    first = [(word.name, word.summary) for word in WORDS if word.is_first]
    rest = [(word.name, word.summary) for word in WORDS if not word.is_first]
    output.print(f"New here? Run {PROGRAM} demo to look around, or {PROGRAM} init to start your own plan.")
    _print_section(output, "Every day", first)
    _print_section(output, "Also", rest)
    for title, commands in GROUPS.items():
        _print_section(output, title, list(commands.items()))
    output.print()
    explained = f"{PROGRAM} COMMAND --help explains a command; docs/guides/everyday.md shows a day with them."
    for sentence in (explained, EPILOG):
        for line in StyledText(sentence).wrap(PAGE_COLUMNS):
            output.print(line)


def print_word_help(word: Word) -> None:
    """Print the help of a short word."""
    output = Output()
    output.print(StyledText("Usage: ", "bold").append(format_usage(word)))
    output.print()
    output.print(word.summary)
    _print_section(output, "Arguments", [(one.name, one.help) for one in word.arguments])
    _print_section(output, "Options", list(_describe_options(word.options)))
    _print_section(output, "Common options", list(_describe_options(COMMON_OPTIONS)))
    for note in word.notes:
        output.print()
        output.print(note)
    if word.synonyms:
        output.print()
        output.print(f"Also: {', '.join(word.synonyms)}.")
    sys.stdout.flush()


def _describe_options(options: tuple[Option, ...]) -> Iterator[tuple[str, str]]:
    for option in options:
        yield format_option(option), option.help


def _print_section(output: Output, title: str, rows: list[tuple[str, str]]) -> None:
    if rows:
        output.print()
        output.print(StyledText(title, "bold"))
        cells = [[StyledText(f"{INDENT}{name}", "cyan"), StyledText(text)] for name, text in rows]
        output.print(TextTable(cells, whole=(0,)))
