"""Random calls about a purpose; most are valid, and some are not.

Values come from small sets, so that calls collide: the same node is renamed, retyped, connected, disconnected and
removed. A request is written as the product takes it; the oracle reads the same request.
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


def some(rng: Random, fields: dict[str, tuple[Any, ...]], *, nulls: bool = False) -> Thing:
    """Return some of the optional fields; null only where it removes something."""
    given = {name: rng.choice(values) for name, values in fields.items() if sometimes(rng)}
    return {name: value for name, value in given.items() if nulls or value is not None}


class Batches:
    """Makes random batches for one draft, which may not exist."""

    def __init__(self, rng: Random, purpose: Purpose, others: list[Purpose]) -> None:
        self.rng = rng
        self.purpose = purpose
        self.others = others
        self.theory = purpose.draft.theory if purpose.draft else Theory()
        self.types = {key: node["node_type"] for key, node in self.theory.nodes.items()}  # and those of new nodes

    def some_batch(self) -> list[Thing]:
        """Return a few operations. Nodes may be added after operations that use them."""
        rng = self.rng
        room = len(self.theory.nodes) < NODES_MAX
        added = [self.add_node(f"n{place}") for place in range(rng.choice((0, 0, 1, 2)) if room else 0)]
        self.types |= {op["ref"]: op["node_type"] for op in added if "ref" in op}
        operations = [self.some_operation() for _ in range(rng.choice((1, 1, 2, 3)))]
        for op in added:
            operations.insert(rng.randint(0, len(operations)), op)
        return operations

    def first(self) -> list[Thing]:
        """Return the first content of a purpose; it can often be published."""
        types = ("GOAL", "OUTCOME", "OUTPUT", "ACTIVITY")
        nodes = [{**self.add_node(type_), "ref": type_, "node_type": type_, "title": type_.title()} for type_ in types]
        edges = [
            {"op": "add_edge", "source": types[n + 1], "target": types[n], **some(self.rng, EDGE)} for n in range(3)
        ]
        return [*edges, *nodes]

    def some_operation(self) -> Thing:
        rng = self.rng
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
        (say,) = rng.choices(list(weights), list(weights.values()))
        return say()

    # --- Targets ---

    def name_of(self, kind: str, key: str) -> str:
        """Return a name of a thing: its key, or the id of its row."""
        one = getattr(self.theory, kind).get(key)
        if one is None or not sometimes(self.rng):
            return key
        id_: str = one["id"]
        return id_.replace("-", "") if rarely(self.rng) else id_

    def some_of(self, kind: str) -> str:
        """Return mostly an existing thing; sometimes one that is deleted, published, of another kind or project."""
        rng = self.rng
        there = list(getattr(self.theory, kind)) + (list(self.types) if kind == "nodes" else [])
        if there and rng.random() > 0.03:
            return self.name_of(kind, rng.choice(there))
        strange = [NOWHERE, "G99", "AS1", "IN1", "g1", "x"]
        for version in (*self.purpose.published, *(one for other in self.others for one in other.versions)):
            strange += [one["id"] for sort in KINDS for one in getattr(version.theory, sort).values()]
        strange += [one["id"] for one in (*self.theory.edges.values(), *self.theory.assumptions.values())]
        return rng.choice(strange)

    def some_ends(self) -> Thing:
        """Return two nodes, mostly so that the edge goes up."""
        level = [edge for edge in self.theory.causal if self.theory.rise(edge) == 0]
        if level and sometimes(self.rng):  # the reverse edge closes a cycle
            source, target, _ = self.rng.choice(level)
            return {"source": self.name_of("nodes", target), "target": self.name_of("nodes", source)}
        alike = [[key for key, type_ in self.types.items() if type_ == one] for one in NODE_TYPES]
        alike = [keys for keys in alike if len(keys) > 1]
        if alike and sometimes(self.rng):  # of one level, so that only a cycle can be in the way
            source, target = self.rng.sample(self.rng.choice(alike), 2)
            return {"source": self.name_of("nodes", source), "target": self.name_of("nodes", target)}
        source, target = self.some_of("nodes"), self.some_of("nodes")
        if source == target:
            target = self.some_of("nodes")
        types = [self.types.get(one) for one in (source, target)]
        levels = [NODE_TYPES.index(type_) if type_ else 0 for type_ in types]
        if levels[0] > levels[1] and not rarely(self.rng):
            source, target = target, source
        return {"source": source, "target": target}

    def some_edge(self) -> Thing:
        """Return mostly an existing edge, with or without its type."""
        rng = self.rng
        if not self.theory.edges or rng.random() < 0.08:
            return self.some_ends()
        edge: EdgeKey = rng.choice(list(self.theory.edges))
        ends = {"source": self.name_of("nodes", edge[0]), "target": self.name_of("nodes", edge[1])}
        return ends | ({"edge_type": edge[2]} if sometimes(rng) else {})

    def as_read(self, op: Thing, stored: Thing | None, fields: dict[str, tuple[Any, ...]]) -> Thing:
        """Return an update, sometimes with what its caller read: mostly what is stored, else any value."""
        rng = self.rng
        if stored is None or not sometimes(rng):
            return op
        names = [name for name in fields if name in op or rarely(rng)]
        return op | {"was": {name: rng.choice(fields[name]) if sometimes(rng) else stored[name] for name in names}}

    # --- One operation ---

    def add_node(self, ref: str) -> Thing:
        rng = self.rng
        op: Thing = {"op": "add_node", "node_type": rng.choice(NODE_TYPES), "title": rng.choice(TITLES)}
        if rarely(rng) and rarely(rng):
            op["title"] = "  "
        if often(rng):
            op["ref"] = rng.choice((ref, ref, ref, "G1", "AC1"))  # a ref shadows an equal key
        return op | some(rng, NODE) | ({"metadata": rng.choice(METADATA)} if sometimes(rng) else {})

    def update_node(self) -> Thing:
        rng = self.rng
        op = {"op": "update_node", "node": self.some_of("nodes"), **some(rng, NODE, nulls=True)}
        if often(rng):
            op["title"] = rng.choice(TITLES)
        if sometimes(rng):
            op["node_type"] = rng.choice(NODE_TYPES)
        op |= {"metadata": rng.choice(METADATA)} if sometimes(rng) else {}
        return self.as_read(op, self.theory.nodes.get(op["node"]), {**NODE, "title": TITLES})

    def remove_node(self) -> Thing:
        return {"op": "remove_node", "node": self.some_of("nodes")}

    def add_edge(self) -> Thing:
        rng = self.rng
        op = {"op": "add_edge", **self.some_ends(), **some(rng, EDGE)}
        return op | ({"edge_type": rng.choice(EDGE_TYPES)} if often(rng) else {})

    def update_edge(self) -> Thing:
        rng = self.rng
        op = {"op": "update_edge", **self.some_edge(), **some(rng, EDGE, nulls=True)}
        op |= {"new_edge_type": rng.choice(EDGE_TYPES)} if sometimes(rng) else {}
        there = [one for edge, one in self.theory.edges.items() if edge[:2] == (op["source"], op["target"])]
        return self.as_read(op, there[0] if len(there) == 1 else None, EDGE)

    def remove_edge(self) -> Thing:
        return {"op": "remove_edge", **self.some_edge()}

    def add_assumption(self) -> Thing:
        rng = self.rng
        place = self.some_edge() if sometimes(rng) else {"node": self.some_of("nodes")}
        if rarely(rng):
            place = rng.choice(({}, {**self.some_ends(), "node": self.some_of("nodes")}))
        op = {"op": "add_assumption", "assumption_text": rng.choice(("rain", "soil")), **place}
        if rarely(rng):
            return {**op, "review_by": "soon"}
        return op | some(rng, ASSUMPTION) | ({"ref": "as"} if rarely(rng) else {})

    def update_assumption(self) -> Thing:
        op = {"op": "update_assumption", "assumption": self.some_of("assumptions")}
        op |= some(self.rng, {"assumption_text": ("rain", "frost")}) | some(self.rng, ASSUMPTION, nulls=True)
        return self.as_read(op, self.theory.assumptions.get(op["assumption"]), ASSUMPTION)

    def remove_assumption(self) -> Thing:
        return {"op": "remove_assumption", "assumption": self.some_of("assumptions")}

    def add_indicator(self) -> Thing:
        op = {"op": "add_indicator", "node": self.some_of("nodes"), "name": "litres"}
        return op | some(self.rng, INDICATOR) | ({"ref": "in"} if rarely(self.rng) else {})

    def update_indicator(self) -> Thing:
        op = {"op": "update_indicator", "indicator": self.some_of("indicators")}
        op |= some(self.rng, {"name": ("litres", "wells")}) | some(self.rng, INDICATOR, nulls=True)
        return self.as_read(op, self.theory.indicators.get(op["indicator"]), INDICATOR)

    def remove_indicator(self) -> Thing:
        return {"op": "remove_indicator", "indicator": self.some_of("indicators")}


def some_version(rng: Random, purpose: Purpose) -> int | str | None:
    if rarely(rng):
        return rng.choice(("draft", len(purpose.versions) + 1, 0))
    return rng.choice((None, *("published" for _ in purpose.published), *(one.number for one in purpose.published)))


def some_key(rng: Random, purpose: Purpose, kind: str) -> str:
    """Return a key of some version, or rarely an unknown one."""
    there = [key for one in purpose.versions for key in getattr(one.theory, kind)]
    return rng.choice(there) if there and rng.random() > 0.05 else rng.choice(("G99", "AS99", "IN99"))


def some_refs(rng: Random, purpose: Purpose) -> list[str]:
    edges = [edge_name(edge) for one in purpose.versions for edge in one.theory.edges]
    found = [some_key(rng, purpose, rng.choice(KINDS)) for _ in range(rng.choice((0, 1, 1, 2)))]
    return found + ([rng.choice(edges)] if edges and sometimes(rng) else [])


def some_subjects(rng: Random, purpose: Purpose) -> dict[str, list[str]]:
    return {"about": some_refs(rng, purpose)} if often(rng) else {}


def some_waiver(rng: Random, purpose: Purpose) -> Thing:
    """Return mostly a waiver of a failing check: as a whole, for its refs, or for anything."""
    waiver = {"code": "GA_NONE", "refs": [], "reason": "later", "owner": "ada", "due": rng.choice(DAYS)}
    if rarely(rng):
        return waiver
    if not purpose.versions or rarely(rng):
        return waiver | {"code": rng.choice(list(SEVERITIES)), "refs": some_refs(rng, purpose)}
    version = rng.choice(purpose.versions)
    checks = {**purpose.gate("A", version, today=DAYS[1]).checks, **purpose.gate("B", version, today=DAYS[1]).checks}
    failing = {code: check.refs for code, check in checks.items() if check.result in ("failed", "waived")}
    code = rng.choice(list(failing or SEVERITIES))
    refs = failing.get(code, [])
    if refs and sometimes(rng):
        refs = rng.sample(refs, rng.randint(1, len(refs)))
    return waiver | {"code": code, "refs": [] if often(rng) else refs}


def some_observations(rng: Random, purpose: Purpose) -> dict[str, list[Thing]]:
    """Return a few observations, rarely none."""
    given: dict[str, list[Thing]] = {}
    if sometimes(rng) and any(one.theory.indicators for one in purpose.versions):
        as_of = rng.choice((*DAYS[:2], *DAYS[:2], "2026-11-10", DAYS[-1] if rarely(rng) else DAYS[0]))
        key = some_key(rng, purpose, "indicators")
        given["measurements"] = [{"indicator": key, "value": rng.choice(NUMBERS[1:]), "as_of": as_of}]
    if often(rng) and any(one.theory.assumptions for one in purpose.versions):
        statuses = ("untested", "holding", "at_risk", "refuted", "refuted")
        given["reviews"] = [
            {"assumption": some_key(rng, purpose, "assumptions"), "status": rng.choice(statuses), "reason": "seen"}
            for _ in range(rng.choice((1, 1, 2)))
        ]
    if often(rng):
        given["waivers"] = [some_waiver(rng, purpose)]
    if sometimes(rng):
        given["decisions"] = [{"text": "go on", "rationale": "for now", **some_subjects(rng, purpose)}]
        for field, earlier in (("supersedes", purpose.decisions), ("answers", purpose.requests)):
            if earlier and sometimes(rng):
                given["decisions"][0][field] = "{rev}.{n}".format(**rng.choice(earlier))
    if sometimes(rng):
        given["requests"] = [{"question": "go on?", **some_subjects(rng, purpose)}]
    return given
