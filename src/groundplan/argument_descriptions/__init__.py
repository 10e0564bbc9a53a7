"""What the arguments of operations mean: one description for `--help` and the reference.

The JSON Schemas of tools have only a few of them, because every conversation pays for these; so a table is loaded only
when a text is asked for. A description names no option and no tool. Code stands in backticks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

# The table of the operations whose names begin with this word.
TABLES: Mapping[str, str] = {
    "organization": "kernel",
    "invitation": "kernel",
    "project": "kernel",
    "member": "kernel",
    "token": "kernel",
    "event": "kernel",
    "work": "work",
    "container": "containers",
    "dependency": "containers",
    "section": "containers",
    "template": "containers",
    "tag": "containers",
    "knowledge": "knowledge",
    "context": "context",
    "purpose": "purpose",
    "briefing": "briefing",
}


def describe_argument(operation: str, path: str) -> str:
    """Return the description of an argument by its path on the wire, such as `nodes[].ref`; empty if there is none.

    A key `operation/path` is more specific than `thing/path`, and that than `path` alone.
    """
    thing = operation.partition(".")[0]
    table = load_table(TABLES.get(thing, "shared"))
    keys = (f"{operation}/{path}", f"{thing}/{path}", path)
    return next((table[key] for key in keys if key in table), "")


@cache
def load_table(name: str) -> Mapping[str, str]:
    """Return the descriptions of one table, and those that all slices share."""
    from groundplan.argument_descriptions.shared import ARGUMENTS

    return {**ARGUMENTS, **import_module(f"{__name__}.{name}").ARGUMENTS}
