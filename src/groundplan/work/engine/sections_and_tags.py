"""What lies beside a node: sections and tags. Where a node is merged into another, they go there."""

from __future__ import annotations

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow

TAGS_MAX = 50  # of one node
SECTIONS_MAX = 100

sql = load_queries(__file__)


class MergeLimitExceeded(RuleViolated):
    """Each of two nodes has what one may have."""

    code = "too_much_together"

    def __init__(self, target: WorkNodeRow, what: str, limit: int) -> None:
        super().__init__(
            f"node {target.id} would have {what}, the limit is {limit}; take some away from one of the two first",
            target=target.id,
            limit=limit,
        )


def merge_sections_and_tags(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> list[Change]:
    """Give the sections and tags of one node to another; what changes there.

    Raises:
        MergeLimitExceeded: they are more than one node may have.
    """
    changes = []
    sections = tx.all(sql.sections_of, project_id=tx.project.id, n=source.n)
    if sections:
        behind, there = tx.one(sql.next_ordinal, project_id=tx.project.id, n=target.n)
        if there + len(sections) > SECTIONS_MAX:
            raise MergeLimitExceeded(target, f"{there + len(sections)} sections", SECTIONS_MAX)
        tx.run(sql.move_sections, project_id=tx.project.id, n=source.n, to_n=target.n, by=behind)
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
