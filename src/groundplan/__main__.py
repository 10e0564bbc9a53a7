"""The program `groundplan`. What has to answer at once begins here, before the other commands are loaded."""

from __future__ import annotations

import sys
from collections.abc import Sequence

# Options with a value that may precede a command.
LEADING_OPTIONS = ("--db", "--org", "--agent", "--access", "--config", "--project", "-P")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status."""
    argv = sys.argv[1:] if arguments is None else list(arguments)
    try:
        at = _find_command_index(argv)
        if argv[at : at + 1] == ["mcp"]:
            from groundplan.surfaces.cli.setup.mcp import run as run_mcp

            return run_mcp([*(word for word in argv[:at] if word != "--json"), *argv[at + 1 :]])
        if argv[:1] == ["__complete"]:
            from groundplan.surfaces.cli.completion.candidates import run as run_completion

            return run_completion(argv[1:])
        from groundplan.surfaces.cli.program import run

        return run(argv)
    except KeyboardInterrupt:
        return 130  # the exit status of shells after Ctrl-C


def _find_command_index(argv: Sequence[str]) -> int:
    """Return the index of the first argument after the leading options."""
    at = 0
    while at < len(argv) and (argv[at].partition("=")[0] in LEADING_OPTIONS or argv[at] == "--json"):
        at += 1 if "=" in argv[at] or argv[at] == "--json" else 2
    return at


if __name__ == "__main__":
    sys.exit(main())
