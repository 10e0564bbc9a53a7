"""The versions of the program and of the engines that it runs on, for `groundplan --version`."""

from __future__ import annotations

import platform
import sqlite3

from groundplan import __version__
from groundplan.kernel.answers import encode


def collect_versions() -> dict[str, str]:
    """Return the version of the program, of Python and of each engine that is installed."""
    found = {"version": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    try:
        import psycopg
    except ImportError:  # installed with groundplan[postgres]
        return found
    return {**found, "psycopg": psycopg.__version__, "libpq": _format_libpq(psycopg.pq.version())}


def format_versions() -> str:
    """Return the versions as lines; the first one is only about the program, for scripts."""
    found = collect_versions()
    postgres = f"psycopg {found['psycopg']} with libpq {found['libpq']}" if "psycopg" in found else "no psycopg"
    return f"groundplan {found['version']}\nPython {found['python']}, SQLite {found['sqlite']}, {postgres}"


def print_versions(*, as_json: bool) -> None:
    """Print the versions for a person or a program."""
    print(encode(collect_versions()).decode() if as_json else format_versions())


def _format_libpq(number: int) -> str:
    """Return 160004 as 16.4."""
    return f"{number // 10_000}.{number % 10_000}"
