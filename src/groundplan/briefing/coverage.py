"""Gaps: purpose without work, work without purpose or evidence, facts without value, files without knowledge.

They are computed from the stored rows at each call.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.context.resolve import find_context_in_force
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.paths.names import parse_paths, replace_patterns, split_path
from groundplan.knowledge.patterns import TooCostly, match_atoms
from groundplan.purpose.graph.graph import build_causal_graph, find_reachable_from
from groundplan.purpose.in_force import read_purpose_in_force
from groundplan.purpose.model import LEVELS, sort_keys
from groundplan.purpose.observing.read import read_latest_observations
from groundplan.work.links import load_serving_links
from groundplan.work.tracing import (
    count_subtrees,
    find_open_leaves_outside,
    find_resolved_without_evidence,
    list_recent_files,
)

LIST_MAX = 100  # entries of each list; the counts are exact
PATHS_MAX = 2_000  # of recent work, so that matching stays fast
LISTS = (
    "unserved",
    "serving_nothing",
    "without_evidence",
    "resolved_without_evidence",
    "required_unset",
    "uncovered_files",
)


class ReadCoverage(Struct, forbid_unknown_fields=True):
    """The project."""

    project: Name


class CoverageCounts(Struct):
    """The number of entries of each list, including those that are left out."""

    unserved: int
    serving_nothing: int
    without_evidence: int
    resolved_without_evidence: int
    required_unset: int
    uncovered_files: int


class Coverage(Struct, kw_only=True):
    """The gaps of a project."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(LISTS))

    version: int | UnsetType = UNSET  # of the purpose
    unserved: list[str]  # purpose nodes that no work serves, neither directly nor through a cause; activities first
    serving_nothing: list[str]  # open work nodes without open children
    without_evidence: list[str]  # indicators without a measurement
    resolved_without_evidence: list[str]  # resolved work nodes without children
    required_unset: list[str]  # required facts without a value, in the run in force
    uncovered_files: list[str]  # files and folders of recent work that no atom covers; a folder ends with `/`
    counts: CoverageCounts
    left_out: LeftOut = UNSET


class _PurposeGaps(NamedTuple):
    version: int | UnsetType
    unserved: list[str]
    unmeasured: list[str]


class _FileGaps(NamedTuple):
    uncovered: list[str]
    unchecked: int  # files beyond the limit


def find_gaps(tx: Transaction, _request: ReadCoverage) -> Coverage:
    """Return the gaps of the current project.

    Raises:
        ContentAltered: the content of the published version does not match its hash.
    """
    links = load_serving_links(tx)
    purpose = _find_purpose_gaps(tx, links.served)
    facts = find_context_in_force(tx)
    files = _find_uncovered_files(tx)
    lists = {
        "unserved": purpose.unserved,
        "serving_nothing": find_open_leaves_outside(tx, links.keys),
        "without_evidence": purpose.unmeasured,
        "resolved_without_evidence": find_resolved_without_evidence(tx),
        "required_unset": [] if facts is None else facts.required_unset,
        "uncovered_files": files.uncovered,
    }
    left_out = {name: len(entries) - LIST_MAX for name, entries in lists.items() if len(entries) > LIST_MAX}
    if files.unchecked:
        left_out["unchecked_files"] = files.unchecked
    return Coverage(
        version=purpose.version,
        counts=CoverageCounts(**{name: len(entries) for name, entries in lists.items()}),
        left_out=left_out or UNSET,
        **{name: entries[:LIST_MAX] for name, entries in lists.items()},
    )


def _find_purpose_gaps(tx: Transaction, served: set[str]) -> _PurposeGaps:
    """Return the purpose nodes that no work serves, and the indicators without a measurement."""
    purpose = read_purpose_in_force(tx)
    if purpose is None:
        return _PurposeGaps(UNSET, [], [])
    content = purpose.content
    causal = build_causal_graph(content)
    numbers = causal.graph.numbers
    reached = find_reachable_from(causal.graph, [numbers[key] for key in served if key in numbers])
    unserved = [node for number, node in enumerate(causal.nodes) if number not in reached]
    unserved.sort(key=lambda node: LEVELS[node.node_type])  # stable: by key within a type
    measured = read_latest_observations(tx, content).get_latest_measurements()
    return _PurposeGaps(
        purpose.version.number,
        [node.key for node in unserved],
        [key for key in content.indicators if key not in measured],
    )


def _find_uncovered_files(tx: Transaction) -> _FileGaps:
    """Return the files and folders of recent work that no atom covers."""
    named = parse_paths(replace_patterns(list_recent_files(tx)), tx.preferences.working_copy)
    paths = {path: is_folder for path, is_folder in sorted(named.items()) if split_path(path)}
    checked = dict(list(paths.items())[:PATHS_MAX])
    try:
        matches = match_atoms(tx, checked)
    except TooCostly:
        return _FileGaps([], len(paths))
    uncovered = [f"{path}/" if checked[path] else path for path, atoms in matches.items() if not atoms]
    return _FileGaps(uncovered, len(paths) - len(checked))


COVERAGE = declare(
    find_gaps,
    name="briefing.coverage",
    summary="Gaps: purpose without work, work without purpose or evidence, unset facts, files without knowledge.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    tool=Tool("coverage", Group.BRIEFING),
    http=Route("GET", "/projects/{project}/coverage"),
)


# --- Count the work that serves each purpose node, and how much of it is resolved -------------------------------------


class CountServingWork(Struct, forbid_unknown_fields=True):
    """The project."""

    project: Name


class ServedNode(Struct):
    """The work that serves a purpose node: tasks and what is within them. Dropped work does not count."""

    key: str
    total: int
    resolved: int


class ServingWork(Struct):
    """The purpose nodes that work serves through its own links, by key."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("served",)))

    served: list[ServedNode]
    left_out: LeftOut = UNSET


def count_serving_work(tx: Transaction, _request: CountServingWork) -> ServingWork:
    """Return the counts of the work that serves each purpose node of the current project."""
    links = load_serving_links(tx)
    # A node that has links of its own does not inherit those of its ancestors.
    counts = count_subtrees(tx, links.keys, links.keys)
    served: dict[str, ServedNode] = {}
    for n, keys in links.keys.items():
        for key in keys:
            node = served.setdefault(key, ServedNode(key, 0, 0))
            node.total += counts[n].total - counts[n].dropped
            node.resolved += counts[n].resolved
    return ServingWork([served[key] for key in sort_keys(served) if served[key].total])


SERVING_WORK = declare(
    count_serving_work,
    name="briefing.serving",
    summary="How much work serves each purpose node, and how much of it is resolved.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/serving"),
)
