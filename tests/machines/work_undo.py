"""An oracle of undo and redo: which write is taken back, what keeps it from that, and what the project is then.

A write is taken back by its own difference: each field, edge and node that it changed is again what it was before.
Which events say so is left to the product, whose rows and events are compared anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tests.machines.work_oracle import NOTE, ROOT, Claim, Edge, Evidence, Node, Refusal, Work

# Of a node: what is set back otherwise, and what no undo sets back.
OF_MERGES = ("evidence", "merged")
KEPT = ("n", "fence", "actions", "updated_at", "updated_by", "created_at", "created_by", "changed", "kind", *OF_MERGES)


@dataclass(frozen=True)
class Write:
    """A write of an actor: by itself, or an undo or a redo of another one."""

    rev: int
    agent: str
    before: Work
    after: Work
    origin: int | None = None  # the place of the write that it takes back or does again
    is_redo: bool = False

    @property
    def subjects(self) -> set[int]:
        """What it changed. The policies are those of the root."""
        known, now = self.before.all_nodes(), self.after.all_nodes()
        changed = {n for n in now if n not in known or known[n].actions != now[n].actions}
        return changed | ({ROOT} if self.before.policies != self.after.policies else set())

    @property
    def merged(self) -> list[int]:
        """The nodes that it merged into others, in order."""
        return [n for n in self.after.heirs if n not in self.before.heirs]

    @property
    def made(self) -> list[int]:
        """The nodes that it planned or brought back."""
        return [n for n in self.after.nodes if n not in self.before.nodes and n not in self.before.heirs]


@dataclass
class UndoLog:
    """All writes of a project, oldest first."""

    writes: list[Write] = field(default_factory=list)

    def add(self, write: Write) -> None:
        if write.subjects:
            self.writes.append(write)

    def find(self, agent: str, *, redo: bool) -> tuple[int, Write]:
        """Return the place of the write that an undo or a redo is about, and the write that it takes back."""
        own = [place for place, write in enumerate(self.writes) if write.agent == agent]
        plain = [place for place in own if self.writes[place].origin is None]
        if not redo:
            places = [place for place in plain if self._is_in_effect(place)]
            if not places:
                raise Refusal("nothing_to_undo", "changed_since")  # the second for who made the project
            last = self._last_undo(places[-1])
            return places[-1], self.writes[places[-1]] if last is None else last
        for place in reversed([place for place in own if place > max(plain, default=-1)]):
            undo = self.writes[place]
            if undo.origin is not None and not undo.is_redo and self._last_undo(undo.origin) is undo:
                return undo.origin, undo
        raise Refusal("nothing_to_redo")

    def refuse_changed(self, work: Work, write: Write) -> None:
        """Refuse if what a write changed, or what refers to what it made, is not what it was after the write.

        What was made and taken back since does not count, nor what was taken back and done again.
        """
        subjects = write.subjects
        made = set(write.made)
        subjects |= {n for n, node in work.nodes.items() if node.parent in made and n not in made}
        subjects |= {edge.source for edge in work.edges if edge.target in made and edge.source not in made}
        first = self.writes.index(write) + 1
        origins = [self._find_origin(place) for place in range(first, len(self.writes))]
        for later, origin in zip(self.writes[first:], origins, strict=True):
            if origins.count(origin) % 2 and later.subjects & subjects:
                raise Refusal("changed_since")

    def _find_origin(self, place: int) -> int:
        origin = self.writes[place].origin
        return place if origin is None else origin

    def is_undone(self, evidence: Evidence) -> bool:
        """Return whether the write that added an evidence was taken back."""
        place = next(place for place, write in enumerate(self.writes) if write.rev == evidence.rev)
        return not self._is_in_effect(place)

    def _last_undo(self, place: int) -> Write | None:
        return next((write for write in reversed(self.writes) if write.origin == place), None)

    def _is_in_effect(self, place: int) -> bool:
        last = self._last_undo(place)
        return last is None or last.is_redo


def take_back(work: Work, write: Write, *, agent: str, now: int) -> None:
    """Set a project back by the difference that a write made."""
    known = work.all_nodes()
    work.begin(agent)
    before, after = write.before, write.after
    if any(n in before.heirs and n not in after.heirs for n in before.heirs):  # it took merges back
        for n, heir in before.heirs.items():
            if n not in after.heirs:
                work.merge_into(work.lead(n), work.lead(heir), agent, now)
        _set_nodes_back(work, before, after, now=now, is_merged=True)  # what came with the merges
    else:
        _set_back(work, before, after, now=now)
    work.policies = before.policies if before.policies != after.policies else work.policies
    if _has_circle(work) or work.has_loop():
        raise Refusal("cycle_detected", "edges_rejected")
    for n, node in work.all_nodes().items():  # what it says of itself is adopted from the events
        old = known[n]
        same = {name: getattr(old, name) for name in ("actions", "updated_at", "updated_by", "changed")}
        work.keep(replace(node, **same))


def _set_back(work: Work, before: Work, after: Work, *, now: int) -> None:
    made = [n for n in after.nodes if n not in before.nodes and n not in before.heirs]
    for n in made:
        work.removed[n] = work.nodes.pop(n)
        work.edges = frozenset(edge for edge in work.edges if n not in (edge.source, edge.target))
    gone = [n for n in before.nodes if n not in after.nodes]
    for n in gone:
        work.heirs.pop(n, None)
        work.gone.pop(n, None)
        work.removed.pop(n, None)
    opened = {n for n in gone if not before.nodes[n].resolved}
    work.edges -= after.edges - before.edges
    for n in gone:
        node = before.nodes[n]
        assert node.parent is not None
        if n in gone and node.parent not in gone:
            node = replace(node, parent=_find(work, node.parent))
        work.nodes[n] = replace(node, evidence=_own_evidence(n, before, after)) if n in after.gone else node
    work.edges |= {_find_ends(work, edge) for edge in before.edges - after.edges}
    moved = [n for n in before.nodes.keys() & after.nodes.keys() if before.nodes[n].parent != after.nodes[n].parent]
    _set_nodes_back(work, before, after, opened, now=now, is_strict=not (made or gone or moved))


def _set_nodes_back(
    work: Work,
    before: Work,
    after: Work,
    opened: Iterable[int] = (),
    *,
    now: int,
    is_strict: bool = False,
    is_merged: bool = False,
) -> None:
    """Set back the nodes that were there before and after. Those in `opened` came back open."""
    opened = set(opened)
    ending: dict[int, dict[str, Any]] = {}
    for n in before.nodes.keys() & after.nodes.keys() & work.nodes.keys():  # what it changed is still there
        changes = dict(_list_changes(before.nodes[n], after.nodes[n], work.nodes[n]))
        if before.nodes[n].merged == after.nodes[n].merged:
            changes["evidence"] = _set_notes_back(before.nodes[n], after.nodes[n], work.nodes[n])
        elif not is_merged:
            changes |= {"merged": before.nodes[n].merged, "evidence": _return_evidence(n, work, before, after)}
        if "parent" in changes:
            changes["parent"] = _find(work, changes["parent"])
            opened |= set() if work.nodes[n].resolved else {n}
        if changes.get("resolved"):
            ending[n] = {name: value for name, value in changes.items() if name != "parent"}
            changes = {name: value for name, value in changes.items() if name == "parent"}
        opened |= {n} if changes.get("resolved") is False else set()
        work.nodes[n] = replace(work.nodes[n], **changes)
    if _has_circle(work):
        raise Refusal("cycle_detected")
    for n in sorted(opened):
        work.reopen_above(n, now)
    _resolve(work, ending, is_strict=is_strict)


def _set_notes_back(before: Node, after: Node, now: Node) -> tuple[Evidence, ...]:
    """Return the evidence of a node without the notes that a write added to it, and with those that it took."""
    kept = [one for one in now.evidence if one.type != NOTE or one in before.evidence or one not in after.evidence]
    for place, one in enumerate(before.evidence):
        if one not in after.evidence:
            kept.insert(place, one)
    return tuple(kept)


def _return_evidence(n: int, work: Work, before: Work, after: Work) -> tuple[Evidence, ...]:
    """Return the evidence of a node without that of the nodes that a write merged into it."""
    sources = [m for m, heir in after.heirs.items() if heir == n and m not in before.heirs]
    returned = {id(one) for m in sources for one in after.gone[m].evidence}
    return tuple(one for one in work.nodes[n].evidence if id(one) not in returned)


def _own_evidence(n: int, before: Work, after: Work) -> tuple[Evidence, ...]:
    """Return what a node had of its own, with what the write added to it: evidence stays."""
    of_others = [one for m, heir in after.heirs.items() if heir == n for one in after.gone[m].evidence]
    known = before.nodes[n].evidence
    others = {id(one) for one in (*known, *of_others)}
    return (*known, *(one for one in after.all_nodes()[n].evidence if id(one) not in others))


def _resolve(work: Work, ending: dict[int, dict[str, Any]], *, is_strict: bool) -> None:
    """Resolve nodes that have no other open children, from below."""
    for n in sorted(ending, key=work.depth, reverse=True):
        if not work.open_children(n):
            work.nodes[n] = replace(work.nodes[n], **ending[n])
        elif is_strict and not any(child in ending for child in work.children(n)):
            raise Refusal("unresolved_children")


def _list_changes(before: Node, after: Node, now: Node) -> Iterator[tuple[str, Any]]:
    """Yield the fields to set back, with their values."""
    for name in (one.name for one in fields(Node) if one.name not in KEPT):
        old, new = getattr(before, name), getattr(after, name)
        if name == "properties":
            keys = [key for key in {**old, **new} if _text(old.get(key)) != _text(new.get(key))]
            kept = {key: value for key, value in now.properties.items() if key not in keys}
            if keys:
                yield name, kept | {key: old[key] for key in keys if key in old}
        elif name == "claim":
            if old != new:
                yield name, _set_claim_back(old, new, now.claim)
        elif _text(old) != _text(new):
            yield name, old


def _set_claim_back(old: Claim | None, new: Claim | None, now: Claim | None) -> Claim | None:
    if old is None or new is None or now is None:
        return old
    changed = {name: value for name, value in old._asdict().items() if value != getattr(new, name)}
    return now._replace(**changed)


def _text(value: Any) -> str:
    """Return a text that is equal for values that are equal in JSON, where true is not 1."""
    return repr(value)


def _find(work: Work, n: int) -> int:
    n = work.lead(n)
    if n not in work.nodes:
        raise Refusal("not_found", "edges_rejected")
    return n


def _find_ends(work: Work, edge: Edge) -> Edge:
    found = Edge(_find(work, edge.source), edge.type, _find(work, edge.target))
    if found.source == found.target or found in work.edges:
        raise Refusal("edges_rejected", "cycle_detected")
    return found


def _has_circle(work: Work) -> bool:
    """Return whether a node is above itself."""

    def above(n: int) -> Iterable[int]:
        seen: set[int] = set()
        parent = work.nodes[n].parent
        while parent is not None and parent not in seen:
            seen.add(parent)
            yield parent
            parent = work.nodes[parent].parent

    return any(n in above(n) for n in work.nodes)
