"""A random project with nodes of every kind, and a slow reference implementation of queries."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from random import Random
from typing import Any

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.errors import RuleViolated
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock

KEYS = ("area", "size", 'we"ird.k%e_y', "$[0]", "ключ")
VALUES: tuple[Any, ...] = (
    "ui",
    "1",
    "",
    'quo"te',
    "%",
    1,
    1.0,
    0,
    -2.5,
    1e300,
    True,
    False,
    [1, 2],
    [],
    {"a": {"b": 1}, "c": [1]},
    {"c": [1.0], "a": {"b": 1}},
    {"area": "ui"},
)
WORDS = ("Login", "login page", "100%", "a_b", "Ünïcode", "ÜNÏCODE", "schema", "x", "日本語テキスト")
EVIDENCE = ("git", "test", "note")
DROPPED = 4  # nodes


@dataclass(frozen=True)
class NodeRow:
    """A node as stored in the tables."""

    n: int
    id: str
    parent_n: int | None
    summary: str
    resolved: bool
    outcome: str | None
    depth: int
    properties: dict[str, Any]
    claimed_by: str | None  # None if the claim has expired
    changed_rev: int
    evidence: frozenset[str]
    waits_for: frozenset[int]


def _waits(waiting: int, other: int, before: Mapping[int, Collection[int]]) -> bool:
    """Return whether a node waits for another one, directly or not."""
    return waiting == other or any(_waits(one, other, before) for one in before.get(waiting, ()))


class RandomProject:
    """A random tree of nodes with dependencies: some resolved, some claimed, some with expired claims."""

    def __init__(self, engine: Engine, random: Random, clock: ManualClock, ids: list[str]) -> None:
        self.engine = engine
        self.random = random
        self.clock = clock
        self.ids = ids
        self.store = engine.store_with_clock(clock)
        self.ada = Session(self.store, local_actor("ada"))
        self.ben, self.cleo = (Session(self.store, local_actor(name, kind=ActorKind.AGENT)) for name in ("ben", "cleo"))

    def fill(self, nodes: int) -> None:
        """Create the project and a neighbour project."""
        self.ada.call("project.create", name="neighbour")
        self.ada.call("work.plan", project="neighbour", nodes=[{"ref": "a", "summary": "login page"}])
        self.ada.call("project.create", name="atlas")
        self._plan(nodes)
        self._change_nodes()

    def _plan(self, count: int) -> None:
        parents: dict[int, int] = {}
        before: dict[int, set[int]] = {}  # for each node: its children and what it depends on
        nodes: list[dict[str, Any]] = []
        for number in range(count):
            if number and self.random.random() < 0.8:
                parents[number] = self.random.randrange(max(0, number - 12), number)
                before[parents[number]].add(number)
            targets = {self.random.randrange(number) for _ in range(self.random.choice((0, 0, 1, 2))) if number}
            targets = {target for target in targets if not _waits(target, number, before)}
            before[number] = targets
            nodes.append(
                {
                    "ref": str(number),
                    "parent_ref": str(parents[number]) if number in parents else None,
                    "summary": " ".join(self.random.choices(WORDS, k=3)),
                    "properties": self.random_properties(),
                    "depends_on": [str(target) for target in targets],
                }
            )
        self.ids = [one.id for one in self.ada.call("work.plan", project="atlas", nodes=nodes).created]

    def _change_nodes(self) -> None:
        """Claim and update random nodes, at several times."""
        self.ben.call("work.claim", project="atlas", count=4, claim=True)
        self.clock.move(hours=2)
        for node_id in self.random.sample(self.ids, 30):
            self.clock.move(milliseconds=self.random.choice((0, 0, 1, 60_000)))
            evidence = [{"type": type_, "ref": "…"} for type_ in self.random.sample(EVIDENCE, self.random.randrange(3))]
            change: dict[str, Any] = {"node_id": node_id, "add_evidence": evidence, "state": {"at": node_id}}
            with contextlib.suppress(RuleViolated):  # a node with open children stays open
                self.ada.call("work.update", updates=[change | {"resolved": self.random.random() < 0.6}])
        self.cleo.call("work.claim", project="atlas", count=2, claim=True)
        held = self.ada.call("work.claim", project="atlas", count=2, claim=True).nodes
        self.ada.call("work.update", updates=[{"node_id": one.node.id, "hold": True} for one in held])
        self.clock.move(minutes=59)
        self.ben.call("work.claim", project="atlas", count=2, claim=True)
        self.clock.move(minutes=2)  # Cleo's claims have expired
        unclaimed = self.ada.call("work.query", project="atlas", filter={"is_leaf": True, "claimed_by": None}).nodes
        for node in [node for node in unclaimed if not node.resolved][:DROPPED]:
            drop = {"op": "drop", "node_id": node.id, "reason": "no longer needed"}
            self.ada.call("work.restructure", operations=[drop])

    def random_properties(self) -> dict[str, Any]:
        return {key: self.random.choice(VALUES) for key in self.random.sample(KEYS, self.random.randrange(4))} | (
            {"priority": self.random.choice((1, 2, 2.0, -1, "high"))} if self.random.random() < 0.5 else {}
        )

    def nodes(self) -> list[NodeRow]:
        """Return every node of the project, read from the tables."""
        where = "project_id = (SELECT id FROM projects WHERE name = 'atlas')"
        now = format_timestamp(self.clock())
        evidence = self.engine.as_owner(f"SELECT node_n, type FROM work_evidence WHERE {where}")
        edges = self.engine.as_owner(f"SELECT from_n, to_n FROM work_edges WHERE {where} AND type = 'depends_on'")
        rows = self.engine.as_owner(
            "SELECT n, id, parent_n, summary, resolved, outcome, depth, properties, claimed_by, claimed_until, "
            f"changed_rev FROM work_nodes WHERE {where}"
        )
        return [
            NodeRow(
                n,
                id_,
                parent_n,
                summary,
                bool(resolved),
                outcome,
                depth,
                json.loads(properties),
                claimed_by if until is None or until > now else None,
                changed_rev,
                frozenset(type_ for of, type_ in evidence if of == n),
                frozenset(to for of, to in edges if of == n),
            )
            for n, id_, parent_n, summary, resolved, outcome, depth, properties, claimed_by, until, changed_rev in rows
        ]

    def random_conditions(self) -> dict[str, Any]:
        """Return a random value for each filter; most find something."""
        return {
            "resolved": self.random.random() < 0.3,
            "outcome": self.random.choice(("done", "dropped")),
            "is_leaf": self.random.random() < 0.5,
            "is_actionable": self.random.random() < 0.5,
            "is_blocked": self.random.random() < 0.5,
            "properties": {
                self.random.choice(KEYS): self.random.choice((*VALUES, None))
                for _ in range(self.random.choice((1, 1, 2)))
            },
            "text": self.random.choice((*WORDS, "LOGIN", "og", "ü", "e l", "%", "_", "", "本語テ", "nothing like it")),
            "ancestor": self.random.choice([*self.ids[:20], self.root]),
            "parent": self.random.choice([*self.ids[:20], self.root]),
            "depends_on": self.random.choice(self.ids[:20]),
            "depended_by": self.random.choice(self.ids[20:]),
            "has_evidence_type": self.random.choice((*EVIDENCE, "none")),
            "claimed_by": self.random.choice(("ada", "ben", "cleo", None)),
        }

    @property
    def root(self) -> str:
        """The id of the root."""
        found: str = self.ada.call("work.open", project="atlas").root.id
        return found


def make_random_project(engine: Engine, seed: int, *, nodes: int = 60) -> RandomProject:
    """Return the project of this seed, in an unused database."""
    ids, now, randomness = fill_once(engine, _filler(seed, nodes))
    random = Random(seed)  # noqa: S311 - the same project every time
    random.setstate(randomness)
    return RandomProject(engine, random, ManualClock(now), [*ids])


@cache
def _filler(seed: int, nodes: int) -> Callable[[Engine], tuple[list[str], datetime, Any]]:
    """Return the function that fills a database with the project of this seed; cached for `fill_once`."""

    def fill(engine: Engine) -> tuple[list[str], datetime, Any]:
        made = RandomProject(engine, Random(seed), ManualClock(), [])  # noqa: S311 - the same project every time
        made.fill(nodes)
        return made.ids, made.clock.now, made.random.getstate()

    return fill


def find_expected(nodes: list[NodeRow], filter_: dict[str, Any], sort: str) -> list[NodeRow]:
    """Return the nodes that a query should find, in its order."""
    by_n = {node.n: node for node in nodes}
    number = {node.id: node.n for node in nodes}

    def is_leaf(node: NodeRow) -> bool:
        return not any(child.parent_n == node.n and not child.resolved for child in nodes)

    def is_blocked(node: NodeRow) -> bool:
        return not node.resolved and any(not by_n[n].resolved for n in node.waits_for)

    def is_actionable(node: NodeRow) -> bool:
        return not node.resolved and is_leaf(node) and not is_blocked(node) and node.parent_n is not None

    def above(node: NodeRow) -> Iterator[int]:
        while node.parent_n is not None:
            yield node.parent_n
            node = by_n[node.parent_n]

    def passes(node: NodeRow, name: str, wanted: Any) -> bool:
        match name:
            case "resolved":
                return node.resolved is wanted
            case "outcome":
                return node.resolved and (node.outcome or "done") == wanted
            case "is_leaf":
                return is_leaf(node) is wanted
            case "is_actionable":
                return is_actionable(node) is wanted
            case "is_blocked":
                return is_blocked(node) is wanted
            case "properties":
                return all(is_same(node.properties.get(key), value) for key, value in wanted.items())
            case "text":
                return ascii_lower(wanted) in ascii_lower(node.summary)
            case "ancestor":
                return number[wanted] in above(node)
            case "parent":
                return node.parent_n == number[wanted]
            case "depends_on":
                return number[wanted] in node.waits_for
            case "depended_by":
                return node.n in by_n[number[wanted]].waits_for
            case "has_evidence_type":
                return wanted in node.evidence
            case "claimed_by":
                return bool(node.claimed_by == wanted)
        raise AssertionError(name)

    orders: dict[str, Any] = {
        "readiness": lambda node: (not is_actionable(node), -priority(node), -node.depth, node.changed_rev, node.n),
        "depth": lambda node: (node.depth, node.n),
        "created": lambda node: node.n,
        "recent": lambda node: (node.changed_rev, node.n),
    }
    found = [node for node in nodes if all(passes(node, name, wanted) for name, wanted in filter_.items())]
    return sorted(found, key=orders[sort], reverse=sort == "recent")


def priority(node: NodeRow) -> float:
    given = node.properties.get("priority")
    return float(given) if isinstance(given, int | float) and not isinstance(given, bool) else float("-inf")


def is_same(had: Any, wanted: Any) -> bool:
    if isinstance(had, dict) and isinstance(wanted, dict):
        return had.keys() == wanted.keys() and all(is_same(had[key], wanted[key]) for key in had)
    if isinstance(had, list) and isinstance(wanted, list):
        return len(had) == len(wanted) and all(map(is_same, had, wanted))
    return isinstance(had, bool) is isinstance(wanted, bool) and bool(had == wanted)


def ascii_lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def pages(session: Session, *, limits: Iterator[int], **query: Any) -> Iterator[Any]:
    """Yield every page of a query."""
    page = session.call("work.query", **query, limit=next(limits))
    yield page
    while page.next_cursor:
        page = session.call("work.query", **query, limit=next(limits), cursor=page.next_cursor)
        yield page
