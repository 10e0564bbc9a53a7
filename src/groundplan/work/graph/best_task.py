"""Read the best task of a project to show it to a person: what `work.next` answers, without what an answer needs.

It uses the statements and rules of `work.next`, and refuses whatever needs more than these.
"""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.sqlite.connection import NamedRow, QuickRead, Unusual
from groundplan.work.kinds import ROOT_N, rank
from groundplan.work.nodes import (
    ANCESTORS_MAX,
    DEPENDENCIES_MAX,
    EVIDENCE_MAX,
    add_claim_properties,
    add_hold_property,
    separate_surroundings,
)

TYPE_CHECKING = False  # as in typing, which takes longer to import than a short read of the plan
if TYPE_CHECKING:
    from typing import Any

sql = load_queries(__file__)


class BestNode:
    """The fields of a task that a person sees."""

    def __init__(self, row: NamedRow, properties: dict[str, Any], links: list[str], evidence: list[NamedRow]) -> None:
        self.id: str = row.id
        self.summary: str = row.summary
        self.properties = properties
        self.context_links = links
        self.evidence = evidence


class FinishedTask:
    """A resolved task that the best one waited for."""

    def __init__(self, row: NamedRow, evidence: list[NamedRow]) -> None:
        self.id: str = row.id
        self.summary: str = row.summary
        self.evidence = evidence


class BestTask:
    """A task to work on, with its ancestors, root first, and the tasks that it waited for."""

    def __init__(self, node: BestNode, ancestors: list[NamedRow], resolved_deps: list[FinishedTask]) -> None:
        self.node, self.ancestors, self.resolved_deps = node, ancestors, resolved_deps


def read_best_task(tx: QuickRead) -> BestTask:
    """Return the best task.

    Raises:
        Unusual: there is none, or more is to be said than its fields: a warning, or a value that is no text or number.
    """
    picked = sorted(tx.all(sql.next_nodes, at_most=1), key=rank)[:1]
    if not picked:
        raise Unusual("nothing to start")
    [row] = picked
    _refuse_overlaps(tx, row)
    properties: dict[str, Any] = _decode(row.properties) if row.properties != "{}" else {}
    add_claim_properties(properties, row, now=tx.now)
    add_hold_property(properties, row)
    if not all(map(_is_plain, properties.values())):
        raise Unusual("a nested value")
    links: list[str] = _decode(row.context_links) if row.context_links != "[]" else []
    above, done = _read_surroundings(tx, row)
    evidence = _read_evidence(tx, [row, *done] if row.evidence_total else done)
    node = BestNode(row, properties, links, evidence.get(row.n, []))
    return BestTask(node, above, [FinishedTask(one, evidence.get(one.n, [])) for one in done])


def _read_surroundings(tx: QuickRead, row: NamedRow) -> tuple[list[NamedRow], list[NamedRow]]:
    rows = tx.all(
        sql.surroundings,
        n=row.n,
        parent_n=row.parent_n,
        ancestors_max=ANCESTORS_MAX,
        dependencies_max=DEPENDENCIES_MAX + 1,
    )
    above, done = separate_surroundings(rows)
    if above[0].n != ROOT_N:
        above[:0] = tx.all(sql.root_with_links)
    return above, done[:DEPENDENCIES_MAX]


def _read_evidence(tx: QuickRead, rows: Iterable[NamedRow]) -> dict[int, list[NamedRow]]:
    """Return the evidence of those nodes that have some, by their numbers."""
    numbers = ",".join(str(row.n) for row in rows if row.evidence_total)
    if not numbers:
        return {}
    # Here, because few tasks have evidence.
    from groundplan.work import nodes

    found: dict[int, list[NamedRow]] = {}
    for one in tx.all(load_queries(str(nodes.__file__)).newest_evidence, ns=f"[{numbers}]", at_most=EVIDENCE_MAX):
        found.setdefault(one.node_n, []).append(one)
    return found


def _refuse_overlaps(tx: QuickRead, row: NamedRow) -> None:
    """Raise Unusual if the task may touch files that others work on, and the project wants to know."""
    policies = _decode(tx.project.policies) if tx.project.policies != "{}" else {}
    policy = policies.get("overlap", "warn")
    if policy == "off" or (policy == "warn" and row.others_work == 0):
        return
    if policy != "warn" or row.context_links != "[]":
        raise Unusual("files that others may work on")
    # Here, because it is rarely needed: others must be at work in the project.
    from groundplan.work import overlap

    if tx.all(load_queries(str(overlap.__file__)).context_files_of, ns=f"[{row.n}]"):
        raise Unusual("files that others may work on")


def _is_plain(value: object) -> bool:
    """Return whether a value is shown without encoding it."""
    if isinstance(value, list):
        return all(isinstance(one, str | int | float) for one in value)
    return not isinstance(value, dict)


class _ScannerSettings:
    """The settings that the scanner of the standard library reads. Stored JSON has no NaN and no infinite numbers."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    memo: dict[str, str] = {}  # noqa: RUF012 - one process decodes a few texts

    @staticmethod
    def parse_constant(name: str) -> Any:
        raise Unusual(name)


def _decode(text: str) -> Any:
    """Return the value of stored JSON."""
    from _json import make_scanner  # the C part of json, whose other parts import re

    scan = make_scanner(_ScannerSettings)  # type: ignore[arg-type] # it reads the attributes of any object
    value, end = scan(text, 0)
    if end != len(text):
        raise Unusual("more than one value")
    return value
