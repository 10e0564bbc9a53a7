"""The knowledge of a file: the knowledge slice writes it, in the transaction of the import, under a finished task."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import msgspec

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import KnowledgeDraft, KnowledgeImport, import_knowledge
from groundplan.work.importing.entries import ImportState
from groundplan.work.importing.item_fields import ImportBase, shorten
from groundplan.work.importing.source_items import SourceAtom, SourceItem, SourceMolecule
from groundplan.work.importing.stored_state import load_bases, load_last_imports, run_in_chunks
from groundplan.work.importing.three_way import ImportConflict

NAME_KEPT_CHARS = 245  # of a name that gets a number
TASK = "#knowledge"  # the source id of the task that knowledge is created by

sql = load_queries(__file__)


class KnowledgeCounts(NamedTuple):
    """How many atoms and molecules were created, and how many updated."""

    created: int
    updated: int


def make_task(tool: str) -> SourceItem:
    """Return the item that the knowledge of a tool is created by: every atom and molecule needs a task."""
    return SourceItem(source_id=TASK, title=f"Take over knowledge from {tool}", fate="done")


def take_over_knowledge(
    tx: Transaction,
    state: ImportState,
    molecules: list[SourceMolecule],
    atoms: list[SourceAtom],
    *,
    dry_run: bool,
) -> KnowledgeCounts:
    """Import atoms and molecules into the current project, and add conflicts to the state."""
    tool = f"{state.tool} knowledge"
    last = load_last_imports(tx, tx.project.id, tool)
    drafts = [
        KnowledgeDraft(one.name, one.knowledge, [], [(other.name, other.reason) for other in one.related])
        for one in molecules
    ]
    drafts += [KnowledgeDraft(one.name, one.knowledge, one.paths, []) for one in atoms]
    drafts = _number_equal_names(drafts)
    bases = load_bases(tx, tx.project.id, tool, [key for one in drafts if (key := _make_key(one)) in last])
    drafts = [
        msgspec.structs.replace(one, last_digest=last[key].digest, last_related=bases[key].links)
        if (key := _make_key(one)) in last
        else one
        for one in drafts
    ]
    n = state.numbers.get(TASK)
    task_id = None if dry_run or n is None else _get_node_id(tx, state, n)
    outcomes = import_knowledge(tx, KnowledgeImport(task_id, drafts))
    for draft, one in zip(drafts, outcomes, strict=True):
        if one.outcome == "conflict":
            there = shorten(draft.knowledge)
            state.conflicts.append(
                ImportConflict(one.name, "knowledge", _describe_base(draft), shorten(one.here), there)
            )
    if not dry_run:
        rows = [
            {
                "project_id": tx.project.id,
                "tool": tool,
                "source_id": _make_key(draft),
                "node_n": n,
                "digest": one.digest,
                "base": msgspec.json.encode(ImportBase(links=draft.related)).decode(),
            }
            for draft, one in zip(drafts, outcomes, strict=True)
            if one.outcome in ("created", "updated") or (one.outcome == "unchanged" and _is_new(draft, one.digest))
        ]
        run_in_chunks(tx, sql.save_imports, rows)
    made = [one.outcome for one in outcomes]
    return KnowledgeCounts(made.count("created"), made.count("updated"))


def _is_new(draft: KnowledgeDraft, digest: str) -> bool:
    """Return whether a draft says something else than the last import."""
    return digest != draft.last_digest or draft.related != draft.last_related


def _describe_base(draft: KnowledgeDraft) -> str | None:
    """Return what a report says about the knowledge at the last import: texts are kept as digests."""
    return None if draft.last_digest is None else f"sha256:{draft.last_digest}"


def _number_equal_names(drafts: list[KnowledgeDraft]) -> list[KnowledgeDraft]:
    """Return the drafts with names of their own: the name is what a later import finds them by."""
    seen: Counter[str] = Counter()
    numbered = []
    for draft in drafts:
        seen[_make_key(draft)] += 1
        number = seen[_make_key(draft)]
        name = draft.name if number == 1 else f"{draft.name[:NAME_KEPT_CHARS]} [{number}]"
        numbered.append(msgspec.structs.replace(draft, name=name))
    return numbered


def _make_key(draft: KnowledgeDraft) -> str:
    return f"{'atom' if draft.paths else 'molecule'}:{draft.name}"


def _get_node_id(tx: Transaction, state: ImportState, n: int) -> str:
    if n in state.graph.nodes:
        return state.graph.nodes[n].id
    return str(tx.scalar(sql.node_id, project_id=tx.project.id, n=n))
