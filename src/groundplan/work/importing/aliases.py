"""The ids of other tools as aliases of nodes. An alias never takes the place of an id of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from groundplan.kernel.ids import ALPHABET, PREFIX_CHARS_MIN
from groundplan.kernel.store.authorize import find_visible_project_ids
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.importing.entries import ImportNote
from groundplan.work.importing.stored_state import run_in_chunks, split_rows
from groundplan.work.refs import find_nodes_by_prefix

sql = load_queries(__file__)

PREFIX_MATCHES_MAX = 10  # some of which may be hidden
_LETTERS = frozenset(ALPHABET)


class WantedAlias(NamedTuple):
    """An alias for the node of an item."""

    alias: str
    source_id: str
    n: int


def add_aliases(tx: Transaction, project_id: str, wanted: Sequence[WantedAlias]) -> list[ImportNote]:
    """Add aliases to nodes, unless they are used already; return a note for each that is refused."""
    taken, refused = check_aliases(tx, project_id, wanted)
    rows = ({"project_id": project_id, "alias": one.alias, "node_n": one.n} for one in taken)
    run_in_chunks(tx, sql.add_aliases, rows)
    return refused


def check_aliases(
    tx: Transaction, project_id: str, wanted: Sequence[WantedAlias]
) -> tuple[list[WantedAlias], list[ImportNote]]:
    """Return the aliases that can be added, and a note for each that cannot; one that the node has is neither."""
    known: dict[str, int] = {}
    ours: set[str] = set()
    visible = find_visible_project_ids(tx)
    for chunk in split_rows(dict.fromkeys(one.alias for one in wanted)):
        encoded = to_json_array(chunk)
        known |= dict(tx.all(sql.aliases_among, project_id=project_id, aliases=encoded))
        found = tx.all(sql.nodes_with_ids, ids=encoded)
        ours |= {node_id for owner, node_id in found if visible is None or owner in visible}
    taken, refused = [], []
    for one in wanted:
        owner = known.get(one.alias)
        if owner == one.n:
            continue
        if owner is not None:
            refused.append(ImportNote(one.source_id, "alias", f"{one.alias} is the alias of another node"))
        elif one.alias in ours or _is_prefix(tx, one.alias, visible):
            refused.append(ImportNote(one.source_id, "alias", f"{one.alias} looks like an id of Groundplan"))
        else:
            known[one.alias] = one.n
            taken.append(one)
    return taken, refused


def _is_prefix(tx: Transaction, alias: str, visible_project_ids: frozenset[str] | None) -> bool:
    """Return whether an alias would be read as the beginning of an id so far."""
    if len(alias) < PREFIX_CHARS_MIN or not _LETTERS.issuperset(alias):
        return False
    return bool(find_nodes_by_prefix(tx, alias, visible_project_ids, at_most=PREFIX_MATCHES_MAX))
