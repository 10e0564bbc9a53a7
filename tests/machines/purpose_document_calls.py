"""Random documents for import: exported versions that were edited elsewhere, well or badly.

Most are valid. Things have other names, numbers and titles; edges lead down and in circles. Sometimes something exists
twice or refers to nothing.
"""

from __future__ import annotations

from random import Random

from tests.machines.purpose_calls import DAYS, EDGE, EDGE_TYPES, NODES_MAX, TITLES, some
from tests.machines.purpose_document import document_of, edge_name_in, rename
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

# Names of nodes: almost keys, and keys of other kinds.
NAMES = {
    "nodes": ("oc7", "OC0", "G01", "IN99", "das „Ziel“"),
    "assumptions": ("as", "OC99"),
    "indicators": ("in", "G99"),
}
NOWHERE = "nowhere"
MISTAKEN = 0.4  # how often there is an error
ENDS = ("node", "source", "target")


class Documents:
    """Makes documents for one project, from its own versions and those of others."""

    def __init__(self, rng: Random, purpose: Purpose, others: list[Purpose], today: str) -> None:
        self.rng = rng
        owner = rng.choice(others) if sometimes(rng) else purpose
        versions = owner.versions
        self.document: Thing = {"profile": "standard", **{part: [] for part in (*KINDS, "edges", "waivers")}}
        if versions and not rarely(rng):
            self.document = document_of(owner, rng.choice(versions), today)

    def some_document(self) -> Thing:
        """Return a document after a few changes."""
        well = (
            *(self.rename, self.rename, self.rename, self.number, self.number, self.number, self.add_edge),
            *(self.add_edge, self.add_waiver, self.add_waiver, self.retitle, self.retitle, self.add_node),
            *(self.drop_node, self.reprofile),
        )
        badly = (self.repeat, self.forget_node, self.misplace, self.misdate, self.draw_nowhere, self.waive_badly)
        for _ in range(self.rng.choice((0, 1, 2, 3, 4, 5))):
            self.rng.choice(well)()
        if self.rng.random() < MISTAKEN:
            self.rng.choice(badly)()
        return self.document

    # --- What is there ---

    def some_thing(self, kind: str) -> Thing | None:
        return self.rng.choice(self.document[kind]) if self.document[kind] else None

    def some_kind(self) -> str:
        return self.rng.choice(("nodes", "nodes", "assumptions", "indicators"))

    def some_node(self) -> str:
        one = self.some_thing("nodes")
        return one["key"] if one else NOWHERE

    def edges(self) -> list[str]:
        return [edge_name_in(one) for one in self.document["edges"]]

    # --- What others call it ---

    def call(self, kind: str, old: str, new: str) -> None:
        """Rename something wherever it is named."""
        if any(one["key"] == new for sort in KINDS for one in self.document[sort]):
            return
        for one in self.document[kind]:
            one["key"] = new if one["key"] == old else one["key"]
        if kind == "nodes":
            for part in ("edges", "assumptions", "indicators"):
                for one in self.document[part]:
                    one |= {end: new for end in ENDS if one.get(end) == old}
        for one in self.document["waivers"]:
            one["refs"] = [rename(ref, {old: new}) for ref in one["refs"]]

    def rename(self) -> None:
        kind = self.some_kind()
        if one := self.some_thing(kind):
            self.call(kind, one["key"], self.rng.choice(NAMES[kind]))

    def number(self) -> None:
        """Give a node a higher key, so that keys in between are missing."""
        kind = self.some_kind()
        one = self.some_thing(kind)
        letters = one["key"].rstrip("0123456789") if one else ""
        if one and letters in ("G", "OC", "OP", "AC", "AS", "IN") and one["key"] != letters:
            self.call(kind, one["key"], f"{letters}{int(one['key'].removeprefix(letters)) + self.rng.randint(1, 9)}")

    # --- What is said otherwise ---

    def retitle(self) -> None:
        """Change titles, mostly of most nodes: then it may be another theory."""
        for one in self.document["nodes"]:
            if not sometimes(self.rng):
                one["title"] = "" if rarely(self.rng) else self.rng.choice((*TITLES, "Roads", "Schools", "Trust"))

    def reprofile(self) -> None:
        """Change or remove the profile; without one it is that of the version before."""
        self.document.pop("profile", None)
        self.document |= self.rng.choice(({}, *({"profile": one} for one in PROFILES)))

    def add_node(self) -> None:
        rng = self.rng
        there = {one["key"] for kind in KINDS for one in self.document[kind]}
        key = rng.choice((*NAMES["nodes"], "G2", "OC2", "AC3"))
        if key not in there and len(there) < NODES_MAX:
            node = {"key": key, "node_type": rng.choice(NODE_TYPES), "title": rng.choice(TITLES)}
            self.document["nodes"].append(node)

    def drop_node(self) -> None:
        """Remove a node with everything on it."""
        gone = self.some_node()
        self.document["nodes"] = [one for one in self.document["nodes"] if one["key"] != gone]
        for part in ("edges", "assumptions", "indicators"):
            self.document[part] = [one for one in self.document[part] if gone not in (one.get(end) for end in ENDS)]
        there = {one["key"] for kind in KINDS for one in self.document[kind]} | set(self.edges())
        self.document["waivers"] = [one for one in self.document["waivers"] if there.issuperset(one["refs"])]

    def add_edge(self) -> None:
        """Add an edge in any direction, or a feedback edge."""
        rng = self.rng
        source, target = self.some_node(), self.some_node()
        if (one := self.some_thing("edges")) and sometimes(rng):
            source, target = one["target"], one["source"]
        type_ = rng.choice(EDGE_TYPES)
        if source != target and edge_name((source, target, type_)) not in self.edges():
            self.document["edges"].append({"source": source, "target": target, "edge_type": type_, **some(rng, EDGE)})

    def add_waiver(self) -> None:
        rng = self.rng
        there = [one["key"] for kind in KINDS for one in self.document[kind]] + self.edges()
        refs = rng.sample(there, rng.randint(1, 2)) if len(there) > 1 and often(rng) else []
        code = rng.choice(sorted(SEVERITIES.keys() - NOT_WAIVABLE))
        due = rng.choice(DAYS)
        self.document["waivers"].append({"code": code, "refs": refs, "reason": "later", "owner": "ada", "due": due})

    # --- Mistakes ---

    def repeat(self) -> None:
        part = self.rng.choice((*KINDS, "edges"))
        if one := self.some_thing(part):
            self.document[part].append(dict(one))

    def forget_node(self) -> None:
        gone = self.some_node()
        self.document["nodes"] = [one for one in self.document["nodes"] if one["key"] != gone]

    def misplace(self) -> None:
        """Put an assumption on nothing, on both, or on a missing edge."""
        if one := self.some_thing("assumptions"):
            ends = {"source": self.some_node(), "target": self.some_node()}
            for end in (*ENDS, "edge_type"):
                one.pop(end, None)
            one |= self.rng.choice(({}, ends, {**ends, "node": self.some_node()}))

    def misdate(self) -> None:
        if one := self.some_thing("assumptions"):
            one["review_by"] = "soon"

    def draw_nowhere(self) -> None:
        end = self.some_node()
        self.document["edges"].append({"source": end, "target": self.rng.choice((end, NOWHERE, "G99"))})

    def waive_badly(self) -> None:
        """Add a waiver of an unknown or unwaivable check, without a day, or about something outside the document."""
        rng = self.rng
        waiver = {"code": "GA_CYCLE", "refs": [], "reason": "later", "owner": "ada", "due": rng.choice(DAYS)}
        wrong: tuple[Thing, ...] = (
            *({"code": "GA_NONE"}, {"code": min(NOT_WAIVABLE)}, {"due": "12/31/2099"}),
            *({"refs": [ref]} for ref in (NOWHERE, "G1", "OC1->G1", "AS1")),
        )
        self.document["waivers"].append({**waiver, **rng.choice(wrong)})
