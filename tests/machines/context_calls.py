"""What callers might say about facts: random commands for the oracle, and the same as arguments for the product.

Values come from small sets, so that calls meet: the same input is inferred, entered, suggested, cleared and redefined.
Most calls make sense, and some do not. Commands name everything by the oracle's numbers and are translated on their way
out. A negative number is one whose id the caller chose.
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
    "string": ("", "unknown", "3"),
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
    """What the product calls what the oracle knows."""

    scopes: dict[int, str] = field(default_factory=dict)
    rows: dict[int, str] = field(default_factory=lambda: {NOWHERE: "00000000-0000-4000-8000-000000000000"})
    chosen: int = 0  # how many were chosen by callers

    def choose(self) -> int:
        """A fresh id of a caller's own."""
        self.chosen += 1
        self.rows[-self.chosen] = str(uuid4())
        return -self.chosen


# Which one is meant: mostly one for which the call makes sense, now and then any other.


def some_run(luck: Random, facts: Facts, *, draft: bool = True) -> int:
    fitting = [n for n, run in facts.runs.items() if run.is_draft is draft]
    if fitting and luck.random() > 0.08:
        return luck.choice(fitting[-2:])
    return luck.choice([*facts.runs, *facts.runs, *facts.gone, NOWHERE])


def some_source(luck: Random, facts: Facts, run: Run) -> int:
    """A source of the run; now and then one of another run, or none at all."""
    if run.sources and luck.random() > 0.08:
        return luck.choice(list(run.sources))
    return luck.choice([NOWHERE, *(n for other in facts.runs.values() for n in other.sources if other is not run)])


def some_sources(luck: Random, facts: Facts, run: Run) -> list[int]:
    return [some_source(luck, facts, run) for _ in range(luck.choice((0, 1, 1, 2)))] if run.sources else []


def some_suggestion(luck: Random, facts: Facts, run: Run) -> int:
    if run.pending and luck.random() > 0.2:
        return luck.choice(run.pending).n
    elsewhere = [n for other in facts.runs.values() for n in other.suggestions]
    return luck.choice([*run.suggestions] if run.suggestions and often(luck) else [NOWHERE, *elsewhere])


def mostly(luck: Random, given: dict[str, Any]) -> dict[str, Any]:
    """All of it, or rarely all but one."""
    return {name: given[name] for name in given if not rarely(luck)}


def some_row(luck: Random, there: Mapping[int, Any], everywhere: list[int], ids: Ids) -> int | None:
    """The number of a row to change, or None for a new one; that may have an id of the caller's own."""
    if there and (len(there) >= ROWS_MAX or often(luck)):
        return luck.choice(list(there))
    if everywhere and luck.random() < 0.15:
        return luck.choice(everywhere)
    return ids.choose() if sometimes(luck) else None


# Rows to write.


def some_source_row(luck: Random, facts: Facts, run: Run, ids: Ids, marker: str) -> dict[str, Any]:
    n = some_row(luck, run.sources, [n for other in facts.runs.values() for n in other.sources], ids)
    given: dict[str, Any] = {} if n is None else {"n": n}
    if n not in run.sources:
        given |= mostly(luck, {"kind": luck.choice(SOURCE_KINDS), "title": "survey", "uri": marker})
    for name, choices in (
        ("title", ("survey", "map", "„Karte“")),
        ("kind", SOURCE_KINDS),
        ("parse_status", PARSE_STATUSES),
        ("excerpt", TEXTS),
        ("size", (None, 0, 2**53)),
        ("meta", META),
    ):
        if sometimes(luck):
            given[name] = luck.choice(choices)
    return given


def some_artifact_row(luck: Random, facts: Facts, run: Run, ids: Ids, marker: str) -> dict[str, Any]:
    n = some_row(luck, run.artifacts, [n for other in facts.runs.values() for n in other.artifacts], ids)
    given: dict[str, Any] = {} if n is None else {"n": n}
    if n not in run.artifacts:
        given |= mostly(luck, {"type": luck.choice(ARTIFACT_TYPES), "title": marker})
    elif often(luck):
        given["type"] = luck.choice(ARTIFACT_TYPES)
    if often(luck):
        given["payload"] = luck.choice(META)
    return given


def some_input_row(luck: Random, facts: Facts, run: Run) -> dict[str, Any]:
    pointer = luck.choice(MALFORMED) if rarely(luck) else luck.choice(POINTERS)
    found = run.inputs.get(pointer)
    given: dict[str, Any] = {"pointer": pointer}
    if found is None or rarely(luck):
        given |= mostly(luck, {"label": pointer or "x", "kind": luck.choice(KINDS)})
    for name, choices in (("label", ("A", "Ä")), ("required", (True, False)), ("snippet", TEXTS)):
        if sometimes(luck):
            given[name] = luck.choice(choices)
    if sometimes(luck) or (given.get("kind") == "enum" and often(luck)):
        given["options"] = luck.choice(OPTIONS)
    return given | some_value(luck, facts, run, found, given)


def some_constraint_row(luck: Random, facts: Facts, run: Run, ids: Ids, marker: str) -> dict[str, Any]:
    n = some_row(luck, run.constraints, [n for other in facts.runs.values() for n in other.constraints], ids)
    found = None if n is None else run.constraints.get(n)
    given: dict[str, Any] = {} if n is None else {"n": n}
    if found is not None and sometimes(luck):
        given = {"key": found.key} if often(luck) else {"n": n, "key": found.key}
    if found is None:
        given |= mostly(luck, {"key": luck.choice(KEYS), "label": "limit", "kind": luck.choice(KINDS)})
        given["domain"] = marker
    elif rarely(luck):
        given["kind"] = luck.choice(KINDS)
    for name, choices in (("label", ("A", "Ä")), ("key", KEYS), ("snippet", TEXTS)):
        if sometimes(luck):
            given[name] = luck.choice(choices)
    told = some_value(luck, facts, run, found, given)
    if "sources" in told:
        told["sources"] = told["sources"][:1]
    return given | told


def some_value(luck: Random, facts: Facts, run: Run, found: Valued | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """A value, where it comes from, or neither."""
    kind = given.get("kind", found.kind if found else None)
    told: dict[str, Any] = {}
    if kind is not None and luck.random() < 0.8:
        told |= {"value": _value(luck, kind), "shorthand": often(luck), "of_kind": kind}
        if rarely(luck):
            told["value"] = MISFITS[kind]
        elif rarely(luck):
            told = {"columns": some_columns(luck, kind)}
    if sometimes(luck):
        told["provenance"] = luck.choice(PROVENANCES)
    if sometimes(luck):
        told["sources"] = some_sources(luck, facts, run)
    if told.get("provenance") == "source-backed" and "sources" not in told and often(luck):
        told["sources"] = some_sources(luck, facts, run)
    if told and sometimes(luck):
        told["rationale"] = "because"
    return told


def _value(luck: Random, kind: str) -> Any:
    return None if luck.random() < 0.15 else luck.choice(VALUES[kind])


def some_columns(luck: Random, kind: str) -> dict[str, Any]:
    """A value in the column of another kind, or two values."""
    other = luck.choice([one for one in KINDS if one != kind])
    columns = {other: luck.choice(VALUES[other])}
    return columns | ({kind: luck.choice(VALUES[kind])} if often(luck) else {})


def some_edit(luck: Random, facts: Facts, run: Run, ids: Ids, serial: str) -> dict[str, Any]:
    """A few parts of an edit; now and then none."""
    given: dict[str, Any] = {}
    if luck.random() < 0.15 or not run.sources:
        some = [some_source_row(luck, facts, run, ids, f"s{serial}.{n}") for n in range(luck.choice((1, 1, 2)))]
        given["sources"] = some if rarely(luck) else list({one.get("n", one.get("uri")): one for one in some}.values())
    if luck.random() < 0.65:
        wanted = [some_input_row(luck, facts, run) for _ in range(luck.choice((1, 1, 2)))]
        given["inputs"] = wanted if rarely(luck) else list({one["pointer"]: one for one in wanted}.values())
        own = [one["n"] for one in given.get("sources", ()) if one.get("n", NOWHERE) < 0]
        if own and often(luck):  # a source that the same call brings
            given["inputs"][0]["sources"] = own[:1]
    if luck.random() < 0.4:
        given["constraints"] = [some_constraint_row(luck, facts, run, ids, f"c{serial}")]
    if rarely(luck) or rarely(luck):
        given["artifacts"] = [some_artifact_row(luck, facts, run, ids, f"a{serial}")]
    keys = [one.key for one in run.constraints.values()]
    if luck.random() < 0.1 and (run.inputs or keys):
        name = luck.choice([*run.inputs, *keys, *((*POINTERS, *KEYS) if rarely(luck) else ())])
        given["links"] = [(name, some_source(luck, facts, run))]
    linked = [(pointer, n) for pointer, one in run.inputs.items() for n in sorted(one.sources)]
    linked += [(one.key, one.source) for one in run.constraints.values() if one.source is not None]
    if linked and luck.random() < 0.25:
        given["unlinks"] = [luck.choice(linked) if not rarely(luck) else (POINTERS[0], some_source(luck, facts, run))]
    if luck.random() < 0.09:
        given["remove"] = some_removal(luck, facts, run)
    return given if given or rarely(luck) else {"inputs": [some_input_row(luck, facts, run)]}


def some_removal(luck: Random, facts: Facts, run: Run) -> list[tuple[str, Any]]:
    """Rows to take out: often a source with what cites it, rarely what is not there."""
    if rarely(luck):
        return [(luck.choice(("sources", "artifacts")), NOWHERE)]
    if run.sources and often(luck):
        source = some_source(luck, facts, run)
        citing = [
            ("inputs", pointer) for pointer, one in run.inputs.items() if source in one.sources and sometimes(luck)
        ]
        return [*citing, ("sources", source)]
    there = [
        *(("inputs", pointer) for pointer in run.inputs),
        *(("constraints", n) for n in run.constraints),
        *(("artifacts", n) for n in run.artifacts),
    ]
    return [luck.choice(there)] if there else []


def some_first_facts(luck: Random, serial: str) -> dict[str, Any]:
    """What a run begins with, so that there is something to write onto."""
    kinds = luck.sample(KINDS, 3)
    sources = [{"kind": "url", "title": "survey", "uri": f"s{serial}.{n}"} for n in range(2)]
    inputs = [
        {"pointer": pointer, "label": "A", "kind": kind, "value": VALUES[kind][0], "shorthand": True}
        | ({"options": ["low", "unknown", ""]} if kind == "enum" else {})
        for pointer, kind in zip(POINTERS, kinds, strict=False)
    ]
    inputs[-1] |= {"value": None, "required": True}
    kind = luck.choice(KINDS)
    limit = {"key": KEYS[0], "label": "limit", "kind": kind, "domain": f"c{serial}", "value": luck.choice(VALUES[kind])}
    limit |= {"provenance": "source-backed"} if sometimes(luck) else {}
    return {"sources": sources, "inputs": inputs, "constraints": [limit | {"shorthand": True}]}


def some_restatement(luck: Random, latest: Run, serial: str) -> dict[str, Any]:
    """What is in force, said anew in a draft that does not begin with it; now and then something otherwise, or not."""

    def some(one: Valued) -> dict[str, Any]:
        value = luck.choice(VALUES[one.kind]) if rarely(luck) else one.value
        return {"label": one.label, "kind": one.kind, "value": value, "shorthand": True}

    inputs = [
        {"pointer": pointer, "options": one.options, "required": one.required and not rarely(luck), **some(one)}
        for pointer, one in latest.inputs.items()
        if not rarely(luck)
    ]
    limits = [
        {"key": one.key, "domain": f"c{serial}.{one.key}", **some(one)}
        for one in latest.constraints.values()
        if not rarely(luck)
    ]
    return {"inputs": inputs, "constraints": limits}


def some_decision(luck: Random, facts: Facts, run: Run) -> dict[str, Any]:
    return {luck.choice(("accept", "accept", "reject")): [some_suggestion(luck, facts, run)]}


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
    if "value" in given:
        told["value" if given["shorthand"] else f"value{given['of_kind'].capitalize()}"] = given["value"]
    return told
