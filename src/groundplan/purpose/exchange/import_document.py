"""Import a theory as a new draft. Either the whole document is imported, or nothing.

Everything that a draft can store is imported, including cycles and edges that point down; the gate reports them. An
item that no draft can store, such as an edge to itself or to a missing node, rejects the document. Readers of other
formats skip such items and report them; in a native document they are errors. Measurements belong to the project, not
to the draft, and those that the project has already are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import GroundplanError, NotFound
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import Name, NormalizedName, apply_marker
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text
from groundplan.purpose.content import read_content
from groundplan.purpose.dates import get_day, parse_day, parse_moment
from groundplan.purpose.editing.draft import BatchRefs, DraftState, ItemIdentity
from groundplan.purpose.editing.items import (
    add_assumption,
    add_edge,
    add_indicator,
    add_node,
    refuse_long_metadata,
    refuse_unclear_place,
)
from groundplan.purpose.editing.operations import AddAssumption, AddEdge, AddIndicator, AddNode
from groundplan.purpose.exchange.document import DocumentAssumption, DocumentMeasurement, DocumentWaiver, TheoryDocument
from groundplan.purpose.exchange.export import select_waivers_about
from groundplan.purpose.exchange.incoming_keys import IncomingKeys, KeyMapping, KeyMode
from groundplan.purpose.exchange.readers.builder import EXAMPLES_MAX, SkippedItem
from groundplan.purpose.gates.gates import GateResult, select_active_waivers
from groundplan.purpose.model import TITLE_CHARS_MAX, EdgeName, EdgeType, parse_edge_name
from groundplan.purpose.observing.read import NO_CUTOFF, read_measurements, read_waivers
from groundplan.purpose.observing.record import (
    MeasurementWrite,
    WaiverWrite,
    record_measurements,
    record_waivers,
    refuse_unwaivable,
)
from groundplan.purpose.observing.records import Waiver
from groundplan.purpose.versions.drafts import add_draft, choose_profile, load_versions_without_draft
from groundplan.purpose.versions.versions import Version, VersionRow, load_draft, to_version

EXPIRED, ALREADY_IN_FORCE = "expired", "already in force here"  # why a waiver is skipped
IN_FUTURE, KNOWN = "it is in the future", "it is recorded already"  # why a measurement is skipped

_TITLE = NormalizedName(TITLE_CHARS_MAX)


class ImportPurpose(Struct, forbid_unknown_fields=True):
    """The document to import. `keys` tells if its keys name the same items as in this project."""

    project: Name
    document: Annotated[TheoryDocument, CollapsedInSchema()]
    keys: KeyMode | None = None
    op_id: OpId = None


class ImportedCounts(Struct):
    """The number of imported items of each kind."""

    nodes: int
    edges: int
    assumptions: int
    indicators: int
    waivers: int
    measurements: int = 0


class ImportedPurpose(Struct):
    """The draft with the imported theory.

    `keys` maps the names of the document that got new keys. `renamed` lists the keys whose item has a new name here.
    """

    version: Version
    rev: int
    counts: ImportedCounts
    keys: list[KeyMapping]
    renamed: list[str]
    skipped: list[SkippedItem]


def import_purpose(tx: Transaction, request: ImportPurpose) -> ImportedPurpose:
    """Import a document as a new draft.

    Raises:
        DraftExists: the project already has a draft.
        ProfileTooLight: its profile is lighter than the project allows.
        OtherTheory: its keys name other items in this project.
        Invalid: an item is malformed or a key appears twice.
        NotFound: an item refers to one that the document does not have.
        SelfEdge: an edge leads from a node to itself.
        DuplicateEdge: an edge appears twice.
        NotWaivable: a waiver names a check that cannot be waived.
    """
    document = request.document
    rows = load_versions_without_draft(tx)
    _refuse_duplicate_keys(document)
    keys = IncomingKeys(tx, document, request.keys)
    profile = choose_profile(tx, document.profile, rows[-1] if rows else None)
    row = add_draft(tx, rows, None, profile)
    draft = DraftState(tx, row, BatchRefs([], [], [], []))
    draft.forbids_cycles_and_downward_edges = False
    _write_items(draft, document, keys)
    recorded, skipped = _import_waivers(tx, row, document.waivers, keys)
    measured, unmeasured = _import_measurements(tx, document.measurements, keys)
    skipped += unmeasured
    after = load_draft(tx)
    nodes, edges = len(document.nodes), len(document.edges)
    counts = ImportedCounts(nodes, edges, len(document.assumptions), len(document.indicators), recorded, measured)
    return ImportedPurpose(to_version(after), after.rev, counts, keys.list_changed_keys(), keys.renamed, skipped)


def _refuse_duplicate_keys(document: TheoryDocument) -> None:
    """Reject a document in which two items of one kind have the same key."""
    for kind in ("nodes", "assumptions", "indicators"):
        keys: set[str] = set()
        for index, item in enumerate(getattr(document, kind)):
            if item.key in keys:
                sentence = f"{quote_text(item.key)} is used twice; give each item its own key"
                raise invalid_argument(("document", kind, index, "key"), sentence, code="duplicate_key")
            keys.add(item.key)


def _write_items(draft: DraftState, document: TheoryDocument, keys: IncomingKeys) -> None:
    """Write the items of a document under their assigned keys."""

    def node(name: str, path: ArgumentPath) -> str:
        if name not in keys.nodes:
            raise NotFound("node", name, hint="no node of the document has this key", field=format_argument_path(path))
        return keys.nodes[name]

    for index, added in enumerate(document.nodes):
        at: ArgumentPath = ("document", "nodes", index)
        refuse_long_metadata(added.metadata or {}, (*at, "metadata"))
        # An imported node may lack a title; the gate reports it.
        title = apply_marker(_TITLE, added.title, (*at, "title")) if added.title.strip() else ""
        op = AddNode(added.node_type, title, None, added.description, added.narrative, added.owner, added.metadata)
        add_node(draft, op, ItemIdentity(keys.nodes[added.key], new_uuid()), index)
    names: set[EdgeName] = set()
    for index, edge in enumerate(document.edges):
        at = ("document", "edges", index)
        source, target = node(edge.source, (*at, "source")), node(edge.target, (*at, "target"))
        cause = AddEdge(source, target, edge.edge_type, None, edge.mechanism, edge.confidence)
        add_edge(draft, cause, ItemIdentity("", new_uuid()), index, at)
        names.add(EdgeName(source, target, edge.edge_type))
    for index, assumption in enumerate(document.assumptions):
        at = ("document", "assumptions", index)
        op_ = _to_add_assumption(assumption, node, names, at)
        add_assumption(draft, op_, ItemIdentity(keys.assumptions[assumption.key], new_uuid()), index)
    for index, indicator in enumerate(document.indicators):
        on = node(indicator.node, ("document", "indicators", index, "node"))
        given = {name: getattr(indicator, name) for name in indicator.__struct_fields__ if name not in ("key", "node")}
        identity = ItemIdentity(keys.indicators[indicator.key], new_uuid())
        add_indicator(draft, AddIndicator(node=on, **given), identity, index)


def _to_add_assumption(
    assumption: DocumentAssumption, node: Callable[[str, ArgumentPath], str], names: set[EdgeName], path: ArgumentPath
) -> AddAssumption:
    """Return the operation that adds an assumption, with keys of this project."""
    refuse_unclear_place(assumption.node, assumption.source, assumption.target, assumption.edge_type, path)
    added = AddAssumption(assumption.assumption_text, risk_level=assumption.risk_level, owner=assumption.owner)
    if assumption.review_by is not None:
        added.review_by = parse_day(assumption.review_by, (*path, "review_by"))
    if assumption.node is not None:
        added.node = node(assumption.node, (*path, "node"))
        return added
    source, target = node(str(assumption.source), (*path, "source")), node(str(assumption.target), (*path, "target"))
    name = EdgeName(source, target, assumption.edge_type or EdgeType.CONTRIBUTES_TO)
    added.source, added.target, added.edge_type = name
    if name not in names:
        raise NotFound("edge", str(name), hint="the document has no such edge", field=format_argument_path(path))
    return added


def _import_waivers(
    tx: Transaction, row: VersionRow, document_waivers: list[DocumentWaiver], keys: IncomingKeys
) -> tuple[int, list[SkippedItem]]:
    """Record the waivers that are not in force yet. Return the number of them, and the skipped waivers."""
    if not document_waivers:
        return 0, []
    today = get_day(tx.now)
    content = read_content(tx, row.id)
    edges = {edge.name for edge in content.edges}
    in_force = {
        _identify_waiver(waiver, waiver.refs)
        for waiver in select_waivers_about(content, select_active_waivers(read_waivers(tx, NO_CUTOFF), today))
    }
    skipped_codes: dict[str, list[str]] = {EXPIRED: [], ALREADY_IN_FORCE: []}
    wanted: list[WaiverWrite] = []
    for index, waiver in enumerate(document_waivers):
        at: ArgumentPath = ("document", "waivers", index)
        refuse_unwaivable(waiver.code, (*at, "code"))
        due = parse_day(waiver.due, (*at, "due"))
        refs = [_resolve_ref(ref, keys, edges, (*at, "refs", number)) for number, ref in enumerate(waiver.refs)]
        if due < today:
            skipped_codes[EXPIRED].append(waiver.code)
        elif _identify_waiver(waiver, refs) in in_force:
            skipped_codes[ALREADY_IN_FORCE].append(waiver.code)
        else:
            wanted.append(WaiverWrite(waiver.code, refs, waiver.reason, waiver.owner, due))
    record_waivers(tx, wanted, ("document", "waivers"))
    skipped = [
        SkippedItem("waiver", why, len(codes), codes[:EXAMPLES_MAX]) for why, codes in skipped_codes.items() if codes
    ]
    return len(wanted), skipped


def _identify_waiver(waiver: Waiver | DocumentWaiver, refs: list[str]) -> tuple[str, tuple[str, ...], str, str, str]:
    """Return the values that distinguish a waiver from others."""
    return waiver.code, tuple(sorted(refs)), waiver.reason, waiver.owner, waiver.due


def _resolve_ref(ref: str, keys: IncomingKeys, edges: set[EdgeName], path: ArgumentPath) -> str:
    """Return the key of the imported item, or the pointer of the fact, that a ref of a waiver names."""
    if ref.startswith("/"):
        return ref
    edge = parse_edge_name(ref)
    if edge is not None:
        ends = keys.nodes.get(edge.source, ""), keys.nodes.get(edge.target, "")
        name = EdgeName(*ends, edge.edge_type)
        if name in edges:
            return str(name)
    for mapping in (keys.nodes, keys.assumptions, keys.indicators):
        if ref in mapping:
            return mapping[ref]
    raise NotFound(
        "key", ref, hint="a waiver in a document can only name items of the document", field=format_argument_path(path)
    )


def _import_measurements(
    tx: Transaction, measurements: Sequence[DocumentMeasurement], keys: IncomingKeys
) -> tuple[int, list[SkippedItem]]:
    """Record the measurements that the project does not have yet. Return the number of them, and the skipped ones."""
    if not measurements:
        return 0, []
    known = {
        (measurement.indicator, measurement.as_of, measurement.value)
        for measurement in read_measurements(tx, NO_CUTOFF)
    }
    skipped: dict[str, list[str]] = {IN_FUTURE: [], KNOWN: []}
    wanted: list[MeasurementWrite] = []
    for index, measurement in enumerate(measurements):
        path: ArgumentPath = ("document", "measurements", index)
        if measurement.indicator not in keys.indicators:
            hint = "no indicator of the document has this key"
            raise NotFound(
                "indicator", measurement.indicator, hint=hint, field=format_argument_path((*path, "indicator"))
            )
        key = keys.indicators[measurement.indicator]
        as_of = parse_moment(measurement.as_of, (*path, "as_of"))
        if get_day(as_of) > get_day(tx.now):
            skipped[IN_FUTURE].append(f"{key} {as_of}")
        elif (key, as_of, measurement.value) in known:
            skipped[KNOWN].append(f"{key} {as_of}")
        else:
            known.add((key, as_of, measurement.value))
            wanted.append(MeasurementWrite(key, measurement.value, as_of, note=measurement.note))
    record_measurements(tx, wanted, ("document", "measurements"))
    return len(wanted), [
        SkippedItem("measurement", why, len(examples), examples[:EXAMPLES_MAX])
        for why, examples in skipped.items()
        if examples
    ]


def check_imported(call: Callable[..., Any], project: str, imported: ImportedPurpose) -> GateResult | str:
    """Return the result of gate A for the draft, or a sentence with the reason why there is none.

    `call` runs an operation by its name. A repeated request with the same op_id imported the draft earlier, so it may
    have changed or gone since.
    """
    number = imported.version.number
    try:
        gate: GateResult = call("purpose.check", project=project, gate="A", version=number)
        # A rev is never reused, so an unchanged rev means that the check saw the imported draft.
        rev = call("purpose.open", project=project, version=number, detail="summary").rev
    except NotFound:
        return f"The draft of v{number} no longer exists."
    except GroundplanError as error:
        return f"Gate A could not be checked: {error.message}"
    return gate if rev == imported.rev else f"v{number} has changed since the import; it is at rev {rev}."


def summarize_gate(gate: GateResult | str) -> dict[str, Any] | None:
    """Return the result of a gate and its blocking checks; None if there is no result."""
    if isinstance(gate, str):
        return None
    return {"passed": gate.passed, "failing": [check.code for check in gate.checks if check.is_blocking]}


IMPORT_WAIVERS = declare(
    import_purpose,
    name="purpose.import_waivers",
    summary="Import a theory and its waivers as a new draft.",
    permission=Permission.PURPOSE_WAIVE,
    effect=Effect.WRITE,
)

OPERATION = declare(
    import_purpose,
    name="purpose.import",
    summary="Import a theory as a new draft: the whole document, or nothing. Waivers in it need the owner role.",
    permission=Permission.PURPOSE_WRITE,
    effect=Effect.WRITE,
    variants=(IMPORT_WAIVERS,),
    choose_variant=lambda request: IMPORT_WAIVERS if request.document.waivers else None,
    http=Route(
        "POST", "/projects/{project}/purpose/import", location="/projects/{project}/purpose/versions/{version.number}"
    ),
)
