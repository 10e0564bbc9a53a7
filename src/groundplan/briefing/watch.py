"""Watch the assumptions and facts of the plan: marks of those in doubt or changed, and the items that depend on them.

Marks are computed from reviews, evidence, facts, links and decisions, and never stored. An assumption is in doubt as
`purpose/observing/records.py` says. A fact has changed if its value differs from the one that was in force when a node
was linked to it, or later, when a decision was recorded about the fact or about that node. So a decision clears a mark,
until something newer happens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from groundplan.context.history import ChangedFact, FactSince, find_changed_facts
from groundplan.kernel.links import Link, LinkType, list_links_from, list_links_of_type
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import MarkedWork, MarkedWorkPage, MarkLines
from groundplan.purpose.analysis import Dependents, Place, find_steps, get_place, trace_assumption, trace_node
from groundplan.purpose.graph.graph import CausalGraph, build_causal_graph
from groundplan.purpose.graph.paths import GAP, GoalSteps
from groundplan.purpose.in_force import load_chains_in_force, read_content_in_force
from groundplan.purpose.model import edge_order, parse_edge_name, sort_keys
from groundplan.purpose.observing.read import (
    NO_CUTOFF,
    list_assumptions_in_doubt,
    read_decisions,
    read_latest_reviews,
)
from groundplan.purpose.observing.records import DoubtStatus, Observations, find_doubts
from groundplan.work.links import count_nodes, find_open_inheriting, get_ids

# What is said of an assumption or a fact, by its status: the same words everywhere.
PREDICATES = {
    "refuted": "is refuted",
    "refuting_evidence": "is refuted",
    "at_risk": "is at risk",
    "changed": "is changed",
    "removed": "is removed",
}


class MarkOutline(NamedTuple):
    """A mark without the list of its dependents."""

    kind: Literal["assumption", "fact"]
    ref: str
    status: str
    since: str
    text: str | None
    path: list[str]


class WatchMark(Struct, kw_only=True):
    """An assumption in doubt or a changed fact, with all items that depend on it.

    `purpose` and `edges` are its effects. `work` lists some ids of open work for these and for its causes, `work_total`
    counts all, and `work_paths` has the path from each listed node to the assumption or the fact.
    """

    kind: Literal["assumption", "fact"]
    ref: str  # the key of the assumption, or the pointer of the fact
    status: str  # as in DoubtStatus or FactStatus
    rev: int  # the revision of the project that made the mark
    since: str  # its time
    text: str | None = None  # the text of the assumption
    purpose: list[str]
    edges: list[str]
    path: list[str]  # from the assumption or the fact to a goal
    work: list[str] = []
    work_total: int = 0
    work_paths: dict[str, list[str]] = {}

    @property
    def word(self) -> str:
        """The status as a review says it: an assumption that evidence refutes is `refuted`."""
        return "refuted" if self.status == "refuting_evidence" else self.status


# --- What makes marks: assumptions in doubt and changed facts ---------------------------------------------------------

NO_LIMIT = 2**53


class FactStatus(StrEnum):
    """The status of a changed fact that has a mark."""

    CHANGED = "changed"
    REMOVED = "removed"


class Cause(NamedTuple):
    """An assumption in doubt, or a changed fact with the links of the nodes that rest on its former value."""

    kind: Literal["assumption", "fact"]
    ref: str
    status: DoubtStatus | FactStatus
    rev: int
    at: str
    links: list[Link]
    before: dict[str, Any]  # the former values of the fact, by the node that rests on it

    @property
    def word(self) -> str:
        """The status as a review says it: an assumption that evidence refutes is `refuted`."""
        return DoubtStatus.REFUTED if self.status is DoubtStatus.REFUTING_EVIDENCE else self.status


def find_causes(tx: Transaction, resting: Iterable[str] | None = None) -> list[Cause]:
    """Return the causes of marks in the current project, the latest first.

    With `resting`, only the facts on which these nodes rest are looked at.
    """
    reviewed = list_assumptions_in_doubt(tx)
    refutes = list_links_of_type(tx, LinkType.REFUTES, at_most=NO_LIMIT)
    if resting is None:
        rests_on = list_links_of_type(tx, LinkType.RESTS_ON, at_most=NO_LIMIT)
    else:
        rests_on = [link for link in list_links_from(tx, resting) if link.type is LinkType.RESTS_ON]
    if not reviewed and not refutes and not rests_on:
        return []
    reviews = read_latest_reviews(tx, sorted({*reviewed, *(link.target for link in refutes)}))
    observations = Observations([], list(reviews.values()), [], read_decisions(tx, NO_CUTOFF))
    causes = [*_list_doubt_causes(observations, refutes), *_list_fact_causes(tx, observations, rests_on)]
    return sorted(causes, key=lambda cause: (-cause.rev, cause.kind, cause.ref))


def _list_doubt_causes(observations: Observations, refutes: Iterable[Link]) -> Iterable[Cause]:
    latest: dict[str, Link] = {}
    for link in refutes:
        if link.target not in latest or link.rev > latest[link.target].rev:
            latest[link.target] = link
    reviewed_at = {review.assumption: review.recorded_at for review in observations.reviews}
    for key, doubt in find_doubts(observations, {key: link.rev for key, link in latest.items()}).items():
        at = latest[key].created_at if doubt.status is DoubtStatus.REFUTING_EVIDENCE else reviewed_at[key]
        yield Cause("assumption", key, doubt.status, doubt.rev, at, [], {})


def _list_fact_causes(tx: Transaction, observations: Observations, rests_on: list[Link]) -> Iterable[Cause]:
    decided = observations.get_decided_revs()
    facts = [
        FactSince(link.target, max(link.rev, decided.get(link.target, 0), decided.get(link.source, 0)))
        for link in rests_on
    ]
    changes = find_changed_facts(tx, set(facts))
    changed: dict[str, list[tuple[ChangedFact, Link]]] = {}
    for fact, link in zip(facts, rests_on, strict=True):
        if fact in changes:
            changed.setdefault(fact.pointer, []).append((changes[fact], link))
    for pointer, changes_with_links in changed.items():
        first = min((change for change, _ in changes_with_links), key=lambda change: change.rev)
        status = FactStatus.REMOVED if first.is_removed else FactStatus.CHANGED
        before = {link.source: change.before for change, link in changes_with_links}
        yield Cause("fact", pointer, status, first.rev, first.at, [link for _, link in changes_with_links], before)


# --- Find what is marked: computed from reviews, evidence, facts, links and decisions, never stored -------------------

KEYS_NAMED_MAX = 3
NODES_READ_MAX = 2_000  # nodes of a project of which onboarding reads the tree to name work


def load_marks(tx: Transaction, *, with_work: bool | None, at_most: int) -> tuple[list[WatchMark], int]:
    """Return the latest marks of the current project, and the number of other marks.

    Without work the time does not depend on the number of work nodes. None stands for True in a small project.
    """
    causes = find_causes(tx)
    if not causes:
        return [], 0
    if with_work is None:
        with_work = count_nodes(tx) <= NODES_READ_MAX
    return trace_marks(tx, causes, with_work=with_work, at_most=at_most)


def list_marks_since(tx: Transaction, *, since: str, at_most: int) -> list[MarkOutline]:
    """Return outlines of the marks that were made at `since` or later, oldest first."""
    causes = [cause for cause in find_causes(tx) if cause.at >= since]
    if not causes:
        return []
    return outline_marks(tx, sorted(causes, key=lambda cause: cause.at), at_most=at_most)


def describe_marks(tx: Transaction, at_most: int) -> MarkLines:
    """Return a line for each of the latest marks, and the number of other marks. Small projects list work in it."""
    marks, left_out = load_marks(tx, with_work=None, at_most=at_most)
    return MarkLines([_describe(mark) for mark in marks], left_out)


def find_marked_work(tx: Transaction, at_most: int) -> MarkedWorkPage:
    """Return the latest marks with the open work that each affects, and the number of other marks."""
    marks, left_out = load_marks(tx, with_work=True, at_most=at_most)
    return MarkedWorkPage(
        [MarkedWork(mark.ref, mark.word, mark.path, list(mark.work_paths.items()), mark.work_total) for mark in marks],
        left_out,
    )


def _describe(mark: WatchMark) -> str:
    """Return a line with the ref, the status, the first dependent keys and work, and the text at the end."""
    affected = f", affects {_join_names(mark.purpose, len(mark.purpose))}" if mark.purpose else ""
    work = f", open work {_join_names(mark.work, mark.work_total)}" if mark.work else ""
    text = "" if mark.text is None else f": {mark.text}"
    return f"{mark.ref} {PREDICATES[mark.status]}{affected}{work}{text}"


def _join_names(names: list[str], total: int) -> str:
    more = total - KEYS_NAMED_MAX
    return ", ".join(names[:KEYS_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


# --- The marks that touch one task: two searches from what it serves find those of all causes -------------------------


class TaskMark(NamedTuple):
    """A mark that affects a task, and the path to it from a node that the task serves or that rests on the fact."""

    kind: Literal["assumption", "fact"]
    ref: str
    word: str
    path: list[str]
    before: dict[str, Any]  # the former values of a fact, by the node that rests on it


def list_task_marks(
    tx: Transaction, served: Sequence[str], resting: str | None, steps: Sequence[str]
) -> list[TaskMark]:
    """Return the marks of a task, the latest first.

    `served` are the purpose keys that the task serves, `resting` is the node whose facts it rests on, and `steps` are
    the purpose keys whose facts matter to it. Facts of other nodes are not read, because a project may have many.
    """
    causes = find_causes(tx, [*([] if resting is None else [resting]), *steps])
    return _trace_task_marks(tx, causes, served, resting) if causes else []


def _trace_task_marks(
    tx: Transaction, causes: list[Cause], served: Collection[str], resting: str | None
) -> list[TaskMark]:
    chains, _ = load_chains_in_force(tx)
    places: dict[str, Place] = {}
    ahead: dict[str, str | None] = {}
    back: dict[str, str | None] = {}
    if chains is not None:
        for several in (*chains.node_assumptions.values(), *chains.edge_assumptions.values()):
            places |= {assumption.key: get_place(chains.causal, assumption) for assumption in several}
        ahead, back = find_steps(chains.causal, served)
    task_marks = []
    for cause in causes:
        if cause.kind == "assumption":
            wanted = [places[cause.ref]] if cause.ref in places else []
        else:
            wanted = [Place(link.source, link.source) for link in cause.links if link.node_n is None]
        path = next((way for place in wanted if (way := _find_way(place.on, place.behind, ahead, back))), [])
        if cause.kind == "fact" and resting is not None and resting in cause.before:
            path = [resting]
        if path:
            task_marks.append(
                TaskMark(cause.kind, cause.ref, cause.word, shorten_path([*path, cause.ref]), cause.before)
            )
    return task_marks


def _find_way(
    on: str | None, behind: str | None, ahead: dict[str, str | None], back: dict[str, str | None]
) -> list[str]:
    """Return the keys on the way from a served node to a place; an empty list if the two are not connected."""
    key, steps = (behind, ahead) if behind in ahead else (on, back)
    if key is None or key not in steps:
        return []
    way = [key]
    while (step := steps[way[-1]]) is not None:
        way.append(step)
    return way[::-1]


# --- Trace what depends on assumptions in doubt and on changed facts --------------------------------------------------

PATH_MAX = 40  # entries of a path; the middle of a longer one is left out
WORK_LISTED_MAX = 20  # work nodes listed in one mark


class TracedMark(NamedTuple):
    """A mark with its dependents in the theory, and the links by which work rests on its fact."""

    mark: WatchMark
    dependents: list[Dependents]
    links: list[Link]


def trace_marks(
    tx: Transaction, causes: Iterable[Cause], *, with_work: bool, at_most: int
) -> tuple[list[WatchMark], int]:
    """Return the marks of some causes in the version in force, and the number of other causes.

    An assumption that this version does not have makes no mark.
    """
    content = read_content_in_force(tx)
    causal = build_causal_graph(content)
    known = [cause for cause in causes if cause.kind == "fact" or cause.ref in content.assumptions]
    steps = GoalSteps(causal, PATH_MAX)
    traced = [_trace_mark(causal, steps, cause) for cause in known[:at_most]]
    if with_work and traced:
        _add_work(tx, traced)
    return [trace.mark for trace in traced], len(known) - len(traced)


def outline_marks(tx: Transaction, causes: Iterable[Cause], *, at_most: int) -> list[MarkOutline]:
    """Return the first marks of some causes, each with its path to a goal. A single search finds all paths."""
    content = read_content_in_force(tx)
    known = [cause for cause in causes if cause.kind == "fact" or cause.ref in content.assumptions][:at_most]
    causal = build_causal_graph(content)
    steps = GoalSteps(causal, PATH_MAX)
    return [
        MarkOutline(
            kind=cause.kind,
            ref=cause.ref,
            status=cause.status,
            since=cause.at,
            text=content.assumptions[cause.ref].assumption_text if cause.kind == "assumption" else None,
            path=_find_path(causal, steps, cause),
        )
        for cause in known
    ]


def list_places(causal: CausalGraph, cause: Cause) -> list[Place]:
    """Return the places in the theory that a cause affects."""
    content = causal.content
    if cause.kind == "assumption":
        return [get_place(causal, content.assumptions[cause.ref])] if cause.ref in content.assumptions else []
    keys = {link.source for link in cause.links if link.node_n is None and link.source in content.nodes}
    return [Place(key, key) for key in sort_keys(keys)]


def _find_path(causal: CausalGraph, steps: GoalSteps, cause: Cause) -> list[str]:
    """Return the shortest path from a cause to a goal."""
    paths = [path for place in list_places(causal, cause) if len(path := steps.find_path(cause.ref, place.on)) > 1]
    return min(paths, key=len, default=[cause.ref])


def _trace_mark(causal: CausalGraph, steps: GoalSteps, cause: Cause) -> TracedMark:
    text = None
    if cause.kind == "assumption":
        assumption = causal.content.assumptions[cause.ref]
        text, dependents = assumption.assumption_text, [trace_assumption(causal, assumption)]
    else:
        dependents = [trace_node(causal, place.on) for place in list_places(causal, cause) if place.on is not None]
    edges = {name for dependent in dependents for name in map(parse_edge_name, dependent.edges) if name is not None}
    mark = WatchMark(
        kind=cause.kind,
        ref=cause.ref,
        status=cause.status,
        rev=cause.rev,
        since=cause.at,
        text=text,
        purpose=sort_keys({key for dependent in dependents for key in dependent.nodes}),
        edges=[str(name) for name in sorted(edges, key=edge_order)],
        path=_find_path(causal, steps, cause),
    )
    return TracedMark(mark, dependents, [link for link in cause.links if link.node_n is not None])


def _add_work(tx: Transaction, traced: list[TracedMark]) -> None:
    """Add the open work to each mark: the nodes that serve a dependent, and the nodes that rest on the changed fact."""
    serves = list_links_of_type(tx, LinkType.SERVES, at_most=NO_LIMIT)
    served: dict[int, list[str]] = {}
    for link in serves:
        if link.node_n is not None:
            served.setdefault(link.node_n, []).append(link.target)
    keys = [_find_touching(trace.dependents, served) for trace in traced]
    serving = _find_inheriting(tx, {n for touching in keys for n in touching}, serves)
    resting_ns = {link.node_n for trace in traced for link in trace.links if link.node_n is not None}
    rests_on = list_links_of_type(tx, LinkType.RESTS_ON, at_most=NO_LIMIT) if resting_ns else []
    resting = _find_inheriting(tx, resting_ns, rests_on)
    listed: list[dict[int, tuple[int, list[str]]]] = []
    for trace, touching in zip(traced, keys, strict=True):
        by_fact = {n: link.node_n for link in trace.links if link.node_n is not None for n in resting[link.node_n]}
        # No node has the links of two others, so what serves is counted without being put together.
        trace.mark.work_total = sum(len(serving[source]) for source in touching) + len(
            by_fact.keys() - {n for source in touching for n in serving[source]} if by_fact else ()
        )
        first = {n: source for source in touching for n in serving[source][:WORK_LISTED_MAX]}
        listed.append(
            {
                n: (by_fact[n], []) if n in by_fact else (first[n], touching[first[n]].find_way())
                for n in sorted({*first, *by_fact})[:WORK_LISTED_MAX]
            }
        )
    ids = get_ids(tx, {n for sources in listed for node, (source, _) in sources.items() for n in (node, source)})
    for trace, sources in zip(traced, listed, strict=True):
        trace.mark.work = [ids[n] for n in sources]
        trace.mark.work_paths = {
            ids[n]: shorten_path([*dict.fromkeys((ids[n], ids[source])), *way, trace.mark.ref])
            for n, (source, way) in sources.items()
        }


class _TouchedKey(NamedTuple):
    """A purpose key that depends on the cause of a mark."""

    key: str
    dependents: Dependents

    def find_way(self) -> list[str]:
        return self.dependents.find_way(self.key)


def _find_touching(dependents: list[Dependents], served: dict[int, list[str]]) -> dict[int, _TouchedKey]:
    """Return the work nodes that serve a dependent of a mark, each with the key of that dependent."""
    connected: dict[str, _TouchedKey] = {}
    for dependent in dependents:
        for key in (*dependent.after, *dependent.before):
            connected.setdefault(key, _TouchedKey(key, dependent))
    nodes = {n: next((connected[key] for key in keys if key in connected), None) for n, keys in served.items()}
    return {n: touching for n, touching in nodes.items() if touching is not None}


def _find_inheriting(tx: Transaction, sources: set[int], links: list[Link]) -> dict[int, list[int]]:
    return find_open_inheriting(tx, sources, links) if sources else {}


def shorten_path(path: list[str]) -> list[str]:
    """Return a path; the middle of a long one is left out."""
    half = PATH_MAX // 2
    return path if len(path) <= PATH_MAX else [*path[:half], GAP, *path[-half:]]
