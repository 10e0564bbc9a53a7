"""The program `groundplan`. Commands that must start fast are handled here, before slow imports."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

PERSON = "--person"  # its value may be left out
# Options with a value that may precede a command.
LEADING_OPTIONS = ("--db", "--org", "--agent", PERSON, "--access", "--config", "--project", "-P")
COMPLETION = "_GROUNDPLAN_COMPLETE"  # set by a shell that asks typer for completions
HELP: Sequence[list[str]] = (["--help"], ["-h"], ["help"], [])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status."""
    try:
        return _dispatch(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        return 130  # the exit status of shells after Ctrl-C


def _dispatch(argv: list[str]) -> int:
    if argv in (["--version"], ["-V"]):
        from groundplan.surfaces.cli.setup.versions import format_versions

        print(format_versions())
        return 0
    if argv in HELP and COMPLETION not in os.environ:
        from groundplan.surfaces.cli.short.words.help import print_front_page

        print_front_page()
        return 0
    if PERSON in argv:
        argv = _join_person(argv)
    at = _find_command_index(argv)
    command, others = argv[at : at + 1], argv[:at] + argv[at + 1 :]
    if command == ["mcp"]:
        from groundplan.surfaces.cli.setup.mcp import run as run_mcp

        return run_mcp([*(word for word in argv[:at] if word != "--json"), *argv[at + 1 :]])
    if command == ["complete"]:
        from groundplan.surfaces.cli.completion.candidates import run as run_completion

        return run_completion(others)
    if command:
        from groundplan.surfaces.cli.short.dispatch import run_word

        status = run_word(command[0], others)
        if status is not None:
            return status
    from groundplan.surfaces.cli.program import run

    return run(argv)


def _join_person(argv: Sequence[str]) -> list[str]:
    """Return the arguments with `--person` and the name after it in one, as `--person=ada`; without a name `--person=`.

    Before the command, a word that is a command is no name.
    """
    joined: list[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*joined, word, *rest]
        if word == PERSON:
            is_before_command = _find_command_index(joined) == len(joined)
            is_name = bool(rest) and not rest[0].startswith("-") and not (is_before_command and _is_command(rest[0]))
            word = f"{PERSON}={rest.pop(0) if is_name else ''}"
        joined.append(word)
    return joined


def _is_command(word: str) -> bool:
    from groundplan.surfaces.cli.completion.candidates import list_commands
    from groundplan.surfaces.cli.short.words.table import find_word

    return find_word(word) is not None or any(word == command.value for command in list_commands())


def _find_command_index(argv: Sequence[str]) -> int:
    """Return the index of the first argument after the leading options."""
    at = 0
    while at < len(argv) and (argv[at].partition("=")[0] in LEADING_OPTIONS or argv[at] == "--json"):
        at += 1 if "=" in argv[at] or argv[at] == "--json" else 2
    return at


if __name__ == "__main__":
    sys.exit(main())
