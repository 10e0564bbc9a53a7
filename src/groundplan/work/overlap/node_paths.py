"""The files that nodes work on: the paths in their context links and in their Context Files.

Only a node's own paths count. Those of an ancestor say where its whole subtree takes place, so they would make every
two nodes of a feature overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class SectionTextRow(msgspec.Struct, frozen=True):
    """The title and the text of a section, with its node."""

    n: int
    title: str
    content: str


def load_paths(tx: Transaction, links: Mapping[int, str]) -> dict[int, list[str]]:
    """Return the paths of nodes, given with their context links as JSON; nodes without paths are left out."""
    found = {n: extract_paths(msgspec.json.decode(text)) for n, text in links.items() if text != "[]"}
    sections: dict[int, list[SectionTextRow]] = {}
    for row in tx.all(sql.context_files_of, SectionTextRow, project_id=tx.project.id, ns=to_json_array(links)):
        sections.setdefault(row.n, []).append(row)
    if sections:
        # Here and below, because most nodes have no files, and the patterns of paths take long to compile.
        from groundplan.work.containers.sections.context_files import extract_context_files
    for n, rows in sections.items():
        found[n] = list(dict.fromkeys([*found.get(n, ()), *extract_context_files(rows)]))
    return {n: paths for n, paths in found.items() if paths}


def extract_paths(links: Iterable[str]) -> list[str]:
    """Return the paths among context links, without duplicates, in order."""
    from groundplan.work.containers.sections.context_files import parse_link

    return list(dict.fromkeys(path for path in map(parse_link, links) if path is not None))
