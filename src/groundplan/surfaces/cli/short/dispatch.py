"""Run a short word: parse the line, run the function of the word, print what it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundplan.surfaces.cli.short.words.table import NOT_WORDS, Word, find_word

if TYPE_CHECKING:
    from groundplan.kernel.errors import Vocabulary


def run_word(name: str, argv: Sequence[str]) -> int | None:
    """Run the short word with this name, and return the exit status; None if there is no such word."""
    word = find_word(name)
    if word is None and name not in NOT_WORDS:
        return None
    from groundplan.surfaces.cli.failures import ensure_streams, run_guarded

    ensure_streams()
    run = (lambda: _refuse(name)) if word is None else (lambda: _run(word, argv))
    return run_guarded(run, as_json="--json" in argv, load_names=_load_names)


def _load_names() -> Vocabulary:
    from groundplan.surfaces.cli.short.words.hints import load_word_vocabulary

    return load_word_vocabulary()


def _refuse(name: str) -> int:
    from groundplan.surfaces.cli.failures import UsageError
    from groundplan.surfaces.cli.short.words.program_name import get_program_name

    raise UsageError(f"there is no command {name}; {NOT_WORDS[name]}", help=f"{get_program_name()} --help")


def _run(word: Word, argv: Sequence[str]) -> int:
    from groundplan.surfaces.cli.short.words.arguments import parse_line

    line = parse_line(word, argv)
    if line.has("help"):
        from groundplan.surfaces.cli.short.words.help import print_word_help

        print_word_help(word)
        return 0
    from groundplan.configuration import Flags
    from groundplan.kernel.operations.registry import load_by_name
    from groundplan.surfaces.cli.command_settings import load_command_settings
    from groundplan.surfaces.cli.failures import report_lost_output
    from groundplan.surfaces.cli.screen.output import Output
    from groundplan.surfaces.cli.screen.pager import print_paged
    from groundplan.surfaces.cli.screen.parts import print_parts
    from groundplan.surfaces.cli.short.session import WordSession, print_json
    from groundplan.surfaces.cli.short.views import WordResult

    flags = Flags(**{name: line.first(name) for name in ("db", "org", "agent", "person", "access", "config")})
    with WordSession(load_command_settings(flags), line.first("project")) as session:
        run = load_by_name(f"{__package__}.{word.run}")
        result: WordResult = run(session, line)
        session.remember(result.last)
        with report_lost_output():
            if line.has("json"):
                print_json(session.answers)
            elif line.has("watch"):
                from groundplan.surfaces.cli.short.watch import watch

                return watch(session, result)
            else:
                print_paged(lambda: print_parts(result.draw(Output())), wanted=not line.has("no_pager"))
    return result.exit_code
