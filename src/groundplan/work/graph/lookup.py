"""Look up nodes by id, by the beginning of an id, or by title.

Programs send whole ids, or beginnings of at least 4 characters, which every operation takes. People type less, so the
command line looks up what they typed, and then sends whole ids.
"""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import UNSET, Meta, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.ids import ALPHABET
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.authorize import find_visible_project_ids
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph.outline import OutlineNode, OutlineRow, load_rows, to_outline_node
from groundplan.work.graph.search import ORDERS, Filter, Sort, build_search, fetch_page
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import load_tags
from groundplan.work.refs import (
    AmbiguousNode,
    NodeLocation,
    find_node_or_none,
    find_nodes_by_prefix,
    missing_node,
    node_elsewhere,
)
from groundplan.work.requests import Summary

REFS_MAX = 100
PREFIX_CHARS_MIN = 3
CANDIDATES_MAX = 50
NAMED_MAX = 5  # titles in an error
BEGINNING_CHARS_MAX = 32
# How people write an id: with a sign, in capitals, or whole after a word, as in the message of a commit.
NAMED_ID = re.compile(rf"(?:#|.*-(?=[{ALPHABET}]{{6,}}$))?([{ALPHABET}]{{{PREFIX_CHARS_MIN},}})")


class Lookup(Struct, forbid_unknown_fields=True):
    """The typed texts for some nodes, or the beginning of the ids to list."""

    project: Name
    refs: Annotated[list[Summary], Meta(max_length=REFS_MAX)] = []
    beginning: Annotated[str, Meta(max_length=BEGINNING_CHARS_MAX)] | None = None

    def __post_init__(self) -> None:
        if bool(self.refs) == (self.beginning is not None):
            raise ValueError("send either refs or beginning")


class LookedUp(Struct):
    """The nodes, in the order of the refs."""

    nodes: list[OutlineNode]


class AmbiguousTitle(Invalid):
    """The text fits the titles of several nodes, or of none."""

    code = "ambiguous_title"

    def __init__(self, ref: str, rows: list[OutlineRow], *, problem: str) -> None:
        named = ", ".join(f"{row.id} {row.summary!r}" for row in rows[:NAMED_MAX])
        more = ", …" if len(rows) > NAMED_MAX else ""
        super().__init__(
            f"{problem} {ref!r}: {named}{more}; name one by its id", ref=ref, near=[row.id for row in rows[:NAMED_MAX]]
        )


def look_up(tx: Transaction, request: Lookup) -> LookedUp:
    """Return the node for each ref, or the nodes whose ids begin with a text.

    Raises:
        NotFound: a ref names none.
        AmbiguousNode: several ids begin with a ref.
        AmbiguousTitle: no title is or begins with a ref alone.
        MixedProjects: the node is in another project.
    """
    if request.beginning is not None:
        ns = _list_beginning(tx, request.beginning)
    else:
        ns = [_look_up_one(tx, ref) for ref in request.refs]
    tags = load_tags(tx, ns)
    nodes = [to_outline_node(tx, row) for row in load_rows(tx, ns)]
    for n, node in zip(ns, nodes, strict=True):
        node.tags = tags.get(n, UNSET)
    return LookedUp(nodes)


def _list_beginning(tx: Transaction, beginning: str) -> list[int]:
    this_project = frozenset({tx.project.id})
    return [node.n for node in find_nodes_by_prefix(tx, beginning, this_project, at_most=CANDIDATES_MAX)]


def _look_up_one(tx: Transaction, ref: str) -> int:
    """Return the number of the node for a ref."""
    location = _find_by_id(tx, ref)
    if location is not None and location.project_id == tx.project.id:
        return location.n
    row = _find_by_title(tx, ref)
    if row is not None:
        return row.n
    named = NAMED_ID.fullmatch(ref.casefold())
    if location is None and named is not None and named[1] != ref:
        location = _find_by_id(tx, named[1])
        if location is not None and location.project_id == tx.project.id:
            return location.n
    if len(ref) < PREFIX_CHARS_MIN:
        raise NotFound("node", ref, hint=f"give the first {PREFIX_CHARS_MIN} characters of an id or a title")
    raise missing_node(tx, ref) if location is None else node_elsewhere(location, tx.project.id, beside=None)


def _find_by_title(tx: Transaction, ref: str) -> OutlineRow | None:
    """Return the only node with this title, else the only one whose title begins with it. Open ones take precedence."""
    rows = _list_with_text(tx, ref)
    key = ref.casefold()
    equal = [row for row in rows if row.summary.casefold() == key]
    beginning = [row for row in rows if row.summary.casefold().startswith(key)] if len(ref) >= PREFIX_CHARS_MIN else []
    for matches, problem in ((equal, "several nodes have the title"), (beginning, "several titles begin with")):
        open_ones = [row for row in matches if not row.resolved] or matches
        if len(open_ones) == 1:
            return open_ones[0]
        if open_ones:
            raise AmbiguousTitle(ref, open_ones, problem=problem)
    if rows:
        too_short = f"an id or a title needs its first {PREFIX_CHARS_MIN} characters, not"
        raise AmbiguousTitle(ref, rows, problem="no title begins with" if len(ref) >= PREFIX_CHARS_MIN else too_short)
    return None


def _list_with_text(tx: Transaction, text: str) -> list[OutlineRow]:
    search = build_search(tx, Filter(text=text))
    order = ORDERS[Sort.READINESS]
    ns, _ = fetch_page(tx, search, Sort.READINESS, order.start, at_most=CANDIDATES_MAX)
    return [row for row in load_rows(tx, ns) if row.n != ROOT_N]


def _find_by_id(tx: Transaction, ref: str) -> NodeLocation | None:
    """Return the node with this id or beginning of an id. Of several, the only one of this project is returned."""
    try:
        location = find_node_or_none(tx, ref)
    except AmbiguousNode:
        location = None
    if location is not None or not PREFIX_CHARS_MIN <= len(ref) <= BEGINNING_CHARS_MAX:
        return location
    matches = find_nodes_by_prefix(tx, ref, find_visible_project_ids(tx), at_most=CANDIDATES_MAX)
    candidates = [node for node in matches if node.project_id == tx.project.id] or matches
    if len(candidates) > 1:
        raise AmbiguousNode(ref, [node.id for node in candidates[:NAMED_MAX]])
    return candidates[0] if candidates else None


OPERATION = declare(
    look_up,
    name="work.lookup",
    summary="The nodes that a person means by ids, beginnings of ids or titles.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/work/lookup"),
)
