"""An example of every operation, for the reference pages.

The tests run every example through each surface that has the operation, page by page, in the order of the page.
`{coast}` in an example is the id of the node with the ref `coast`, `{atom}` that of the item whose name MADE_AS maps to
`atom`: a page shows the id in NODES, a test uses the id that the item got.
"""

from __future__ import annotations

from typing import Any

from reference.examples import briefing, containers, context, kernel, knowledge, purpose, work
from reference.examples.context import RUNS

__all__ = ["COMMANDS", "EXAMPLES", "FIRST", "FURTHER", "MADE_AS", "NODES", "RUNS", "WRITTEN"]

# The calls to make before the examples of a page, in an empty database.
FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    **kernel.FIRST,
    **containers.FIRST,
    **knowledge.FIRST,
    **context.FIRST,
    **purpose.FIRST,
    **briefing.FIRST,
}

EXAMPLES: dict[str, dict[str, Any]] = {
    **kernel.EXAMPLES,
    **work.EXAMPLES,
    **containers.EXAMPLES,
    **knowledge.EXAMPLES,
    **context.EXAMPLES,
    **purpose.EXAMPLES,
    **briefing.EXAMPLES,
}

# More examples of an operation, each with a sentence before it.
FURTHER: dict[str, list[tuple[str, dict[str, Any]]]] = {
    **context.FURTHER,
    **purpose.FURTHER,
    **briefing.FURTHER,
}

# The commands of operations that are written by hand, because they also read or write files.
WRITTEN = {**context.WRITTEN, **purpose.WRITTEN}

# The ids that the pages show. Every run of the examples creates other ids.
NODES = {**kernel.NODES, **work.NODES, **knowledge.NODES, **containers.NODES, **context.NODES}
MADE_AS = {**kernel.MADE_AS, **knowledge.MADE_AS, **containers.MADE_AS}

# An example of each command that is not an operation.
COMMANDS = {
    "init": "groundplan init plan.db",
    "doctor": "groundplan doctor --db plan.db",
    "where": "groundplan where",
    "demo": "groundplan demo --db demo.db",
    "mcp": "groundplan mcp --help",
    "serve": "groundplan serve --help",
}
