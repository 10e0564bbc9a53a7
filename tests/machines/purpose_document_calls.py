"""Documents that somebody might bring: versions as they were written out, edited elsewhere, well or badly.

Most come in. Things have other names, other numbers, other titles; edges lead down and in circles. Now and then
something is there twice, or leads nowhere.
"""

from __future__ import annotations

from random import Random

from tests.machines.purpose_calls import DAYS, EDGE, EDGE_TYPES, NODES_MAX, TITLES, some
from tests.machines.purpose_document import document_of, edge_called, renamed
from tests.machines.purpose_oracle import (
    KINDS,
    NODE_TYPES,
    NOT_WAIVABLE,
    PROFILES,
    SEVERITIES,
    Purpose,
    Thing,
    edge_name,
)
from tests.machines.work_calls import often, rarely, sometimes

# Of nodes: what looks nearly like a key, and keys of other sorts.
NAMES = {
    "nodes": ("oc7", "OC0", "G01", "IN99", "das „Ziel“"),
    "assumptions": ("as", "OC99"),
    "indicators": ("in", "G99"),
}
NOWHERE = "nowhere"
MISTAKEN = 0.4  # how often there is something wrong
ENDS = ("node", "source", "target")


class Documents:
    """Makes documents for one project, of its own versions and of those of others."""

    def __init__(self, luck: Random, purpose: Purpose, others: list[Purpose], today: str) -> None:
        self.luck = luck
        owner = luck.choice(others) if sometimes(luck) else purpose
        versions = owner.versions
        self.document: Thing = {"profile": "standard", **{part: [] for part in (*KINDS, "edges", "waivers")}}
        if versions and not rarely(luck):
            self.document = document_of(owner, luck.choice(versions), today)

    def some_document(self) -> Thing:
        """A document after a few changes."""
        well = (
            *(self.rename, self.rename, self.rename, self.number, self.number, self.number, self.add_edge),
            *(self.add_edge, self.add_waiver, self.add_waiver, self.retitle, self.retitle, self.add_node),
            *(self.drop_node, self.reprofile),
        )
        badly = (self.repeat, self.forget_node, self.misplace, self.misdate, self.draw_nowhere, self.waive_badly)
        for _ in range(self.luck.choice((0, 1, 2, 3, 4, 5))):
            self.luck.choice(well)()
        if self.luck.random() < MISTAKEN:
            self.luck.choice(badly)()
        return self.document

    # --- What is there ---

    def some_thing(self, kind: str) -> Thing | None:
        return self.luck.choice(self.document[kind]) if self.document[kind] else None

    def some_kind(self) -> str:
        return self.luck.choice(("nodes", "nodes", "assumptions", "indicators"))

    def some_node(self) -> str:
        one = self.some_thing("nodes")
        return one["key"] if one else NOWHERE

    def edges(self) -> list[str]:
        return [edge_called(one) for one in self.document["edges"]]

    # --- What others call it ---

    def call(self, kind: str, old: str, new: str) -> None:
        """Another name for something, wherever it is named."""
        if any(one["key"] == new for sort in KINDS for one in self.document[sort]):
            return
        for one in self.document[kind]:
            one["key"] = new if one["key"] == old else one["key"]
        if kind == "nodes":
            for part in ("edges", "assumptions", "indicators"):
                for one in self.document[part]:
                    one |= {end: new for end in ENDS if one.get(end) == old}
        for one in self.document["waivers"]:
            one["refs"] = [renamed(ref, {old: new}) for ref in one["refs"]]

    def rename(self) -> None:
        kind = self.some_kind()
        if one := self.some_thing(kind):
            self.call(kind, one["key"], self.luck.choice(NAMES[kind]))

    def number(self) -> None:
        """A key of ours that is further on, so that keys in between are missing."""
        kind = self.some_kind()
        one = self.some_thing(kind)
        letters = one["key"].rstrip("0123456789") if one else ""
        if one and letters in ("G", "OC", "OP", "AC", "AS", "IN") and one["key"] != letters:
            self.call(kind, one["key"], f"{letters}{int(one['key'].removeprefix(letters)) + self.luck.randint(1, 9)}")

    # --- What is said otherwise ---

    def retitle(self) -> None:
        """Other titles, mostly for most nodes: then it may be another theory."""
        for one in self.document["nodes"]:
            if not sometimes(self.luck):
                one["title"] = "" if rarely(self.luck) else self.luck.choice((*TITLES, "Roads", "Schools", "Trust"))

    def reprofile(self) -> None:
        """Another profile, or none: then it is that of the version before."""
        self.document.pop("profile", None)
        self.document |= self.luck.choice(({}, *({"profile": one} for one in PROFILES)))

    def add_node(self) -> None:
        luck = self.luck
        there = {one["key"] for kind in KINDS for one in self.document[kind]}
        key = luck.choice((*NAMES["nodes"], "G2", "OC2", "AC3"))
        if key not in there and len(there) < NODES_MAX:
            node = {"key": key, "node_type": luck.choice(NODE_TYPES), "title": luck.choice(TITLES)}
            self.document["nodes"].append(node)

    def drop_node(self) -> None:
        """A node goes, with all that hangs on it."""
        gone = self.some_node()
        self.document["nodes"] = [one for one in self.document["nodes"] if one["key"] != gone]
        for part in ("edges", "assumptions", "indicators"):
            self.document[part] = [one for one in self.document[part] if gone not in (one.get(end) for end in ENDS)]
        there = {one["key"] for kind in KINDS for one in self.document[kind]} | set(self.edges())
        self.document["waivers"] = [one for one in self.document["waivers"] if there.issuperset(one["refs"])]

    def add_edge(self) -> None:
        """An edge in whatever direction, or one that leads back."""
        luck = self.luck
        source, target = self.some_node(), self.some_node()
        if (one := self.some_thing("edges")) and sometimes(luck):
            source, target = one["target"], one["source"]
        type_ = luck.choice(EDGE_TYPES)
        if source != target and edge_name((source, target, type_)) not in self.edges():
            self.document["edges"].append({"source": source, "target": target, "edge_type": type_, **some(luck, EDGE)})

    def add_waiver(self) -> None:
        luck = self.luck
        there = [one["key"] for kind in KINDS for one in self.document[kind]] + self.edges()
        refs = luck.sample(there, luck.randint(1, 2)) if len(there) > 1 and often(luck) else []
        code = luck.choice(sorted(SEVERITIES.keys() - NOT_WAIVABLE))
        due = luck.choice(DAYS)
        self.document["waivers"].append({"code": code, "refs": refs, "reason": "later", "owner": "ada", "due": due})

    # --- Mistakes ---

    def repeat(self) -> None:
        part = self.luck.choice((*KINDS, "edges"))
        if one := self.some_thing(part):
            self.document[part].append(dict(one))

    def forget_node(self) -> None:
        gone = self.some_node()
        self.document["nodes"] = [one for one in self.document["nodes"] if one["key"] != gone]

    def misplace(self) -> None:
        """On nothing, on both, or on an edge that is not there."""
        if one := self.some_thing("assumptions"):
            ends = {"source": self.some_node(), "target": self.some_node()}
            for end in (*ENDS, "edge_type"):
                one.pop(end, None)
            one |= self.luck.choice(({}, ends, {**ends, "node": self.some_node()}))

    def misdate(self) -> None:
        if one := self.some_thing("assumptions"):
            one["review_by"] = "soon"

    def draw_nowhere(self) -> None:
        end = self.some_node()
        self.document["edges"].append({"source": end, "target": self.luck.choice((end, NOWHERE, "G99"))})

    def waive_badly(self) -> None:
        """No check, one that nobody can answer for, on no day, or about what is not in the document but in the plan."""
        luck = self.luck
        waiver = {"code": "GA_CYCLE", "refs": [], "reason": "later", "owner": "ada", "due": luck.choice(DAYS)}
        wrong: tuple[Thing, ...] = (
            *({"code": "GA_NONE"}, {"code": min(NOT_WAIVABLE)}, {"due": "12/31/2099"}),
            *({"refs": [ref]} for ref in (NOWHERE, "G1", "OC1->G1", "AS1")),
        )
        self.document["waivers"].append({**waiver, **luck.choice(wrong)})
