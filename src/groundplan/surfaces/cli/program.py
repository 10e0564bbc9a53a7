"""Find the command that a line names, run it, and return its exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from groundplan.commands import ALIKE, COMMANDS, NOT_COMMANDS, Entry, find_command, list_names
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.wording import find_nearest, join_alternatives, quote_text
from groundplan.surfaces.cli.command_line import (
    COMMON_OPTIONS,
    PROJECT_OPTION,
    Command,
    Line,
    index_options,
    option,
    parse_line,
    usage_error,
)
from groundplan.surfaces.cli.failures import (
    UsageError,
    ensure_streams,
    load_vocabulary,
    report_lost_output,
    run_guarded,
    write_line,
)
from groundplan.surfaces.cli.program_name import get_program_name

if TYPE_CHECKING:
    from groundplan.kernel.errors import Vocabulary
    from groundplan.surfaces.cli.invocation import CommandResult, Invocation

GROUPS = frozenset(entry.words[:at] for entry in COMMANDS for at in range(1, len(entry.words)))
VERSION = option("--version", "-V", text="Print the version.")
SUGGESTIONS_MAX = 3


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit status. It never raises."""
    ensure_streams()
    words, _ = split_words(argv)
    entry = find_command(" ".join(words))
    load_names = load_word_vocabulary if entry is not None and entry.in_project else load_vocabulary
    return run_guarded(lambda: _run(argv, load_names), as_json="--json" in argv, load_names=load_names)


def load_word_vocabulary() -> Vocabulary:
    """Return how the words of every day name operations."""
    from groundplan.surfaces.cli.everyday.hints import WordVocabulary

    return WordVocabulary()


def _run(argv: Sequence[str], load_names: Callable[[], Vocabulary]) -> int:
    words, others = split_words(argv)
    if not words or tuple(words) in GROUPS:
        return _show_group(tuple(words), others)
    command = load_command(words, others, with_help="--help" in others or "-h" in others)
    line = parse_line(command, others)
    if line.has("help"):
        from groundplan.surfaces.cli.help import print_command_help

        print_command_help(command)
        return 0
    from groundplan.surfaces.cli.invocation import open_invocation

    with open_invocation(line, load_names()) as invocation:
        assert command.run is not None  # noqa: S101 - for the type checker
        try:
            result: CommandResult = command.run(invocation, line)
        except GroundplanError as error:
            from groundplan.surfaces.cli.explanations import explain

            explain(error, command, invocation)
            raise
        invocation.remember(result.last)
        with report_lost_output():
            if line.has("watch"):
                from groundplan.surfaces.cli.everyday.watch import watch

                return watch(invocation, result)
            _print(invocation, line, result)
    return result.exit_code


def _print(invocation: Invocation, line: Line, result: CommandResult) -> None:
    if line.has("json"):
        from groundplan.kernel.answers import encode

        own = result.encoded or (None if result.data is None else encode(result.data))
        for answer in invocation.answers or filter(None, [own]):
            write_line(sys.stdout, answer.decode("utf-8").rstrip("\n"))
    else:
        from groundplan.surfaces.cli.screen.output import print_paged

        print_paged(result.draw, wanted=not line.has("no_pager"))


def split_words(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of the command, and the other arguments in their order.

    Common options may stand before and between the words. There, a word of a command is not the value of an option
    that needs none.
    """
    options = index_options((PROJECT_OPTION, *COMMON_OPTIONS))
    words: list[str] = []
    others: list[str] = []
    rest = list(argv)
    while rest and (not words or tuple(words) in GROUPS):
        name, has_value, _ = rest[0].partition("=")
        found = options.get(name)
        if found is not None and found.may_be_empty and not has_value:
            del rest[0]
            is_name = bool(rest) and not rest[0].startswith("-") and not _can_follow(words, rest[0])
            others.append(f"{name}={rest.pop(0) if is_name else ''}")
        elif found is not None:
            others.append(rest.pop(0))
            if rest and not (found.is_switch or has_value):
                others.append(rest.pop(0))
        elif rest[0].startswith("-"):
            break
        else:
            words.append(rest.pop(0))
    return words, [*others, *rest]


def _can_follow(words: Sequence[str], word: str) -> bool:
    """Return whether a word continues the words of a command."""
    return (*words, word) in GROUPS or find_command(" ".join((*words, word))) is not None


def load_command(
    words: Sequence[str], after: Sequence[str] = (), *, topics: Iterable[str] = (), with_help: bool = False
) -> Command:
    """Return the command with these words, of which only its own modules are loaded.

    `after` stands behind them, and `topics` may be named, too: an error looks there for what was meant.
    """
    entry = find_command(" ".join(words))
    if entry is None:
        raise _refuse(words, after, topics)
    return build_command(entry, with_help=with_help)


def build_command(entry: Entry, *, with_help: bool = False) -> Command:
    """Return what a command takes and how it is run."""
    if entry.run:
        from groundplan.surfaces.cli.function_commands import build_function_command

        return build_function_command(entry, with_help=with_help)
    from groundplan.surfaces.cli.operation_commands import build_operation_command

    return build_operation_command(entry, with_help=with_help)


def _refuse(words: Sequence[str], after: Sequence[str], topics: Iterable[str]) -> UsageError:
    """Return the error for words that are no command, with the one that was probably meant."""
    at = next(at for at, _ in enumerate(words) if tuple(words[: at + 1]) not in GROUPS)
    group, last = tuple(words[:at]), words[at]
    name, sentence = " ".join((*group, last)), f"no such command {quote_text(last)}"
    if told := NOT_COMMANDS.get(name):
        return UsageError(f"there is no command {name}; {told}", text=" ".join((get_program_name(), *group, "--help")))
    if near := _find_meant(group, last, after, topics):
        return usage_error(group, sentence, near)
    elsewhere = [entry.name for entry in COMMANDS if entry.words[-1] == last and len(entry.words) > 1]
    return usage_error(group, sentence, join_alternatives(elsewhere[:SUGGESTIONS_MAX]) if elsewhere else None)


def _find_meant(group: tuple[str, ...], last: str, after: Sequence[str], topics: Iterable[str]) -> str | None:
    """Return the command with another word for the same, in another order, or with a similar name."""
    names = list(list_names(group))
    alike = [name for name in names if any({name, last} <= verbs for verbs in ALIKE)] if group else []
    if alike:
        return join_alternatives([" ".join((*group, name)) for name in alike])
    if after and find_command(" ".join((*group, after[0]))):
        from shlex import quote  # only this slip needs it

        return " ".join((*group, after[0], quote(last)))
    return find_nearest(last, [*names, *topics])


def _show_group(words: tuple[str, ...], others: Sequence[str]) -> int:
    from groundplan.surfaces.cli.help import print_first_page, print_group_help

    common = (PROJECT_OPTION, *COMMON_OPTIONS)
    line = parse_line(Command(words, common=common if words else (*common, VERSION)), others)
    if line.has("version"):
        from groundplan.surfaces.cli.setup.where import print_versions

        print_versions(as_json=line.has("json"))
    elif words:
        print_group_help(words, load_summaries(words))
    else:
        print_first_page()
    return 0


def load_summaries(group: tuple[str, ...]) -> Mapping[str, str]:
    """Return what the commands and groups below a group do, by the word that follows."""
    from groundplan.commands import GROUPS as SUMMARIES

    names = {name: " ".join((*group, name)) for name in list_names(group)}
    return {name: SUMMARIES.get(full) or load_command(full.split()).summary for name, full in names.items()}
