"""Sections and tags of a node, and how a merge moves them to another node."""

from __future__ import annotations

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow

TAGS_MAX = 50  # per node
SECTIONS_MAX = 100  # per node

sql = load_queries(__file__)


class MergeLimitExceeded(RuleViolated):
    """The merged node would have more sections or tags than one node may have."""

    code = "too_much_together"

    def __init__(self, target: WorkNodeRow, what: str, limit: int) -> None:
        super().__init__(
            f"node {target.id} would have {what}, the limit is {limit}; remove some from one of the two nodes first",
            target=target.id,
            limit=limit,
        )


def merge_sections_and_tags(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> list[Change]:
    """Move the sections and tags of `source` to `target` and return the changes of `target`.

    Raises:
        MergeLimitExceeded: together they are more than one node may have.
    """
    changes = []
    sections = tx.all(sql.sections_of, project_id=tx.project.id, n=source.n)
    if sections:
        next_ordinal, section_count = tx.one(sql.next_ordinal, project_id=tx.project.id, n=target.n)
        if section_count + len(sections) > SECTIONS_MAX:
            raise MergeLimitExceeded(target, f"{section_count + len(sections)} sections", SECTIONS_MAX)
        tx.run(sql.move_sections, project_id=tx.project.id, n=source.n, to_n=target.n, by=next_ordinal)
        changes.append(changed("sections", None, [section_id for section_id, _ in sections]))
    before = _tags(tx, target)
    gained = [tag for tag in _tags(tx, source) if tag not in before]
    if len(before) + len(gained) > TAGS_MAX:
        raise MergeLimitExceeded(target, f"{len(before) + len(gained)} tags", TAGS_MAX)
    tx.run(sql.remove_tags, project_id=tx.project.id, n=source.n)
    for tag in gained:
        tx.run(sql.add_tag, project_id=tx.project.id, n=target.n, tag=tag)
    if gained:
        changes.append(changed("tags", before, sorted([*before, *gained])))
    return changes


def _tags(tx: Transaction, node: WorkNodeRow) -> list[str]:
    return tx.scalars(sql.tags_of_node, project_id=tx.project.id, n=node.n)
