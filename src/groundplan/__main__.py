"""The program `groundplan`. Commands that must start fast are handled here, before slow imports."""

from __future__ import annotations

import sys
from collections.abc import Sequence

# Options with a value that may precede a command.
LEADING_OPTIONS = ("--db", "--agent", "--access", "--config")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status."""
    argv = sys.argv[1:] if arguments is None else list(arguments)
    if argv in (["--version"], ["-V"]):
        from groundplan.surfaces.cli.setup.versions import format_versions

        print(format_versions())
        return 0
    try:
        at = _find_command_index(argv)
        if argv[at : at + 1] == ["mcp"]:
            from groundplan.surfaces.cli.setup.mcp import run as run_mcp

            return run_mcp(argv[:at] + argv[at + 1 :])
        from groundplan.surfaces.cli.program import run

        return run(argv)
    except KeyboardInterrupt:
        return 130  # the exit status of shells after Ctrl-C


def _find_command_index(argv: Sequence[str]) -> int:
    """Return the index of the first argument after the leading options."""
    at = 0
    while at < len(argv) and argv[at].partition("=")[0] in LEADING_OPTIONS:
        at += 1 if "=" in argv[at] else 2
    return at


if __name__ == "__main__":
    sys.exit(main())
