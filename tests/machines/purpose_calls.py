"""What callers might say about a purpose: random requests, most of which make sense, and some do not.

Values come from small sets, so that calls meet: the same node is retitled, retyped, wired, unwired and removed. A
request is written as the product takes it; the oracle reads the same words.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.machines.purpose_oracle import KINDS, NODE_TYPES, SEVERITIES, EdgeKey, Purpose, Theory, Thing, edge_name
from tests.machines.work_calls import often, rarely, sometimes

TITLES = ("Dig", "dig", "Wells", "Water „rein“", "Health")
TEXTS = (None, "", "how it is", "„so“ \u2028 and so")
SENTENCES = (None, "by hand", "„so“")
OWNERS = (None, "ada", "Ben")
METADATA: tuple[Thing, ...] = ({}, {"a": 1}, {"a": None}, {"b": {"c": [1.5, "x"]}, "a": "ä"})
DAYS = ("2026-11-14", "2026-11-15", "2026-11-16", "2026-11-20", "2099-01-01")
NUMBERS = (None, 0, 2, -1.5, 2.25)
EDGE_TYPES = ("CONTRIBUTES_TO", "CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK")
NOWHERE = "00000000-0000-4000-8000-000000000000"
NODES_MAX = 8

NODE = {"description": TEXTS, "narrative": TEXTS, "owner": OWNERS}
EDGE = {"mechanism": SENTENCES, "confidence": (None, "low", "medium", "high")}
ASSUMPTION = {"risk_level": (None, "LOW", "MEDIUM", "HIGH"), "owner": OWNERS, "review_by": (None, *DAYS)}
INDICATOR = {
    "unit": (None, "litres"),
    "direction": (None, "increase", "decrease"),
    "baseline": NUMBERS,
    "baseline_verified": (None, True, False),
    "target": NUMBERS,
    "method": SENTENCES,
    "frequency": (None, "monthly"),
    "owner": OWNERS,
}


def some(luck: Random, fields: dict[str, tuple[Any, ...]], *, nulls: bool = False) -> Thing:
    """Some of the fields that may be given; null only where that takes something away."""
    given = {name: luck.choice(values) for name, values in fields.items() if sometimes(luck)}
    return {name: value for name, value in given.items() if nulls or value is not None}


class Batches:
    """Says batches about one draft, which may not be there."""

    def __init__(self, luck: Random, purpose: Purpose, others: list[Purpose]) -> None:
        self.luck = luck
        self.purpose = purpose
        self.others = others
        self.theory = purpose.draft.theory if purpose.draft else Theory()
        self.types = {key: node["node_type"] for key, node in self.theory.nodes.items()}  # and those of new nodes

    def some_batch(self) -> list[Thing]:
        """A few operations. Nodes may be added behind those that use them."""
        luck = self.luck
        room = len(self.theory.nodes) < NODES_MAX
        added = [self.add_node(f"n{place}") for place in range(luck.choice((0, 0, 1, 2)) if room else 0)]
        self.types |= {op["ref"]: op["node_type"] for op in added if "ref" in op}
        operations = [self.some_operation() for _ in range(luck.choice((1, 1, 2, 3)))]
        for op in added:
            operations.insert(luck.randint(0, len(operations)), op)
        return operations

    def first(self) -> list[Thing]:
        """What a purpose begins with, so that there is something to work on: often it can be published."""
        types = ("GOAL", "OUTCOME", "OUTPUT", "ACTIVITY")
        nodes = [{**self.add_node(type_), "ref": type_, "node_type": type_, "title": type_.title()} for type_ in types]
        edges = [
            {"op": "add_edge", "source": types[n + 1], "target": types[n], **some(self.luck, EDGE)} for n in range(3)
        ]
        return [*edges, *nodes]

    def some_operation(self) -> Thing:
        luck = self.luck
        theory = self.theory
        weights = {
            self.update_node: 12,
            self.remove_node: 4 if len(theory.nodes) < NODES_MAX else 20,
            self.add_edge: 30,
            self.update_edge: 12 if theory.edges else 1,
            self.remove_edge: 5 if theory.edges else 1,
            self.add_assumption: 10,
            self.update_assumption: 8 if theory.assumptions else 1,
            self.remove_assumption: 3 if theory.assumptions else 1,
            self.add_indicator: 8,
            self.update_indicator: 8 if theory.indicators else 1,
            self.remove_indicator: 3 if theory.indicators else 1,
        }
        (say,) = luck.choices(list(weights), list(weights.values()))
        return say()

    # --- Which one is meant ---

    def called(self, kind: str, key: str) -> str:
        """One of the names of a thing: its key, or the id of its row."""
        one = getattr(self.theory, kind).get(key)
        if one is None or not sometimes(self.luck):
            return key
        id_: str = one["id"]
        return id_.replace("-", "") if rarely(self.luck) else id_

    def some_of(self, kind: str) -> str:
        """Mostly something that is there; now and then what is gone, published, of another sort or of others."""
        luck = self.luck
        there = list(getattr(self.theory, kind)) + (list(self.types) if kind == "nodes" else [])
        if there and luck.random() > 0.03:
            return self.called(kind, luck.choice(there))
        strange = [NOWHERE, "G99", "AS1", "IN1", "g1", "x"]
        for version in (*self.purpose.published, *(one for other in self.others for one in other.versions)):
            strange += [one["id"] for sort in KINDS for one in getattr(version.theory, sort).values()]
        strange += [one["id"] for one in (*self.theory.edges.values(), *self.theory.assumptions.values())]
        return luck.choice(strange)

    def some_ends(self) -> Thing:
        """Two nodes, mostly so that the edge goes up."""
        level = [edge for edge in self.theory.causal if self.theory.rise(edge) == 0]
        if level and sometimes(self.luck):  # the way back closes a cycle
            source, target, _ = self.luck.choice(level)
            return {"source": self.called("nodes", target), "target": self.called("nodes", source)}
        alike = [[key for key, type_ in self.types.items() if type_ == one] for one in NODE_TYPES]
        alike = [keys for keys in alike if len(keys) > 1]
        if alike and sometimes(self.luck):  # of one level, so that nothing but a cycle is in the way
            source, target = self.luck.sample(self.luck.choice(alike), 2)
            return {"source": self.called("nodes", source), "target": self.called("nodes", target)}
        source, target = self.some_of("nodes"), self.some_of("nodes")
        if source == target:
            target = self.some_of("nodes")
        types = [self.types.get(one) for one in (source, target)]
        levels = [NODE_TYPES.index(type_) if type_ else 0 for type_ in types]
        if levels[0] > levels[1] and not rarely(self.luck):
            source, target = target, source
        return {"source": source, "target": target}

    def some_edge(self) -> Thing:
        """Mostly an edge that is there, its type said or not."""
        luck = self.luck
        if not self.theory.edges or luck.random() < 0.08:
            return self.some_ends()
        edge: EdgeKey = luck.choice(list(self.theory.edges))
        ends = {"source": self.called("nodes", edge[0]), "target": self.called("nodes", edge[1])}
        return ends | ({"edge_type": edge[2]} if sometimes(luck) else {})

    # --- One operation ---

    def add_node(self, ref: str) -> Thing:
        luck = self.luck
        op: Thing = {"op": "add_node", "node_type": luck.choice(NODE_TYPES), "title": luck.choice(TITLES)}
        if rarely(luck) and rarely(luck):
            op["title"] = "  "
        if often(luck):
            op["ref"] = luck.choice((ref, ref, ref, "G1", "AC1"))  # a ref hides the key of the same letters
        return op | some(luck, NODE) | ({"metadata": luck.choice(METADATA)} if sometimes(luck) else {})

    def update_node(self) -> Thing:
        luck = self.luck
        op = {"op": "update_node", "node": self.some_of("nodes"), **some(luck, NODE, nulls=True)}
        if often(luck):
            op["title"] = luck.choice(TITLES)
        if sometimes(luck):
            op["node_type"] = luck.choice(NODE_TYPES)
        return op | ({"metadata": luck.choice(METADATA)} if sometimes(luck) else {})

    def remove_node(self) -> Thing:
        return {"op": "remove_node", "node": self.some_of("nodes")}

    def add_edge(self) -> Thing:
        luck = self.luck
        op = {"op": "add_edge", **self.some_ends(), **some(luck, EDGE)}
        return op | ({"edge_type": luck.choice(EDGE_TYPES)} if often(luck) else {})

    def update_edge(self) -> Thing:
        luck = self.luck
        op = {"op": "update_edge", **self.some_edge(), **some(luck, EDGE, nulls=True)}
        return op | ({"new_edge_type": luck.choice(EDGE_TYPES)} if sometimes(luck) else {})

    def remove_edge(self) -> Thing:
        return {"op": "remove_edge", **self.some_edge()}

    def add_assumption(self) -> Thing:
        luck = self.luck
        place = self.some_edge() if sometimes(luck) else {"node": self.some_of("nodes")}
        if rarely(luck):
            place = luck.choice(({}, {**self.some_ends(), "node": self.some_of("nodes")}))
        op = {"op": "add_assumption", "assumption_text": luck.choice(("rain", "soil")), **place}
        if rarely(luck):
            return {**op, "review_by": "soon"}
        return op | some(luck, ASSUMPTION) | ({"ref": "as"} if rarely(luck) else {})

    def update_assumption(self) -> Thing:
        op = {"op": "update_assumption", "assumption": self.some_of("assumptions")}
        return op | some(self.luck, {"assumption_text": ("rain", "frost")}) | some(self.luck, ASSUMPTION, nulls=True)

    def remove_assumption(self) -> Thing:
        return {"op": "remove_assumption", "assumption": self.some_of("assumptions")}

    def add_indicator(self) -> Thing:
        op = {"op": "add_indicator", "node": self.some_of("nodes"), "name": "litres"}
        return op | some(self.luck, INDICATOR) | ({"ref": "in"} if rarely(self.luck) else {})

    def update_indicator(self) -> Thing:
        op = {"op": "update_indicator", "indicator": self.some_of("indicators")}
        return op | some(self.luck, {"name": ("litres", "wells")}) | some(self.luck, INDICATOR, nulls=True)

    def remove_indicator(self) -> Thing:
        return {"op": "remove_indicator", "indicator": self.some_of("indicators")}


def some_version(luck: Random, purpose: Purpose) -> int | str | None:
    if rarely(luck):
        return luck.choice(("draft", len(purpose.versions) + 1, 0))
    return luck.choice((None, *("published" for _ in purpose.published), *(one.number for one in purpose.published)))


def some_key(luck: Random, purpose: Purpose, kind: str) -> str:
    """A key that some version has, or rarely none."""
    there = [key for one in purpose.versions for key in getattr(one.theory, kind)]
    return luck.choice(there) if there and luck.random() > 0.05 else luck.choice(("G99", "AS99", "IN99"))


def some_refs(luck: Random, purpose: Purpose) -> list[str]:
    edges = [edge_name(edge) for one in purpose.versions for edge in one.theory.edges]
    found = [some_key(luck, purpose, luck.choice(KINDS)) for _ in range(luck.choice((0, 1, 1, 2)))]
    return found + ([luck.choice(edges)] if edges and sometimes(luck) else [])


def some_waiver(luck: Random, purpose: Purpose) -> Thing:
    """Mostly of a check that fails somewhere: as a whole, for what fails, or for anything."""
    waiver = {"code": "GA_NONE", "refs": [], "reason": "later", "owner": "ada", "due": luck.choice(DAYS)}
    if rarely(luck):
        return waiver
    if not purpose.versions or rarely(luck):
        return waiver | {"code": luck.choice(list(SEVERITIES)), "refs": some_refs(luck, purpose)}
    version = luck.choice(purpose.versions)
    checks = {**purpose.gate("A", version, today=DAYS[1]).checks, **purpose.gate("B", version, today=DAYS[1]).checks}
    failing = {code: check.refs for code, check in checks.items() if check.result in ("failed", "waived")}
    code = luck.choice(list(failing or SEVERITIES))
    refs = failing.get(code, [])
    if refs and sometimes(luck):
        refs = luck.sample(refs, luck.randint(1, len(refs)))
    return waiver | {"code": code, "refs": [] if often(luck) else refs}


def some_observations(luck: Random, purpose: Purpose) -> dict[str, list[Thing]]:
    """A few of them; rarely nothing at all."""
    given: dict[str, list[Thing]] = {}
    if sometimes(luck) and any(one.theory.indicators for one in purpose.versions):
        as_of = luck.choice((*DAYS[:2], *DAYS[:2], "2026-11-10", DAYS[-1] if rarely(luck) else DAYS[0]))
        key = some_key(luck, purpose, "indicators")
        given["measurements"] = [{"indicator": key, "value": luck.choice(NUMBERS[1:]), "as_of": as_of}]
    if often(luck) and any(one.theory.assumptions for one in purpose.versions):
        statuses = ("untested", "holding", "at_risk", "refuted", "refuted")
        given["reviews"] = [
            {"assumption": some_key(luck, purpose, "assumptions"), "status": luck.choice(statuses), "reason": "seen"}
            for _ in range(luck.choice((1, 1, 2)))
        ]
    if often(luck):
        given["waivers"] = [some_waiver(luck, purpose)]
    if sometimes(luck):
        given["decisions"] = [{"text": "go on", "rationale": "for now", "about": some_refs(luck, purpose)}]
    return given
