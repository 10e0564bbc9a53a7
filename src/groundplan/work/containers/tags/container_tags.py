"""Set the tags of one container."""

from __future__ import annotations

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.nodes import WorkNodeRow

sql = load_queries(__file__)


def set_tags(tx: Transaction, node: WorkNodeRow, tags: list[str]) -> Change | None:
    """Replace the tags of a container and return the change to record, or None if nothing changed."""
    place = {"project_id": tx.project.id, "n": node.n}
    before = tx.scalars(sql.tags_of_container, **place)
    after = sorted(set(tags))
    if before == after:
        return None
    if gone := set(before) - set(after):
        tx.run(sql.remove_tags, **place, tags=to_json_array(sorted(gone)))
    if new := set(after) - set(before):
        tx.run(sql.add_tags, **place, tags=to_json_array(sorted(new)))
    return changed("tags", before, after)
