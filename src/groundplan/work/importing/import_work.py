"""Import the plan of another tool. Either all items of its file are imported, or nothing.

    read the last import → compare → place in the tree → leave out loops → write nodes, edges, texts, aliases

The first import makes a node for each item. A later one compares each item with the last import and with its node, and
writes only what changed in the file; a file that did not change writes nothing at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from groundplan.kernel.access import Permission, allows
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.projects import (
    ProjectExists,
    configure_project,
    create_owned_project,
    enter_new_project,
    read_default_policies,
    record_policies,
)
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import Policies, decode_policies, get_policies
from groundplan.providers import KnowledgeDraft, KnowledgeImport, import_knowledge
from groundplan.work.importing.compare import add_changed_entries, add_missing_evidence, add_new_entries
from groundplan.work.importing.items import (
    KNOWLEDGE_TASK,
    DeletedItem,
    ImportBase,
    SourceAtom,
    SourceItem,
    SourceMolecule,
    digest_if_long,
    digest_item,
)
from groundplan.work.importing.place import leave_out_loops, place, restore_loop_edges
from groundplan.work.importing.state import (
    ImportConflict,
    ImportEntry,
    ImportNote,
    ImportState,
    LastImport,
    PlanGraph,
    load_bases,
    load_differing,
    load_exported_nodes,
    load_graph,
    load_last_imports,
    load_nodes,
    run_in_chunks,
)
from groundplan.work.importing.write import (
    WantedAlias,
    add_aliases,
    build_new_properties,
    check_aliases,
    has_effect,
    write_entries,
)
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import generate_ids
from groundplan.work.requests import encode_properties
from groundplan.work.waiting.order import ProjectOrder

NAME_KEPT_CHARS = 245  # of a name that gets a number

sql = load_queries(__file__)

ToolName = Annotated[str, Meta(min_length=1, max_length=30)]
FileName = Annotated[str, MaxBytes(1024)]


class DuplicateItem(Invalid):
    """Two items of a request have the same source id."""

    code = "duplicate_item"

    def __init__(self, source_id: str) -> None:
        super().__init__(f"items: {source_id!r} is there twice; give each item its own source_id", source_id=source_id)


class ImportWork(Struct, forbid_unknown_fields=True):
    """The items of a file of another tool."""

    project: Name
    tool: ToolName
    file: FileName
    items: Annotated[list[SourceItem], CollapsedInSchema()] = []
    deleted: Annotated[list[DeletedItem], CollapsedInSchema()] = []
    molecules: Annotated[list[SourceMolecule], CollapsedInSchema()] = []
    atoms: Annotated[list[SourceAtom], CollapsedInSchema()] = []
    inherits_dependencies: bool = False
    dry_run: bool = False
    op_id: OpId = None


class ImportCounts(Struct):
    """The numbers of items that became nodes, changed nodes or changed nothing, and of fields in conflict."""

    created: int
    updated: int
    unchanged: int
    conflicts: int


class ImportedWork(Struct):
    """The result of an import for each item of the file."""

    project: str
    tool: str
    dry_run: bool
    counts: ImportCounts
    lost: list[ImportNote]
    placed: list[ImportNote]
    conflicts: list[ImportConflict]
    warnings: list[str]


def import_work(tx: Transaction, request: ImportWork) -> ImportedWork:
    """Import items into a project.

    Raises:
        DuplicateItem: two items have the same source id.
        ReservedProperty: the name of a property is reserved for the engine.
    """
    state = _prepare(tx, request)
    _choose_inheritance(tx, request, state, get_policies(tx))
    return _finish(tx, request, state)


def import_into_new_project(tx: Transaction, request: ImportWork) -> ImportedWork:
    """Create a project, whose owner is the caller, and import items into it.

    Raises:
        ProjectExists: a project that the caller may not see has this name.
        DuplicateItem: two items have the same source id.
        ReservedProperty: the name of a property is reserved for the engine.
    """
    policies = decode_policies(read_default_policies(tx))
    if request.inherits_dependencies:
        policies = msgspec.structs.replace(policies, inherit_dependencies=True)
    stored = msgspec.json.encode(policies).decode()
    if not _list_items(request):
        empty = ImportState(request.tool, PlanGraph({}), {})
        return _build_answer(tx, request, empty, request.project, created=0, updated=0)
    project_id = create_owned_project(tx, request.project, goal=None, policies=stored)
    if project_id is None:
        raise ProjectExists(request.project)
    record_policies(tx, project_id, Policies(), policies, decision=describe_decision(request))
    with enter_new_project(tx, project_id, request.project, stored):
        state = _prepare(tx, request)
        state.inherits = policies.inherit_dependencies
        return _finish(tx, request, state)


def preview(tx: Transaction, request: ImportWork) -> ImportedWork:
    """Return the result that an import would have, without writing.

    Raises:
        DuplicateItem: two items have the same source id.
        ReservedProperty: the name of a property is reserved for the engine.
    """
    state = _prepare(tx, request)
    policies = get_policies(tx)
    state.inherits = policies.inherit_dependencies or _may_inherit(tx, request, state)
    if request.inherits_dependencies and not state.inherits:
        _warn_about_early_work(state)
    return _finish_preview(tx, request, state)


def describe_decision(request: ImportWork) -> str:
    """Return the decision in the events of an import."""
    return f"import from {request.tool}: {request.file}"


# --- Steps ------------------------------------------------------------------------------------------------------------


def _prepare(tx: Transaction, request: ImportWork) -> ImportState:
    """Compare the items with the last import, and place new and changed ones in the tree."""
    items = _list_items(request)
    _refuse_duplicates(items, request.deleted)
    project_id = tx.project.id
    last = load_last_imports(tx, project_id, request.tool)
    exported = load_exported_nodes(tx, project_id, request.tool, (item for item in items if item.source_id not in last))
    last |= {source_id: LastImport(n, "") for source_id, n in exported.items()}
    new = [item for item in items if item.source_id not in last]
    changed = [item for item in items if item.source_id in last and _differs(item, last[item.source_id])]
    deleted = [deletion for deletion in request.deleted if deletion.source_id in last]
    state = ImportState(request.tool, PlanGraph({}), last)
    state.exported = {*exported}
    state.requires_evidence = get_policies(tx).evidence == "require"
    state.numbers = {source_id: row.node_n for source_id, row in last.items() if row.node_n is not None}
    state.sources = {n: source_id for source_id, n in state.numbers.items()}
    _note_gone(state, request)
    if not (new or changed or deleted):
        return state
    state.graph = load_graph(tx, project_id)
    ids = generate_ids(tx, len(new), population=len(state.graph.nodes)) if not request.dry_run else [""] * len(new)
    state.differing = load_differing(tx, project_id, request.tool) if last else {}
    add_new_entries(state, new, ids, first_n=tx.scalar(sql.last_n, project_id=project_id) + 1)
    if changed or deleted:
        source_ids = [*(item.source_id for item in changed), *(deletion.source_id for deletion in deleted)]
        bases = load_bases(tx, project_id, request.tool, source_ids)
        ns = [n for source_id in source_ids if (n := last[source_id].node_n) is not None]
        add_changed_entries(state, changed, deleted, bases, load_nodes(tx, project_id, ns))
    in_loops = [n for source_id, base in state.differing.items() if base.loops and (n := state.numbers.get(source_id))]
    restore_loop_edges(state, load_nodes(tx, project_id, in_loops))
    place(state)
    add_missing_evidence(state, request.file)
    return state


def _list_items(request: ImportWork) -> list[SourceItem]:
    """Return the items of a request, with a task for its knowledge if it has any."""
    return [*request.items, make_task(request.tool)] if request.molecules or request.atoms else request.items


def _refuse_duplicates(items: Sequence[SourceItem], deleted: Sequence[DeletedItem]) -> None:
    source_ids: set[str] = set()
    for source_id in (*(item.source_id for item in items), *(item.source_id for item in deleted)):
        if source_id in source_ids:
            raise DuplicateItem(source_id)
        source_ids.add(source_id)


def _differs(item: SourceItem, last: LastImport) -> bool:
    return digest_item(item) != last.digest


def _note_gone(state: ImportState, request: ImportWork) -> None:
    """Report the items that the file no longer has. Their nodes are not changed."""
    there = {item.source_id for item in _list_items(request)} | {deletion.source_id for deletion in request.deleted}
    for source_id, row in state.last.items():
        if source_id not in there and source_id != KNOWLEDGE_TASK and row.node_n is not None:
            state.placed.append(ImportNote(source_id, "gone", "gone from the file; its node stays as it is"))


def _choose_inheritance(tx: Transaction, request: ImportWork, state: ImportState, policies: Policies) -> None:
    """Enable the policy inherit_dependencies if the tool has that rule and the project has no other nodes."""
    state.inherits = policies.inherit_dependencies
    if not request.inherits_dependencies or state.inherits or not state.entries:
        return
    if not _may_inherit(tx, request, state):
        _warn_about_early_work(state)
        return
    after = msgspec.structs.replace(policies, inherit_dependencies=True)
    stored = configure_project(tx, tx.project.id, policies, after, decision=describe_decision(request))
    tx.set_project(msgspec.structs.replace(tx.project, policies=stored))
    state.inherits = True


def _may_inherit(tx: Transaction, request: ImportWork, state: ImportState) -> bool:
    """Return True for the first import into a project without other nodes, if the actor may configure the project."""
    is_empty = not state.last and all(node.stored is None for node in state.graph.nodes.values() if node.n != ROOT_N)
    return request.inherits_dependencies and is_empty and allows(tx.project.role, Permission.PROJECT_CONFIGURE)


def _warn_about_early_work(state: ImportState) -> None:
    """Warn about items that are offered earlier than in their tool, because ancestors do not block them here."""
    plain, inherited = state.graph.derive(inherits=False), state.graph.derive(inherits=True)
    early = [
        n
        for n in state.entries
        if state.graph.nodes[n].is_ready(plain[n]) and not state.graph.nodes[n].is_ready(inherited[n])
    ]
    if early:
        state.warnings.append(
            f"{len(early)} items are offered earlier than in {state.tool}, where an item also waits for what its "
            "ancestors wait for; the policy inherit_dependencies does that, and was left as it is: "
            + state.name_some(early)
        )


def _finish(tx: Transaction, request: ImportWork, state: ImportState) -> ImportedWork:
    created = updated = 0
    if state.entries:
        leave_out_loops(state)
        derived = state.graph.derive(inherits=state.inherits)
        written = write_entries(tx, state, derived, decision=describe_decision(request))
        _keep_order(tx, written)
        created = sum(entry.is_new and entry.source_id != KNOWLEDGE_TASK for entry in written)
        updated = sum(not entry.is_new and entry.source_id is not None and bool(entry.changes) for entry in written)
        state.lost += add_aliases(tx, tx.project.id, _list_aliases(state))
    return _build_answer(tx, request, state, tx.project.name, created=created, updated=updated)


def _keep_order(tx: Transaction, written: list[ImportEntry]) -> None:
    order = ProjectOrder(tx)
    if any(entry.is_new for entry in written):
        order.sort()
    else:
        order.add_nodes([entry.node.n for entry in written])


def _finish_preview(tx: Transaction, request: ImportWork, state: ImportState) -> ImportedWork:
    created = updated = 0
    if state.entries:
        leave_out_loops(state)
        _refuse_unstorable(state)
        created = sum(entry.is_new and entry.source_id != KNOWLEDGE_TASK for entry in state.entries.values())
        updated = sum(has_effect(entry) for entry in state.entries.values())
        state.lost += check_aliases(tx, tx.project.id, _list_aliases(state))[1]
    return _build_answer(tx, request, state, tx.project.name, created=created, updated=updated)


def _refuse_unstorable(state: ImportState) -> None:
    """Raise the errors that writing the new nodes would raise."""
    for entry in state.entries.values():
        if entry.is_new:
            encode_properties(build_new_properties(state, entry), ("items", str(entry.source_id), "properties"))


def _list_aliases(state: ImportState) -> list[WantedAlias]:
    return [
        WantedAlias(alias, entry.item.source_id, entry.node.n)
        for entry in state.entries.values()
        if entry.item is not None
        for alias in dict.fromkeys(entry.item.aliases)
    ]


def _build_answer(
    tx: Transaction, request: ImportWork, state: ImportState, project: str, *, created: int, updated: int
) -> ImportedWork:
    if request.molecules or request.atoms:
        known = take_over_knowledge(tx, state, request.molecules, request.atoms, dry_run=request.dry_run)
        created, updated = created + known.created, updated + known.updated
    total = len(request.items) + len(request.molecules) + len(request.atoms)
    counts = ImportCounts(created, updated, max(total - created - updated, 0), len(state.conflicts))
    return ImportedWork(
        project, request.tool, request.dry_run, counts, state.lost, state.placed, state.conflicts, state.warnings
    )


IMPORT_INTO_NEW = declare(
    import_into_new_project,
    name="work.import_into_new",
    summary="Create a project with the items of another tool's file.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    project=None,
)

PREVIEW = declare(
    preview,
    name="work.preview_import",
    summary="Say what an import would do.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
)

OPERATION = declare(
    import_work,
    name="work.import",
    summary="Import the items of another tool's file; again: take over what changed in it.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    variants=(PREVIEW, IMPORT_INTO_NEW),
    choose_variant=lambda request: PREVIEW if request.dry_run else None,
    when_project_missing=IMPORT_INTO_NEW,
    http=Route("POST", "/projects/{project}/work/import"),
)


# --- Knowledge: written by its slice, in the transaction of the import, under a finished task -------------------------


class KnowledgeCounts(NamedTuple):
    """The numbers of created and of updated atoms and molecules."""

    created: int
    updated: int


def make_task(tool: str) -> SourceItem:
    """Return the task that creates the atoms and molecules of an import, because each of them needs a task."""
    return SourceItem(source_id=KNOWLEDGE_TASK, title=f"Take over knowledge from {tool}", fate="done")


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
        KnowledgeDraft(
            molecule.name, molecule.knowledge, [], [(relation.name, relation.reason) for relation in molecule.related]
        )
        for molecule in molecules
    ]
    drafts += [KnowledgeDraft(atom.name, atom.knowledge, atom.paths, []) for atom in atoms]
    drafts = _number_equal_names(drafts)
    bases = load_bases(tx, tx.project.id, tool, [key for draft in drafts if (key := _make_key(draft)) in last])
    drafts = [
        msgspec.structs.replace(draft, last_digest=last[key].digest, last_related=bases[key].links)
        if (key := _make_key(draft)) in last
        else draft
        for draft in drafts
    ]
    n = state.numbers.get(KNOWLEDGE_TASK)
    task_id = None if dry_run or n is None else _get_node_id(tx, state, n)
    outcomes = import_knowledge(tx, KnowledgeImport(task_id, drafts))
    for draft, result in zip(drafts, outcomes, strict=True):
        if result.outcome == "conflict":
            there = digest_if_long(draft.knowledge)
            state.conflicts.append(
                ImportConflict(result.name, "knowledge", _describe_base(draft), digest_if_long(result.here), there)
            )
    if not dry_run:
        rows = [
            {
                "project_id": tx.project.id,
                "tool": tool,
                "source_id": _make_key(draft),
                "node_n": n,
                "digest": result.digest,
                "base": msgspec.json.encode(ImportBase(links=draft.related)).decode(),
            }
            for draft, result in zip(drafts, outcomes, strict=True)
            if result.outcome in ("created", "updated")
            or (result.outcome == "unchanged" and _is_new(draft, result.digest))
        ]
        run_in_chunks(tx, sql.save_imports, rows)
    made = [result.outcome for result in outcomes]
    return KnowledgeCounts(made.count("created"), made.count("updated"))


def _is_new(draft: KnowledgeDraft, digest: str) -> bool:
    """Return True if a draft differs from the draft of the last import."""
    return digest != draft.last_digest or draft.related != draft.last_related


def _describe_base(draft: KnowledgeDraft) -> str | None:
    """Return the digest of the text at the last import for a report. The text itself is not stored."""
    return None if draft.last_digest is None else f"sha256:{draft.last_digest}"


def _number_equal_names(drafts: list[KnowledgeDraft]) -> list[KnowledgeDraft]:
    """Return the drafts with unique names, because a later import finds them by name."""
    uses: Counter[str] = Counter()
    numbered = []
    for draft in drafts:
        uses[_make_key(draft)] += 1
        number = uses[_make_key(draft)]
        name = draft.name if number == 1 else f"{draft.name[:NAME_KEPT_CHARS]} [{number}]"
        numbered.append(msgspec.structs.replace(draft, name=name))
    return numbered


def _make_key(draft: KnowledgeDraft) -> str:
    return f"{'atom' if draft.paths else 'molecule'}:{draft.name}"


def _get_node_id(tx: Transaction, state: ImportState, n: int) -> str:
    if n in state.graph.nodes:
        return state.graph.nodes[n].id
    return str(tx.scalar(sql.node_id, project_id=tx.project.id, n=n))
