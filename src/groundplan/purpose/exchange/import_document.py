"""Take a theory in, as a new draft: everything in a document, or nothing.

What a draft can hold comes in, cycles and edges that lead down included; the gate names them. What no draft can hold,
an edge from a node to itself or to nothing, refuses the document. Readers of other formats leave such things out and
say so; in a native document they are a mistake of whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.text_limits import Name, NormalizedName, apply_marker
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text
from groundplan.purpose.content import read_content
from groundplan.purpose.dates import day_of, parse_day
from groundplan.purpose.editing.assumptions import add_assumption
from groundplan.purpose.editing.draft_state import BatchRefs, DraftState
from groundplan.purpose.editing.edges import DuplicateEdge, SelfEdge, add_edge
from groundplan.purpose.editing.indicators import add_indicator
from groundplan.purpose.editing.nodes import add_node, encode_metadata
from groundplan.purpose.editing.operations import AddAssumption, AddEdge, AddIndicator, AddNode
from groundplan.purpose.exchange.export import waivers_about
from groundplan.purpose.exchange.formats.document import AssumptionWritten, TheoryDocument, WaiverWritten
from groundplan.purpose.exchange.incoming_keys import IncomingKeys, KeyMapping, KeyMode
from groundplan.purpose.exchange.readers.document_builder import EXAMPLES_MAX, SkippedItem
from groundplan.purpose.gates.active_waivers import waivers_in_force
from groundplan.purpose.limits import TITLE_CHARS_MAX
from groundplan.purpose.model import EdgeName, EdgeType, Profile
from groundplan.purpose.observing.observation_rows import Waiver
from groundplan.purpose.observing.read_observations import NO_CUTOFF, waivers
from groundplan.purpose.observing.record import WaiverWrite, record_waivers, refuse_unwaivable
from groundplan.purpose.observing.ref_resolver import parse_edge_name
from groundplan.purpose.version import Version, VersionRow, draft_row, to_version
from groundplan.purpose.versions.draft import add_draft, rows_without_draft

EXPIRED, ALREADY_IN_FORCE = "past its day", "in force here already"  # why a waiver is left out

_TITLE = NormalizedName(TITLE_CHARS_MAX)


class ImportPurpose(Struct, forbid_unknown_fields=True):
    """Where to, and what. `keys` says whether keys in the document mean what they mean in this project."""

    project: Name
    document: Annotated[TheoryDocument, CollapsedInSchema()]
    keys: KeyMode | None = None
    op_id: OpId = None


class ImportedCounts(Struct):
    """How much came in."""

    nodes: int
    edges: int
    assumptions: int
    indicators: int
    waivers: int


class ImportedPurpose(Struct):
    """The draft that holds the theory.

    `keys` has the names that became other keys, `renamed` the keys that were never called so here before.
    """

    version: Version
    rev: int
    counts: ImportedCounts
    keys: list[KeyMapping]
    renamed: list[str]
    skipped: list[SkippedItem]


def import_purpose(tx: Transaction, request: ImportPurpose) -> ImportedPurpose:
    """Write a document into a new draft.

    Raises:
        DraftExists: there is a draft already.
        OtherTheory: its keys are known here for other things.
        Invalid: something in it is malformed, or there twice.
        NotFound: something in it names what it does not have.
        SelfEdge: an edge leads from a node to itself.
        DuplicateEdge: an edge is there twice.
        NotWaivable: a check is to be waived that cannot be.
    """
    document = request.document
    rows = rows_without_draft(tx)
    _refuse_duplicate_keys(document)
    keys = IncomingKeys(tx, document, request.keys)
    profile = document.profile or (rows[-1].profile if rows else Profile.STANDARD)
    row = add_draft(tx, rows, None, profile)
    draft = DraftState(tx, row, BatchRefs([], [], [], []))
    draft.is_ordered = False
    _write(draft, document, keys)
    recorded, skipped = _waive(tx, row, document.waivers, keys)
    after = draft_row(tx)
    counts = ImportedCounts(
        len(document.nodes), len(document.edges), len(document.assumptions), len(document.indicators), recorded
    )
    return ImportedPurpose(to_version(after), after.rev, counts, keys.given(), keys.renamed, skipped)


def _refuse_duplicate_keys(document: TheoryDocument) -> None:
    """Nothing in a document has the name of another thing of its sort.

    Raises:
        Invalid: something has.
    """
    for sort in ("nodes", "assumptions", "indicators"):
        seen: set[str] = set()
        for place, one in enumerate(getattr(document, sort)):
            if one.key in seen:
                sentence = f"{quote_text(one.key)} is there already; give it a key of its own"
                raise invalid_argument(("document", sort, place, "key"), sentence, code="duplicate_key")
            seen.add(one.key)


def _write(draft: DraftState, document: TheoryDocument, keys: IncomingKeys) -> None:
    """Everything in a document, under its keys."""

    def node(name: str, path: ArgumentPath) -> str:
        if name not in keys.nodes:
            raise NotFound("node", name, hint="no node of the document has this key", field=format_argument_path(path))
        return keys.nodes[name]

    for place, one in enumerate(document.nodes):
        at: ArgumentPath = ("document", "nodes", place)
        encode_metadata(one.metadata or {}, (*at, "metadata"))
        # A title may be missing in what comes from elsewhere, and the gate will say so.
        title = apply_marker(_TITLE, one.title, (*at, "title")) if one.title.strip() else ""
        op = AddNode(one.node_type, title, None, one.description, one.narrative, one.owner, one.metadata)
        add_node(draft, op, keys.nodes[one.key], place)
    names: set[EdgeName] = set()
    for place, edge in enumerate(document.edges):
        at = ("document", "edges", place)
        source, target = node(edge.source, (*at, "source")), node(edge.target, (*at, "target"))
        name = EdgeName(source, target, edge.edge_type)
        if source == target:
            raise SelfEdge(source, at)
        if name in names:
            raise DuplicateEdge(name, at)
        names.add(name)
        add_edge(draft, AddEdge(source, target, edge.edge_type, None, edge.mechanism, edge.confidence), place)
    for place, assumption in enumerate(document.assumptions):
        at = ("document", "assumptions", place)
        op_ = _assumption(assumption, node, names, at)
        add_assumption(draft, op_, keys.assumptions[assumption.key], place)
    for place, indicator in enumerate(document.indicators):
        on = node(indicator.node, ("document", "indicators", place, "node"))
        given = {name: getattr(indicator, name) for name in indicator.__struct_fields__ if name not in ("key", "node")}
        add_indicator(draft, AddIndicator(node=on, **given), keys.indicators[indicator.key], place)


def _assumption(
    one: AssumptionWritten, node: Callable[[str, ArgumentPath], str], names: set[EdgeName], at: ArgumentPath
) -> AddAssumption:
    """An assumption on what it is about here.

    Raises:
        Invalid: it is on both a node and an edge, or on nothing, or has no day as its day.
        NotFound: what it is on is not in the document.
    """
    if (one.node is None) == (one.source is None) or (one.source is None) != (one.target is None):
        raise invalid_argument(at, "must be on one thing: say node, or say source and target of an edge")
    if one.node is not None and one.edge_type is not None:
        raise invalid_argument((*at, "edge_type"), "is of an edge, and this is on a node; leave it out")
    added = AddAssumption(one.assumption_text, risk_level=one.risk_level, owner=one.owner)
    if one.review_by is not None:
        added.review_by = parse_day(one.review_by, (*at, "review_by"))
    if one.node is not None:
        added.node = node(one.node, (*at, "node"))
        return added
    source, target = node(str(one.source), (*at, "source")), node(str(one.target), (*at, "target"))
    name = EdgeName(source, target, one.edge_type or EdgeType.CONTRIBUTES_TO)
    added.source, added.target, added.edge_type = name
    if name not in names:
        raise NotFound("edge", str(name), hint="no edge of the document is this one", field=format_argument_path(at))
    return added


def _waive(
    tx: Transaction, row: VersionRow, written: list[WaiverWritten], keys: IncomingKeys
) -> tuple[int, list[SkippedItem]]:
    """Record the waivers that are not in force here yet, and tell which were left out.

    Raises:
        Invalid: one of them is malformed.
        NotWaivable: a check is to be waived that cannot be.
        NotFound: one is about what the document does not have.
    """
    if not written:
        return 0, []
    today = day_of(tx.now)
    content = read_content(tx, row.id)
    edges = {one.name for one in content.edges}
    there = {
        _identify_waiver(one, one.refs)
        for one in waivers_about(content, waivers_in_force(waivers(tx, NO_CUTOFF), today))
    }
    left_out: dict[str, list[str]] = {EXPIRED: [], ALREADY_IN_FORCE: []}
    wanted: list[WaiverWrite] = []
    for place, one in enumerate(written):
        at: ArgumentPath = ("document", "waivers", place)
        refuse_unwaivable(one.code, (*at, "code"))
        due = parse_day(one.due, (*at, "due"))
        refs = [_ref(ref, keys, edges, (*at, "refs", number)) for number, ref in enumerate(one.refs)]
        if due < today:
            left_out[EXPIRED].append(one.code)
        elif _identify_waiver(one, refs) in there:
            left_out[ALREADY_IN_FORCE].append(one.code)
        else:
            wanted.append(WaiverWrite(one.code, refs, one.reason, one.owner, due))
    record_waivers(tx, wanted, ("document", "waivers"))
    skipped = [SkippedItem("waiver", why, len(codes), codes[:EXAMPLES_MAX]) for why, codes in left_out.items() if codes]
    return len(wanted), skipped


def _identify_waiver(one: Waiver | WaiverWritten, refs: list[str]) -> tuple[str, tuple[str, ...], str, str, str]:
    """What makes two waivers the same."""
    return one.code, tuple(sorted(refs)), one.reason, one.owner, one.due


def _ref(ref: str, keys: IncomingKeys, edges: set[EdgeName], path: ArgumentPath) -> str:
    """What a waiver is about, by its key here: something that came in, or a fact.

    Raises:
        NotFound: it is neither.
    """
    if ref.startswith("/"):
        return ref
    edge = parse_edge_name(ref)
    if edge is not None:
        ends = keys.nodes.get(edge.source, ""), keys.nodes.get(edge.target, "")
        name = EdgeName(*ends, edge.edge_type)
        if name in edges:
            return str(name)
    for sort in (keys.nodes, keys.assumptions, keys.indicators):
        if ref in sort:
            return sort[ref]
    raise NotFound("key", ref, hint="a waiver of a document is about what is in it", field=format_argument_path(path))


IMPORT_WAIVERS = Operation(
    name="purpose.import_waivers",
    summary="Take a theory and its waivers in, as a new draft.",
    permission=Permission.PURPOSE_WAIVE,
    effect=Effect.WRITE,
    input=ImportPurpose,
    output=ImportedPurpose,
    handler=import_purpose,
    project=lambda _tx, request: request.project,
)

OPERATION = Operation(
    name="purpose.import",
    summary="Take a theory in, as a new draft: all of a document, or nothing. Waivers in it need the owner role.",
    permission=Permission.PURPOSE_WRITE,
    effect=Effect.WRITE,
    input=ImportPurpose,
    output=ImportedPurpose,
    handler=import_purpose,
    project=lambda _tx, request: request.project,
    variants=(IMPORT_WAIVERS,),
    choose_variant=lambda request: IMPORT_WAIVERS if request.document.waivers else None,
)
