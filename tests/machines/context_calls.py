"""Random calls about facts: for the oracle, and as arguments for the product.

Values come from small sets, so that calls collide: the same input is inferred, entered, suggested, cleared and
redefined. Most calls are valid, and some are not. Commands name things by the oracle's numbers, which are translated
to ids. A negative number has an id that the caller chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import uuid4

from tests.machines.context_oracle import KINDS, NOWHERE, Facts, Run, Valued
from tests.machines.work_calls import often, rarely, sometimes

POINTERS = ("/a", "/a/b", "/É~1")
MALFORMED = ("", "a", "/~", "/a~2")
KEYS = ("max", "Max")
VALUES: Mapping[str, tuple[Any, ...]] = {
    "string": ("", "unknown", "3", "true"),
    "number": (0, -2.5, 2**53),
    "boolean": (False, True),
    "enum": ("low", "high", "unknown", ""),
    "json": ({}, False, 0, {"a": [None, 1]}),
}
MISFITS: Mapping[str, Any] = {"string": 3, "number": "many", "boolean": "maybe", "enum": ["low"], "json": "fits"}
OPTIONS: tuple[list[str] | None, ...] = (None, ["low", "unknown", ""], ["unknown"], [])
TEXTS = (None, "", "page 3", "„so“")
META: tuple[dict[str, Any], ...] = ({}, {"page": 3}, {"page": None})
PROVENANCES = ("unknown", "model-inferred", "source-backed", "source-backed", "user-entered")
SOURCE_KINDS = ("file", "url", "manual")
PARSE_STATUSES = ("pending", "parsed", "failed")
ARTIFACT_TYPES = ("plan.v1", "note")
ROWS_MAX = 3  # of each sort in a run


@dataclass
class Ids:
    """The product's ids of the oracle's numbers."""

    scopes: dict[int, str] = field(default_factory=dict)
    rows: dict[int, str] = field(default_factory=lambda: {NOWHERE: "00000000-0000-4000-8000-000000000000"})
    chosen: int = 0  # ids chosen by callers

    def choose(self) -> int:
        """Return a new id chosen by the caller."""
        self.chosen += 1
        self.rows[-self.chosen] = str(uuid4())
        return -self.chosen


# Targets: mostly one for which the call is valid, sometimes any other.


def some_run(rng: Random, facts: Facts, *, draft: bool = True) -> int:
    fitting = [n for n, run in facts.runs.items() if run.is_draft is draft]
    if fitting and rng.random() > 0.08:
        return rng.choice(fitting[-2:])
    return rng.choice([*facts.runs, *facts.runs, *facts.gone, NOWHERE])


def some_source(rng: Random, facts: Facts, run: Run) -> int:
    """Return a source of the run, sometimes of another run or a missing one."""
    if run.sources and rng.random() > 0.08:
        return rng.choice(list(run.sources))
    return rng.choice([NOWHERE, *(n for other in facts.runs.values() for n in other.sources if other is not run)])


def some_sources(rng: Random, facts: Facts, run: Run) -> list[int]:
    return [some_source(rng, facts, run) for _ in range(rng.choice((0, 1, 1, 2)))] if run.sources else []


def some_suggestion(rng: Random, facts: Facts, run: Run) -> int:
    if run.pending and rng.random() > 0.2:
        return rng.choice(run.pending).n
    elsewhere = [n for other in facts.runs.values() for n in other.suggestions]
    return rng.choice([*run.suggestions] if run.suggestions and often(rng) else [NOWHERE, *elsewhere])


def mostly(rng: Random, given: dict[str, Any]) -> dict[str, Any]:
    """Return all items, or rarely all but one."""
    return {name: given[name] for name in given if not rarely(rng)}


def some_row(rng: Random, there: Mapping[int, Any], everywhere: list[int], ids: Ids) -> int | None:
    """Return the number of a row to change, or None for a new one, maybe with a chosen id."""
    if there and (len(there) >= ROWS_MAX or often(rng)):
        return rng.choice(list(there))
    if everywhere and rng.random() < 0.15:
        return rng.choice(everywhere)
    return ids.choose() if sometimes(rng) else None


# Rows to write.


def some_source_row(rng: Random, facts: Facts, run: Run, ids: Ids, marker: str) -> dict[str, Any]:
    n = some_row(rng, run.sources, [n for other in facts.runs.values() for n in other.sources], ids)
    given: dict[str, Any] = {} if n is None else {"n": n}
    if n not in run.sources:
        given |= mostly(rng, {"kind": rng.choice(SOURCE_KINDS), "title": "survey", "uri": marker})
    for name, choices in (
        ("title", ("survey", "map", "„Karte“")),
        ("kind", SOURCE_KINDS),
        ("parse_status", PARSE_STATUSES),
        ("excerpt", TEXTS),
        ("size", (None, 0, 2**53)),
        ("meta", META),
    ):
        if sometimes(rng):
            given[name] = rng.choice(choices)
    if n not in run.sources and "uri" not in given and given.get("kind") == "manual" and "title" in given:
        given["title"] = marker  # it becomes the uri, by which sources are told apart
    return given


def some_artifact_row(rng: Random, facts: Facts, run: Run, ids: Ids, marker: str) -> dict[str, Any]:
    n = some_row(rng, run.artifacts, [n for other in facts.runs.values() for n in other.artifacts], ids)
    given: dict[str, Any] = {} if n is None else {"n": n}
    if n not in run.artifacts:
        given |= mostly(rng, {"type": rng.choice(ARTIFACT_TYPES), "title": marker})
    elif often(rng):
        given["type"] = rng.choice(ARTIFACT_TYPES)
    if often(rng):
        given["payload"] = rng.choice(META)
    return given


def some_input_row(rng: Random, facts: Facts, run: Run, pointer: str = "") -> dict[str, Any]:
    pointer = pointer or (rng.choice(MALFORMED) if rarely(rng) else rng.choice(POINTERS))
    found = run.inputs.get(pointer)
    given: dict[str, Any] = {"pointer": pointer}
    if found is None or rarely(rng):
        given |= mostly(rng, {"label": pointer or "x", "kind": rng.choice(KINDS)})
    for name, choices in (("label", ("A", "Ä")), ("required", (True, False)), ("snippet", TEXTS)):
        if sometimes(rng):
            given[name] = rng.choice(choices)
    if sometimes(rng) or (given.get("kind") == "enum" and often(rng)):
        given["options"] = rng.choice(OPTIONS)
    return given | some_value(rng, facts, run, found, given)


def some_constraint_row(rng: Random, facts: Facts, run: Run, ids: Ids, marker: str) -> dict[str, Any]:
    if run.constraints and sometimes(rng):
        return some_keyed_row(rng, facts, run, marker)
    n = some_row(rng, run.constraints, [n for other in facts.runs.values() for n in other.constraints], ids)
    found = None if n is None else run.constraints.get(n)
    given: dict[str, Any] = {} if n is None else {"n": n}
    if found is not None and sometimes(rng):
        given = {"key": found.key} if often(rng) else {"n": n, "key": found.key}
    if found is None:
        given |= mostly(rng, {"key": rng.choice(KEYS), "label": "limit", "kind": rng.choice(KINDS)})
        given["domain"] = marker
    elif rarely(rng):
        given["kind"] = rng.choice(KINDS)
    for name, choices in (("label", ("A", "Ä")), ("key", KEYS), ("snippet", TEXTS)):
        if sometimes(rng):
            given[name] = rng.choice(choices)
    return given | some_limit(rng, facts, run, found, given)


def some_keyed_row(rng: Random, facts: Facts, run: Run, marker: str, key: str = "") -> dict[str, Any]:
    """Return a constraint by its key alone, without its kind, which the caller may think to be another."""
    key = key or rng.choice(KEYS)
    found = next((one for one in run.constraints.values() if one.key == key), None)
    kind = found.kind if found and often(rng) else rng.choice(KINDS)
    given = {"key": key} if found else {"key": key, "label": "limit", "domain": marker}
    return given | some_limit(rng, facts, run, found, {"kind": kind})


def some_limit(rng: Random, facts: Facts, run: Run, found: Valued | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of a constraint, which has one source at most."""
    told = some_value(rng, facts, run, found, given)
    return told | ({"sources": told["sources"][:1]} if "sources" in told else {})


def some_value(rng: Random, facts: Facts, run: Run, found: Valued | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value, its provenance, or neither. The value of a new row without a kind is of any kind.

    A value is by itself or in columns. Whether they are right depends on the row that the call finds.
    """
    kind = given.get("kind", found.kind if found else rng.choice(KINDS))
    told: dict[str, Any] = {}
    if rng.random() < 0.8:
        value = MISFITS[kind] if rarely(rng) else _value(rng, kind)
        told |= {"value": value} if often(rng) else {"columns": {kind: value}}
        if "columns" in told and sometimes(rng):  # as a view has them
            told["columns"] = dict.fromkeys(KINDS) | told["columns"]
        if rarely(rng):
            told = {"columns": some_columns(rng, kind)}
    if sometimes(rng):
        told["provenance"] = rng.choice(PROVENANCES)
    if sometimes(rng):
        told["sources"] = some_sources(rng, facts, run)
    if told.get("provenance") == "source-backed" and "sources" not in told and often(rng):
        told["sources"] = some_sources(rng, facts, run)
    if told and sometimes(rng):
        told["rationale"] = "because"
    return told


def _value(rng: Random, kind: str) -> Any:
    return None if rng.random() < 0.15 else rng.choice(VALUES[kind])


def some_columns(rng: Random, kind: str) -> dict[str, Any]:
    """Return a value in the column of another kind, or two values."""
    other = rng.choice([one for one in KINDS if one != kind])
    columns = {other: rng.choice(VALUES[other])}
    return columns | ({kind: rng.choice(VALUES[kind])} if often(rng) else {})


def some_edit(rng: Random, facts: Facts, run: Run, ids: Ids, serial: str) -> dict[str, Any]:
    """Return a few parts of an edit, sometimes none."""
    given: dict[str, Any] = {}
    if rng.random() < 0.15 or not run.sources:
        some = [some_source_row(rng, facts, run, ids, f"s{serial}.{n}") for n in range(rng.choice((1, 1, 2)))]
        given["sources"] = some if rarely(rng) else list({one.get("n", one.get("uri")): one for one in some}.values())
    if rng.random() < 0.65:
        wanted = [some_input_row(rng, facts, run) for _ in range(rng.choice((1, 1, 2)))]
        given["inputs"] = wanted if rarely(rng) else list({one["pointer"]: one for one in wanted}.values())
        own = [one["n"] for one in given.get("sources", ()) if one.get("n", NOWHERE) < 0]
        if own and often(rng):  # a source of the same call
            given["inputs"][0]["sources"] = own[:1]
    if rng.random() < 0.4:
        given["constraints"] = [some_constraint_row(rng, facts, run, ids, f"c{serial}")]
    if rarely(rng) or rarely(rng):
        given["artifacts"] = [some_artifact_row(rng, facts, run, ids, f"a{serial}")]
    keys = [one.key for one in run.constraints.values()]
    if rng.random() < 0.1 and (run.inputs or keys):
        name = rng.choice([*run.inputs, *keys, *((*POINTERS, *KEYS) if rarely(rng) else ())])
        given["links"] = [(name, some_source(rng, facts, run))]
    linked = [(pointer, n) for pointer, one in run.inputs.items() for n in sorted(one.sources)]
    linked += [(one.key, one.source) for one in run.constraints.values() if one.source is not None]
    if linked and rng.random() < 0.25:
        given["unlinks"] = [rng.choice(linked) if not rarely(rng) else (POINTERS[0], some_source(rng, facts, run))]
    if rng.random() < 0.09:
        given["remove"] = some_removal(rng, facts, run)
    return given if given or rarely(rng) else {"inputs": [some_input_row(rng, facts, run)]}


def some_removal(rng: Random, facts: Facts, run: Run) -> list[tuple[str, Any]]:
    """Return rows to remove: often a source that is cited, rarely a missing one."""
    if rarely(rng):
        return [(rng.choice(("sources", "artifacts")), NOWHERE)]
    if run.sources and often(rng):
        source = some_source(rng, facts, run)
        citing = [
            ("inputs", pointer) for pointer, one in run.inputs.items() if source in one.sources and sometimes(rng)
        ]
        return [*citing, ("sources", source)]
    there = [
        *(("inputs", pointer) for pointer in run.inputs),
        *(("constraints", n) for n in run.constraints),
        *(("artifacts", n) for n in run.artifacts),
    ]
    return [rng.choice(there)] if there else []


def some_first_facts(rng: Random, serial: str) -> dict[str, Any]:
    """Return the first content of a run."""
    kinds = rng.sample(KINDS, 3)
    sources = [{"kind": "url", "title": "survey", "uri": f"s{serial}.{n}"} for n in range(2)]
    inputs = [
        {"pointer": pointer, "label": "A", "kind": kind, "value": VALUES[kind][0]}
        | ({"options": ["low", "unknown", ""]} if kind == "enum" else {})
        for pointer, kind in zip(POINTERS, kinds, strict=False)
    ]
    inputs[-1] |= {"value": None, "required": True}
    kind = rng.choice(KINDS)
    limit = {"key": KEYS[0], "label": "limit", "kind": kind, "domain": f"c{serial}", "value": rng.choice(VALUES[kind])}
    limit |= {"provenance": "source-backed"} if sometimes(rng) else {}
    return {"sources": sources, "inputs": inputs, "constraints": [limit]}


def some_restatement(rng: Random, latest: Run, serial: str) -> dict[str, Any]:
    """What is in force, said anew in a draft that does not begin with it; now and then something otherwise, or not."""

    def some(one: Valued) -> dict[str, Any]:
        value = rng.choice(VALUES[one.kind]) if rarely(rng) else one.value
        return {"label": one.label, "kind": one.kind, "value": value}

    inputs = [
        {"pointer": pointer, "options": one.options, "required": one.required and not rarely(rng), **some(one)}
        for pointer, one in latest.inputs.items()
        if not rarely(rng)
    ]
    limits = [
        {"key": one.key, "domain": f"c{serial}.{one.key}", **some(one)}
        for one in latest.constraints.values()
        if not rarely(rng)
    ]
    return {"inputs": inputs, "constraints": limits}


def some_turn(rng: Random, facts: Facts, run: Run, serial: str, name: str) -> dict[str, Any]:
    """Return an edit of one fact, an input or a constraint by its name, with sources if the run has any."""
    if name in KEYS:
        row = some_keyed_row(rng, facts, run, f"c{serial}", name)
        return {"constraints": [row | {"sources": some_sources(rng, facts, run)[:1]}]}
    return {"inputs": [some_input_row(rng, facts, run, name) | {"sources": some_sources(rng, facts, run)}]}


def some_agreed_row(rng: Random) -> dict[str, Any]:
    """Return an input that is the same whoever writes it, because it says where its value comes from."""
    kind = rng.choice(KINDS)
    value = {"kind": kind, "value": rng.choice(VALUES[kind]), "provenance": "model-inferred", "sources": []}
    return {"pointer": rng.choice(POINTERS), "label": "A", "required": False, "snippet": None, "options": None} | value


def some_decision(rng: Random, facts: Facts, run: Run) -> dict[str, Any]:
    return {rng.choice(("accept", "accept", "reject")): [some_suggestion(rng, facts, run)]}


# Commands as arguments.

_NAMES = {"parse_status": "parseStatus", "size": "sizeBytes", "meta": "rawMeta", "kind": "valueKind"}
_SAME = ("pointer", "label", "required", "options", "provenance", "rationale", "key", "domain", "title", "uri", "type")


def edit_as_arguments(given: Mapping[str, Any], ids: Ids) -> dict[str, Any]:
    rows = ids.rows
    told: dict[str, Any] = {}
    for part in ("sources", "inputs", "constraints", "artifacts"):
        if part in given:
            told[part] = [_row(part, one, ids) for one in given[part]]
    for part in ("links", "unlinks"):
        if part in given:
            told[part] = [
                {("pointer" if name.startswith("/") else "constraint"): name, "sourceId": rows[n]}
                for name, n in given[part]
            ]
    for part in ("accept", "reject"):
        if part in given:
            told[part] = [rows[n] for n in given[part]]
    if "remove" in given:
        told["remove"] = {}
        for part, which in given["remove"]:
            told["remove"].setdefault(part, []).append(which if part == "inputs" else rows[which])
    return told | ({"expected_rev": given["expected_rev"]} if "expected_rev" in given else {})


def _row(part: str, given: Mapping[str, Any], ids: Ids) -> dict[str, Any]:
    told: dict[str, Any] = {name: given[name] for name in (*_SAME, "excerpt", "payload") if name in given}
    told |= {_NAMES[name]: given[name] for name in _NAMES if name in given}
    if part == "sources" and "kind" in given:
        told["kind"] = told.pop("valueKind")
    if "n" in given:
        told["id"] = ids.rows[given["n"]]
    if "snippet" in given:
        told["evidenceSnippet" if part == "inputs" else "snippet"] = given["snippet"]
    if "sources" in given:
        cited = [ids.rows[n] for n in given["sources"]]
        told |= {"sourceIds": cited} if part == "inputs" else {"sourceId": cited[0] if cited else None}
    told |= {f"value{kind.capitalize()}": value for kind, value in given.get("columns", {}).items()}
    return told | ({"value": given["value"]} if "value" in given else {})
