"""An oracle of one project's work graph: what every call should answer and change.

Nothing derived is stored here. Readiness, depth, counts, order and revisions are computed from parents, edges and facts
at each request in the plainest way, so that stored values can be compared with their definitions. Nodes have numbers,
times are milliseconds, and a refused call raises `Refusal` with the acceptable codes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any, Literal, NamedTuple, Self, TypeVar

ROOT = 1
DEPENDS_ON = "depends_on"
NOTE = "note"
MS_PER_MINUTE = 60_000
PEOPLE = ("ada", "ben")  # the claims of the others expire
DESCRIPTION = "description"  # the property that a merge keeps
OVERLAPS_TOLD = 10  # pairs of a plan with files in common that its answer tells of

T = TypeVar("T")


class Refusal(Exception):
    """The call must fail with one of these codes and change nothing."""

    def __init__(self, *codes: str) -> None:
        super().__init__(" or ".join(codes))
        self.codes = frozenset(codes)


class Evidence(NamedTuple):
    """Evidence that something was done."""

    type: str
    ref: str
    agent: str
    at: int
    rev: int  # of the write that added it


class MergedText(NamedTuple):
    """What a node said that was merged into another one."""

    n: int
    summary: str
    description: str | None


class Edge(NamedTuple):
    """`source` waits for `target`, or is otherwise related to it."""

    source: int
    type: str
    target: int


class Claim(NamedTuple):
    """Who claimed a node, and until when; None is without expiry."""

    agent: str
    at: int
    until: int | None


@dataclass(frozen=True)
class Policies:
    """The policies of the project."""

    evidence: Literal["off", "warn", "require"] = "warn"
    claims: Literal["soft", "enforced"] = "soft"
    inherit_dependencies: bool = False
    auto_resolve_parents: bool = False
    overlap: Literal["off", "warn", "avoid"] = "warn"
    claim_ttl_minutes: float | None = None
    claim_minutes_people: float | None = None

    @property
    def agents_ms(self) -> int:
        """How long a claim of an agent lasts."""
        return round((60.0 if self.claim_ttl_minutes is None else self.claim_ttl_minutes) * MS_PER_MINUTE)

    @property
    def people_ms(self) -> int | None:
        """How long a claim of a person lasts; None is without expiry."""
        return None if self.claim_minutes_people is None else round(self.claim_minutes_people * MS_PER_MINUTE)

    def compute_end(self, agent: str, now: int) -> int | None:
        """Return when a claim that begins now expires."""
        lasts = self.people_ms if agent in PEOPLE else self.agents_ms
        return None if lasts is None else now + lasts


@dataclass(frozen=True)
class Node:
    """The facts of one node. `actions` is its history, and its length the revision."""

    n: int
    parent: int | None
    summary: str
    created_at: int
    created_by: str
    updated_at: int
    resolved: bool = False
    outcome: str | None = None
    state: Any = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    merged: tuple[MergedText, ...] = ()
    claim: Claim | None = None
    fence: int = 0
    actions: tuple[str, ...] = ("created",)
    updated_by: str = ""  # only its creator so far
    kind: str | None = None
    status: str | None = None  # of the container dialect, if nothing else implies it
    held: str | None = None  # the reason of a hold
    reason: str | None = None  # the reason of a block
    changed: int = 0  # which write changed it last

    @property
    def rev(self) -> int:
        return len(self.actions)

    @property
    def paths(self) -> list[str]:
        """The files among its links."""
        return [link for link in self.links if "://" not in link]

    @property
    def priority(self) -> float:
        """The caller's priority. Non-numbers rank as absent, after all numbers."""
        given = self.properties.get("priority")
        return float(given) if isinstance(given, int | float) and not isinstance(given, bool) else float("-inf")

    def is_claimed(self, now: int) -> bool:
        """Return whether a claim is in force."""
        return self.claim is not None and (self.claim.until is None or self.claim.until > now)

    def is_held_against(self, agent: str, now: int) -> bool:
        """Return whether another agent's claim is in force."""
        return self.is_claimed(now) and self.claim is not None and self.claim.agent != agent


class Counts(NamedTuple):
    """The counts of `open`."""

    total: int
    resolved: int
    unresolved: int
    blocked: int
    actionable: int
    dropped: int


@dataclass(frozen=True)
class NewNode:
    """A node to create. A parent or a dependency is a `ref` of the batch or the number of a node."""

    ref: str
    summary: str
    parent: str | int = ROOT
    depends_on: Sequence[str | int] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    links: Sequence[str] = ()


class Absent:
    """The type of an omitted field, where null has another meaning."""


ABSENT = Absent()


@dataclass(frozen=True)
class Item:
    """Changes to one node."""

    n: int
    resolved: bool | None = None
    state: Any = ABSENT
    summary: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    add_links: Sequence[str] = ()
    remove_links: Sequence[str] = ()
    add_evidence: Sequence[tuple[str, str]] = ()
    retract_note: int | None = None  # the write that added it
    expected_rev: int | None = None
    claim: int | None = None
    renew: bool = False
    release: bool = False
    hold: bool = False


@dataclass(frozen=True)
class Link:
    """An edge to add or to remove."""

    source: int
    type: str
    target: int
    remove: bool = False


@dataclass(frozen=True)
class Move:
    n: int
    new_parent: int


@dataclass(frozen=True)
class Merge:
    source: int
    target: int


@dataclass(frozen=True)
class Drop:
    n: int
    reason: str


Operation = Move | Merge | Drop


class Warned(NamedTuple):
    """What an answer warns of: a node or a text, some words of the sentence, and the nodes that these name as {}."""

    subject: int | str
    words: str
    other: int | str | tuple[int, ...] = ""


@dataclass(frozen=True)
class Answer:
    """The expected answer of a call, as far as the graph decides."""

    created: tuple[int, ...] = ()
    updated: tuple[tuple[int, int], ...] = ()
    applied: int = 0
    named: tuple[int, ...] = ()  # the node of each operation
    rejected: tuple[tuple[Link, str], ...] = ()
    claimed: tuple[tuple[int, int, int | None], ...] = ()  # each with its number and its end
    newly_actionable: frozenset[int] = frozenset()
    reopened: tuple[int, ...] = ()
    auto_resolved: tuple[int, ...] = ()
    warnings: tuple[Warned, ...] = ()
    pairs_with_files: int = 0  # of new nodes with each other or with one that others work on, ordered or not


class Work:
    """One project."""

    def __init__(self, goal: str, agent: str, now: int, policies: Policies | None = None) -> None:
        self.nodes = {ROOT: Node(ROOT, None, goal, now, agent, now, kind="project")}
        self.edges: frozenset[Edge] = frozenset()
        self.policies = policies or Policies()
        self.gone: dict[int, Node] = {}  # merged nodes with their history
        self.heirs: dict[int, int] = {}  # the nodes into which they were merged
        self.removed: dict[int, Node] = {}  # by an undo
        self.last_n = ROOT
        self.writes = 0
        self.rev = 0  # that the current call would have, as the driver knows it
        self._agent = agent  # of the current call
        self._reopened: list[int] = []
        self._auto_resolved: list[int] = []
        self._warnings: list[Warned] = []

    def copy(self) -> Self:
        """Return a copy of the state, to try something on."""
        twin = copy.copy(self)
        twin.nodes, twin.gone, twin.heirs = dict(self.nodes), dict(self.gone), dict(self.heirs)
        twin.removed = dict(self.removed)
        return twin

    def lead(self, n: int) -> int:
        """Return the node that has a merged one by now, or the same node."""
        return self.lead(self.heirs[n]) if n in self.heirs else n

    # Definitions.

    def all_nodes(self) -> dict[int, Node]:
        """Return all nodes, also removed ones."""
        return {**self.nodes, **self.gone, **self.removed}

    def children(self, n: int) -> list[int]:
        return [node.n for node in self.nodes.values() if node.parent == n]

    def ancestors(self, n: int) -> list[int]:
        """From the parent up to the root."""
        above = self.nodes[n].parent
        return [] if above is None else [above, *self.ancestors(above)]

    def subtree(self, n: int) -> list[int]:
        """The node and everything below it."""
        return [node for node in self.nodes if node == n or n in self.ancestors(node)]

    def depth(self, n: int) -> int:
        return len(self.ancestors(n))

    def waits_for(self, n: int) -> list[int]:
        return [edge.target for edge in self.edges if edge.source == n and edge.type == DEPENDS_ON]

    def depended_by(self, n: int) -> list[int]:
        return [edge.source for edge in self.edges if edge.target == n and edge.type == DEPENDS_ON]

    def lost(self, n: int) -> list[int]:
        """The dependencies of a node that were dropped."""
        return sorted(target for target in self.waits_for(n) if self.nodes[target].outcome is not None)

    def open_children(self, n: int) -> int:
        return sum(not self.nodes[child].resolved for child in self.children(n))

    def open_deps(self, n: int) -> int:
        return sum(not self.nodes[target].resolved for target in self.waits_for(n))

    def blocked_above(self, n: int) -> int:
        if not self.policies.inherit_dependencies:
            return 0
        return sum(self.open_deps(above) > 0 for above in self.ancestors(n))

    def is_actionable(self, n: int) -> bool:
        if n == ROOT or self.nodes[n].resolved or self.open_children(n):
            return False
        return not self.open_deps(n) and not self.blocked_above(n)

    def is_blocked(self, n: int) -> bool:
        return not self.nodes[n].resolved and bool(self.open_deps(n) or self.blocked_above(n))

    def actionable(self) -> frozenset[int]:
        return frozenset(filter(self.is_actionable, self.nodes))

    def blocked(self) -> frozenset[int]:
        return frozenset(filter(self.is_blocked, self.nodes))

    def counts(self) -> Counts:
        resolved = sum(node.resolved for node in self.nodes.values())
        total = len(self.nodes)
        dropped = sum(node.outcome is not None for node in self.nodes.values())
        return Counts(total, resolved, total - resolved, len(self.blocked()), len(self.actionable()), dropped)

    def rank(self, n: int) -> tuple[float, int, int, int]:
        node = self.nodes[n]
        return (-node.priority, -self.depth(n), node.changed, n)

    def offered(
        self, agent: str, now: int, *, scope: int | None = None, only: Mapping[str, Any] | None = None
    ) -> list[int]:
        """Return what this agent may claim, best first."""
        avoids = self.policies.overlap == "avoid"
        best_first = self.candidates(agent, now, scope=scope, only=only)
        return [n for n in best_first if not (avoids and self.overlaps(n, agent, now))]

    def candidates(
        self, agent: str, now: int, *, scope: int | None = None, only: Mapping[str, Any] | None = None
    ) -> list[int]:
        """Return what is ready and not held against this agent, best first."""
        return sorted(
            (
                n
                for n in self.actionable()
                if not self.nodes[n].is_held_against(agent, now)
                and (scope is None or scope in self.ancestors(n))
                and all(_same_value(self.nodes[n].properties.get(key), value) for key, value in (only or {}).items())
            ),
            key=self.rank,
        )

    def in_progress(self, agent: str, now: int) -> list[int]:
        """Return the nodes that others work on: claimed or begun, with nothing that they wait for."""
        free = [n for n, node in self.nodes.items() if not node.resolved and not self.open_children(n)]
        free = [n for n in free if not self.is_blocked(n)]
        claimed = [n for n in free if self.nodes[n].is_held_against(agent, now)]
        begun = [
            n
            for n in free
            if self.nodes[n].status == "ACTIVE"
            and self.nodes[n].kind != "feature"
            and not self.nodes[n].is_claimed(now)
        ]
        changed_by = {n: self.nodes[n].updated_by or self.nodes[n].created_by for n in begun}
        return [*sorted(claimed, key=self.rank), *(n for n in begun if changed_by[n] != agent)]

    def overlaps(self, n: int, agent: str, now: int) -> list[Warned]:
        """Return for each node that others work on and that has files of this one what is said of this one."""
        found = []
        for other in self.in_progress(agent, now):
            shared = [path for path in self.nodes[other].paths if path in self.nodes[n].paths]
            if shared and other != n:
                claim = self.nodes[other].claim if self.nodes[other].is_claimed(now) else None
                who = f" (claimed by {claim.agent!r})" if claim else ""
                more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
                found.append(Warned(n, f"works on {shared[0]}{more}, which {{}}{who} works on too", other))
        return found

    def is_behind(self, n: int, other: int) -> bool:
        """Return whether a node waits for another one, so that this one cannot wait for it as well."""
        twin = self.copy()
        twin.edges |= {Edge(other, DEPENDS_ON, n)}
        return twin.has_loop()

    def has_loop(self) -> bool:
        """Return whether an open node waits for itself, so that the plan can never be finished."""
        moments = [(end, n) for n, node in self.nodes.items() if not node.resolved for end in ("start", "finish")]
        return has_cycle(moments, self._comes_after)

    def _comes_after(self, moment: tuple[str, int]) -> Iterator[tuple[str, int]]:
        """Return what must happen before a node may start or end."""
        end, n = moment
        if end == "finish":
            yield ("start", n)
            yield from (("finish", child) for child in self.children(n) if not self.nodes[child].resolved)
        else:
            for holder in (n, *self.holders(n)):
                targets = self.waits_for(holder)
                yield from (("finish", target) for target in targets if not self.nodes[target].resolved)

    def holders(self, n: int) -> list[int]:
        """Return the ancestors that block the node while they wait."""
        return self.ancestors(n) if self.policies.inherit_dependencies else []

    def move_leases(self, by: int, *, agent: str, now: int) -> set[int]:
        """Move what is left of each lease, at most a whole one, to another time, and return the changed nodes."""
        self.begin(agent)
        moved = set()
        for node in self.nodes.values():
            if node.claim is None or node.claim.until is None or node.claim.until <= now - max(by, 0):
                continue
            until = min(node.claim.until + by, now + max(self.policies.agents_ms, self.policies.people_ms or 0))
            if until != node.claim.until:
                moved.add(node.n)
                self._record(replace(node, claim=node.claim._replace(until=until)), "lease_moved", now)
        return moved

    # Calls. Each succeeds as a whole or raises, and then the state is invalid: try it on a copy.

    def plan(self, planned: Sequence[NewNode], *, agent: str, now: int) -> Answer:
        before = self.begin(agent)
        refs = {one.ref: self.last_n + place for place, one in enumerate(planned, 1)}
        numbers = list(refs.values())
        problems = set()
        if len(refs) < len(planned):
            problems.add("duplicate_ref")
        if any(key.startswith("_") for one in planned for key in one.properties):
            problems.add("reserved_property")

        def meant(ref: str | int) -> int:
            n = refs.get(ref, -1) if isinstance(ref, str) else self.lead(ref)
            if n not in self.nodes and n not in numbers:
                problems.add("not_found")
            return n

        parents = {refs[one.ref]: meant(one.parent) for one in planned}
        edges = {Edge(refs[one.ref], DEPENDS_ON, meant(target)) for one in planned for target in one.depends_on}
        if problems:
            raise Refusal(*problems)
        if has_cycle(numbers, lambda n: [parents[n]] if parents[n] in parents else []):
            raise Refusal("cycle_detected")
        for one, (n, parent) in zip(planned, parents.items(), strict=True):
            properties = {key: value for key, value in one.properties.items() if value is not None}
            links = tuple(dict.fromkeys(one.links))
            self.nodes[n] = Node(
                n, parent, one.summary, now, agent, now, properties=properties, links=links, changed=self.writes
            )
        self.last_n = numbers[-1]
        self.edges |= edges
        for n in numbers:
            self.reopen_above(n, now)
        self._refuse_loops()
        names = {n: ref for ref, n in refs.items()}
        for n in numbers:
            self._warn_of_priority(names[n], self.nodes[n])
            parent = parents[n]
            if (self.open_deps(parent) or self.nodes[parent].held is not None) and parent not in self.holders(n):
                self._warnings.append(Warned(names[n], "its parent {} waits", names.get(parent, parent)))
        if self.policies.overlap != "off":
            told = [*self._planned_overlaps(names), *self._overlaps_in_progress(names, agent, now)]
            rest = [Warned("others", "more pairs touch the same files")] if len(told) > OVERLAPS_TOLD else []
            self._warnings += told[:OVERLAPS_TOLD] + rest
        pairs = self._count_pairs_with_files(list(names), agent, now)
        return self._answer(before, created=tuple(numbers), pairs_with_files=pairs)

    def _count_pairs_with_files(self, new: Sequence[int], agent: str, now: int) -> int:
        pairs = [*combinations(new, 2), *product(new, self.in_progress(agent, now))]
        return sum(not set(self.nodes[n].paths).isdisjoint(self.nodes[other].paths) for n, other in pairs)

    def _planned_overlaps(self, names: Mapping[int, str]) -> list[Warned]:
        """Return the pairs of new nodes with files in common of which none waits for the other."""
        new = list(names)
        pairs = [
            (n, other, path)
            for place, n in enumerate(new)
            for path in self.nodes[n].paths
            for other in new[place + 1 :]
            if path == next((one for one in self.nodes[n].paths if one in self.nodes[other].paths), None)
        ]
        return [
            Warned(f"{names[n]} and {names[other]}", f"touch {path};")
            for n, other, path in pairs
            if not self.is_behind(n, other) and not self.is_behind(other, n)
        ]

    def _overlaps_in_progress(self, names: Mapping[int, str], agent: str, now: int) -> list[Warned]:
        """Return the new nodes with files of a node that others work on and that they do not wait for."""
        found = []
        for n in names:
            for other in self.in_progress(agent, now):
                shared = [path for path in self.nodes[other].paths if path in self.nodes[n].paths]
                if shared and not self.is_behind(n, other):
                    claim = self.nodes[other].claim if self.nodes[other].is_claimed(now) else None
                    who = f" ({claim.agent})" if claim else ""
                    found.append(Warned(names[n], f"touches {shared[0]}, which {{}}{who} works on;", other))
        return found

    def update(self, items: Sequence[Item], *, agent: str, now: int, is_person: bool = True) -> Answer:
        before = self.begin(agent)
        early = set()
        postponed: dict[int, None] = {}  # nodes to resolve after their children
        items = [replace(item, n=self.lead(item.n)) for item in items]
        for item in items:
            is_early = item.resolved and item.n in self.nodes and not self.nodes[item.n].resolved
            if is_early:
                early.add(item.n)
            if is_early and self.open_children(item.n):
                postponed[item.n] = None
            elif item.resolved is False:
                postponed.pop(item.n, None)
            self._change(item, agent=agent, now=now, is_person=is_person, is_postponed=item.n in postponed)
        for n in sorted(postponed, key=self.depth, reverse=True):
            if self.open_children(n):
                raise Refusal("unresolved_children")
            self._change(Item(n, resolved=True), agent=agent, now=now, is_person=is_person)
        for n in sorted(n for n in early if self.nodes[n].resolved):
            if self.open_deps(n):
                self._warnings.append(Warned(n, "while its dependencies are open"))
            if self.nodes[n].held is not None:
                self._warnings.append(Warned(n, "while it is on hold"))
            if self.blocked_above(n):
                self._warnings.append(Warned(n, "while a node above it waits"))
        updated = tuple((item.n, self.nodes[item.n].rev) for item in items)
        self._refuse_loops()
        return self._answer(before, updated=updated)

    def _change(self, item: Item, *, agent: str, now: int, is_person: bool, is_postponed: bool = False) -> None:
        self._find(item.n)
        old = self.nodes[item.n]
        is_resolving = bool(item.resolved) and not old.resolved
        if is_postponed:
            item = replace(item, resolved=None)
        new = self._changed(old, item, agent, now)
        problems = [*self._why_not_change(old, new, item, agent, now, is_person)]
        is_changed = not same_node(replace(new, evidence=old.evidence), old)  # a hint may be left
        if (is_changed or is_resolving) and self.policies.claims == "enforced" and old.is_held_against(agent, now):
            problems.append("claimed_by_another")
        if problems:
            raise Refusal(*problems)
        action = "updated"
        if new.resolved != old.resolved:
            action = "resolved" if new.resolved else "reopened"
        elif same_node(replace(new, claim=old.claim, status=old.status), old):
            action = "released" if new.claim is None else "renewed"
        if not same_node(new, old):
            self._record(new, action, now)
        if action == "resolved":
            self._warn_of_claim(old, "resolved", agent, now)
            self._resolve_above(item.n, agent, now)
        elif is_changed:
            self._warn_of_claim(old, "changed", agent, now)
        if action == "reopened":
            self.reopen_above(item.n, now)
        if "priority" in item.properties and not _same_value(new.properties, old.properties):
            self._warn_of_priority(item.n, new)
        is_told = action == "resolved" or (new.resolved and item.retract_note is not None)
        if is_told and self.policies.evidence == "warn" and not new.evidence:
            self._warnings.append(Warned(item.n, "resolved without evidence"))
        if item.state == "Done" and not (new.resolved or is_postponed):
            self._warnings.append(Warned(item.n, "resolved: true does"))

    def _warn_of_claim(self, node: Node, verb: str, agent: str, now: int) -> None:
        """Warn of a node, as it was before it ended, that another agent holds."""
        if node.claim is not None and node.is_held_against(agent, now):
            self._warnings.append(Warned(node.n, f"{verb} while {node.claim.agent!r} holds its claim"))

    def _warn_of_priority(self, subject: int | str, node: Node) -> None:
        if "priority" in node.properties and node.priority == float("-inf"):
            self._warnings.append(Warned(subject, "priority is not a number"))

    def _changed(self, old: Node, item: Item, agent: str, now: int) -> Node:
        """Return the node with the changes of the item."""
        given = {**old.properties, **item.properties}
        kept = [link for link in old.links if link not in item.remove_links]
        resolved = old.resolved if item.resolved is None else item.resolved
        claim = old.claim
        if item.release or resolved:
            claim = None
        elif claim and item.hold:
            claim = claim._replace(until=None)
        elif claim and item.renew:
            claim = claim._replace(until=self.policies.compute_end(agent, now))
        return replace(
            old,
            summary=old.summary if item.summary is None else item.summary,
            state=old.state if item.state is ABSENT else item.state,
            properties={key: value for key, value in given.items() if value is not None},
            links=tuple(dict.fromkeys((*kept, *item.add_links))),
            evidence=(
                *(one for one in old.evidence if one not in _find_notes(old, item.retract_note)),
                *(Evidence(*one, agent, now, self.rev) for one in item.add_evidence),
            ),
            resolved=resolved,
            outcome=old.outcome if resolved and old.resolved else None,
            claim=claim,
        )

    def _why_not_change(self, old: Node, new: Node, item: Item, agent: str, now: int, is_person: bool) -> Iterator[str]:
        if item.expected_rev is not None and item.expected_rev != old.rev:
            yield "stale_rev"
        # A claim ends when it is released or another agent claims the node; an expired one can continue.
        if item.claim is not None and (old.claim is None or item.claim != old.fence):
            yield "stale_claim"
        if item.renew or item.release or item.hold:
            if old.claim is None or old.claim.agent != agent:
                yield "stale_claim"
            if item.hold and not is_person:
                yield "hold_needs_person"
        if any(key.startswith("_") for key in item.properties):
            yield "reserved_property"
        notes = _find_notes(old, item.retract_note)
        if item.retract_note is not None and not notes:
            yield from ("not_found", "already_retracted")
        if notes and notes[0].agent != agent and not is_person:
            yield "not_your_note"
        is_looked_at = not old.resolved or item.retract_note is not None
        if new.resolved and is_looked_at and self.policies.evidence == "require" and not new.evidence:
            yield "evidence_required"

    def connect(self, links: Sequence[Link], *, agent: str, now: int) -> Answer:
        before = self.begin(agent)
        rejected = {}
        for place, link in sorted(enumerate(links), key=lambda placed: not placed[1].remove):
            reason = self._why_not_connect(link)
            if reason is not None:
                rejected[place] = (link, reason)
                continue
            edge = self._edge(link)
            self.edges = self.edges - {edge} if link.remove else self.edges | {edge}
            self._record(self.nodes[edge.source], "disconnected" if link.remove else "connected", now)
            if not link.remove and link.type == "blocks":
                self._warnings.append(Warned(edge.source, f"edge type {link.type!r} has no effect on the order"))
            ends = self.nodes[edge.source], self.nodes[edge.target]
            if not link.remove and link.type == DEPENDS_ON and [end.resolved for end in ends] == [True, False]:
                self._warnings.append(Warned(edge.source, "is resolved, so it waits for nothing"))
        return self._answer(
            before, applied=len(links) - len(rejected), rejected=tuple(rejected[place] for place in sorted(rejected))
        )

    def _edge(self, link: Link) -> Edge:
        return Edge(self.lead(link.source), link.type, self.lead(link.target))

    def _why_not_connect(self, link: Link) -> str | None:
        edge = self._edge(link)
        if edge.source not in self.nodes or edge.target not in self.nodes:
            return "node_not_found"
        if link.remove:
            return None if edge in self.edges else "not_connected"
        if edge in self.edges:
            return "already_connected"
        if edge.source == edge.target:
            return "cycle_detected" if link.type == DEPENDS_ON else "self_edge"
        tried = self.copy()
        tried.edges |= {edge}
        return "cycle_detected" if tried.has_loop() else None

    def restructure(self, operations: Sequence[Operation], *, agent: str, now: int, is_owner: bool = True) -> Answer:
        before = self.begin(agent)
        named = []
        for operation in operations:
            named.append(self.lead(operation.source if isinstance(operation, Merge) else operation.n))
            match operation:
                case Move(n, new_parent):
                    self._move(self.lead(n), self.lead(new_parent), now)
                case Merge(source, target):
                    self.merge_into(self.lead(source), self.lead(target), agent, now)
                case Drop(n, reason):
                    if self.lead(n) == ROOT and not is_owner:
                        raise Refusal("root_stays")
                    node = self.lead(n)
                    if all(node in work.nodes and work.nodes[node].resolved for work in (before, self)):
                        self._warnings.append(Warned(node, "was resolved already"))
                    self._drop(node, reason, agent, now)
        self._refuse_loops()
        self._warn_of_dropped(before)
        return self._answer(before, applied=len(operations), named=tuple(named))

    def _warn_of_dropped(self, before: Self) -> None:
        """Warn of the nodes that were dropped while others wait for them."""
        for n, node in sorted(self.nodes.items()):
            waiting = tuple(sorted(one for one in self.depended_by(n) if not self.nodes[one].resolved))
            is_dropped_now = node.actions.count("dropped") > before.nodes[n].actions.count("dropped")
            if waiting and node.outcome is not None and is_dropped_now:
                self._warnings.append(Warned(n, "dropped while others wait for it: {}", waiting))

    def _refuse_loops(self) -> None:
        if self.has_loop():
            raise Refusal("cycle_detected")

    def _move(self, n: int, new_parent: int, now: int) -> None:
        self._find(n, new_parent)
        if n == ROOT:
            raise Refusal("root_stays")
        if new_parent in self.subtree(n):
            raise Refusal("cycle_detected")
        if self.nodes[n].parent == new_parent:
            return
        self._record(replace(self.nodes[n], parent=new_parent), "moved", now)
        if not self.nodes[n].resolved:
            self.reopen_above(n, now)

    def merge_into(self, source: int, target: int, agent: str, now: int) -> None:
        """Merge the source into the target."""
        self._find(source, target)
        if ROOT in (source, target):
            raise Refusal("root_stays")
        if source == target or source in self.ancestors(target) or target in self.ancestors(source)[1:]:
            raise Refusal("cannot_merge")
        self._refuse_held(source, agent, now)
        old, kept = self.nodes[source], self.nodes[target]
        self._warn_of_claim(old, "merged", agent, now)
        lost = sorted(
            name
            for name, one in old.properties.items()
            if name != DESCRIPTION and not _same_value(one, kept.properties.get(name))
        )
        if lost:
            named = ", ".join(map(repr, lost))
            self._warnings.append(Warned(source, f"its properties {named} are not taken over by {{}}", target))
        links = tuple(dict.fromkeys((*kept.links, *old.links)))
        text = MergedText(source, old.summary, old.properties.get(DESCRIPTION))
        merged = (*kept.merged, *old.merged, text)
        self._record(replace(kept, links=links, evidence=kept.evidence + old.evidence, merged=merged), "merged", now)
        for child in self.children(source):
            self._record(replace(self.nodes[child], parent=target), "moved", now)
        for edge in sorted(self.edges):
            if source not in (edge.source, edge.target):
                continue
            self.edges -= {edge}
            other = Edge(
                target if edge.source == source else edge.source,
                edge.type,
                target if edge.target == source else edge.target,
            )
            if edge.source not in (source, target):
                self._record(self.nodes[edge.source], "disconnected" if other in self.edges else "connected", now)
            if other.source != other.target:
                self.edges |= {other}
        self.heirs[source] = target
        self.gone[source] = replace(old, actions=(*old.actions, "merged"), updated_at=now, updated_by=agent)
        del self.nodes[source]
        if not old.resolved and self.nodes[target].resolved:
            self._record(replace(self.nodes[target], resolved=False, outcome=None), "reopened", now)
            self._reopened.append(target)
            self.reopen_above(target, now)

    def _drop(self, n: int, reason: str, agent: str, now: int) -> None:
        self._find(n)
        still_open = [node for node in self.subtree(n) if not self.nodes[node].resolved]
        if not still_open:
            return
        for node in still_open:
            self._refuse_held(node, agent, now)
        for node in sorted(still_open):
            self._warn_of_claim(self.nodes[node], "resolved", agent, now)
            shown = (*self.nodes[node].evidence, Evidence("dropped", reason, agent, now, self.rev))
            dropped = replace(self.nodes[node], resolved=True, outcome="dropped", evidence=shown, claim=None)
            self._record(dropped, "dropped", now)
        self._resolve_above(n, agent, now)

    def take(
        self, *, agent: str, now: int, count: int = 1, scope: int | None = None, only: Mapping[str, Any] | None = None
    ) -> Answer:
        """Apply `next` with `claim: true`."""
        before = self.begin(agent)
        if scope is not None:
            scope = self.lead(scope)
            self._find(scope)
        best_first = self.candidates(agent, now, scope=scope, only=only)
        taken = self.offered(agent, now, scope=scope, only=only)[:count]
        passed = [n for n in best_first if n not in taken]
        if len(taken) == count:
            passed = [n for n in passed if best_first.index(n) < best_first.index(taken[-1])]
        claimed = []
        if self.policies.overlap == "avoid" and taken:
            firsts = [self.overlaps(n, agent, now)[0] for n in passed]
            self._warnings += [one._replace(words=f"passed over: it {one.words}") for one in firsts]
        for n in taken:
            node = self.nodes[n]
            claimed.append(self._claim(node, "claimed", agent, now))
        self._warn_of_overlaps(taken, agent, now)
        for name, value in (only or {}).items():
            is_had = any(name in node.properties for node in self.nodes.values())
            if not is_had and (value is None or not claimed):
                self._warnings.append(Warned(f"filter {name!r}", "no node has this property"))
        return self._answer(before, claimed=tuple(claimed))

    def take_named(self, n: int, *, agent: str, now: int) -> Answer:
        """`next` with `node_id` and `claim: true`."""
        before = self.begin(agent)
        n = self.lead(n)
        self._find(n)
        if not self.is_actionable(n):
            raise Refusal("not_actionable")
        if self.nodes[n].is_held_against(agent, now):
            raise Refusal("already_claimed")
        if self.policies.overlap == "avoid" and self.overlaps(n, agent, now):
            raise Refusal("overlaps_in_progress")
        node = self.nodes[n]
        claimed = self._claim(node, "claimed", agent, now)
        self._warn_of_overlaps([n], agent, now)
        return self._answer(before, claimed=(claimed,))

    def _warn_of_overlaps(self, taken: Sequence[int], agent: str, now: int) -> None:
        if self.policies.overlap == "warn":
            self._warnings += [one for n in taken for one in self.overlaps(n, agent, now)]

    def set_policies(self, **policies: Any) -> Answer:
        self.policies = replace(self.policies, **policies)
        if self.has_loop():
            raise Refusal("cycle_detected")
        return Answer()

    # Effects of a change.

    def _claim(self, node: Node, action: str, agent: str, now: int) -> tuple[int, int, int | None]:
        """Claim a node, and return it with the number and the end of the claim."""
        is_held = node.claim is not None and node.claim.agent == agent and node.claim.until is None
        claim = Claim(agent, now, None if is_held else self.policies.compute_end(agent, now))
        self._record(replace(node, claim=claim, fence=node.fence + 1), action, now)
        return node.n, node.fence + 1, claim.until

    def reopen_above(self, n: int, now: int) -> None:
        """Reopen the resolved ancestors of an open node."""
        for above in self.ancestors(n):
            if self.nodes[above].resolved:
                self._record(replace(self.nodes[above], resolved=False, outcome=None), "reopened", now)
                self._reopened.append(above)

    def _refuse_held(self, n: int, agent: str, now: int) -> None:
        if self.policies.claims == "enforced" and self.nodes[n].is_held_against(agent, now):
            raise Refusal("claimed_by_another")

    def _resolve_above(self, n: int, agent: str, now: int) -> None:
        """Resolve the parent with its last child, if the policies say so."""
        parent = self.nodes[n].parent
        if not self.policies.auto_resolve_parents or parent is None or not self.is_actionable(parent):
            return
        if self.policies.claims == "enforced" and self.nodes[parent].is_held_against(agent, now):
            return
        if self.policies.evidence == "require" and not self.nodes[parent].evidence:
            return
        self._warn_of_claim(self.nodes[parent], "resolved", agent, now)
        self._record(replace(self.nodes[parent], resolved=True, claim=None), "resolved", now)
        self._auto_resolved.append(parent)
        self._resolve_above(parent, agent, now)

    def keep(self, node: Node) -> None:
        """Replace what is known of a node, wherever it is."""
        for place in (self.nodes, self.gone, self.removed):
            if node.n in place:
                place[node.n] = node

    def _record(self, node: Node, action: str, now: int) -> None:
        """Record an event: one step of the node's revision, and its latest change."""
        self.nodes[node.n] = replace(
            node, actions=(*node.actions, action), updated_at=now, updated_by=self._agent, changed=self.writes
        )

    def _find(self, *numbers: int) -> None:
        if any(n not in self.nodes for n in numbers):
            raise Refusal("not_found")

    def begin(self, agent: str) -> Self:
        """Begin a call, and return a copy of the state before it."""
        self._agent = agent
        self.writes += 1
        self._reopened, self._auto_resolved, self._warnings = [], [], []
        return self.copy()

    def _answer(self, before: Self, **told: Any) -> Answer:
        old = set(before.nodes)
        newly_actionable = frozenset(n for n in self.actionable() - before.actionable() if n in old)
        return Answer(
            warnings=tuple(self._warnings),
            newly_actionable=newly_actionable,
            reopened=tuple(n for n in dict.fromkeys(self._reopened) if n in self.nodes and not self.nodes[n].resolved),
            auto_resolved=tuple(
                n for n in dict.fromkeys(self._auto_resolved) if n in self.nodes and self.nodes[n].resolved
            ),
            **told,
        )


def has_cycle(moments: Iterable[T], comes_after: Callable[[T], Iterable[T]]) -> bool:
    """Return whether the moments have no order: removing all that wait for nothing leaves some."""
    waiting = {moment: set(comes_after(moment)) for moment in moments}
    while waiting:
        free = {moment for moment, others in waiting.items() if not others}
        if not free:
            return True
        waiting = {moment: others - free for moment, others in waiting.items() if moment not in free}
    return False


def _find_notes(node: Node, rev: int | None) -> list[Evidence]:
    return [one for one in node.evidence if one.type == NOTE and one.rev == rev]


def same_node(one: Node, other: Node) -> bool:
    """Return whether two nodes have the same facts."""
    told = [(node.state, sorted(node.properties.items())) for node in (one, other)]
    return one == other and _same_value(*told)


def _same_value(one: Any, other: Any) -> bool:
    """Return whether two values are equal in JSON, where true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
