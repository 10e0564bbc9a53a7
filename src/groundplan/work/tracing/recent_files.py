"""The files of the work that changed last: its links, and the paths in its sections Context Files."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.sections.context_files import extract_context_files, parse_link

RECENT_NODES = 200

sql = load_queries(__file__)

_decode_links = msgspec.json.Decoder(list[str]).decode


class _FileSection(NamedTuple):
    title: str
    content: str


def list_recent_files(tx: Transaction) -> list[str]:
    """Return the paths that the last changed nodes name, without duplicates; those of the latest change first."""
    rows = tx.all(sql.recently_changed, project_id=tx.project.id, at_most=RECENT_NODES)
    found: dict[str, None] = {}
    for _, links in rows:
        for link in _decode_links(links):
            if path := parse_link(link):
                found[path] = None
    ns = to_json_array(n for n, _ in rows)
    sections = tx.all(sql.sections_about_files, _FileSection, project_id=tx.project.id, ns=ns)
    found.update(dict.fromkeys(extract_context_files(sections)))
    return list(found)
