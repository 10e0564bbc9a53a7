"""An oracle of theory documents: how a version is exported, and what importing one does.

Known keys in a document stay, and numbering continues after them; every other name gets the next key of its kind. A
refused document raises `Refusal`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.machines.purpose_oracle import (
    ASSUMPTION_FIELDS,
    INDICATOR_FIELDS,
    KINDS,
    NODE_FIELDS,
    NOT_WAIVABLE,
    PREFIXES,
    SEVERITIES,
    Author,
    EdgeKey,
    Purpose,
    Refusal,
    Theory,
    Thing,
    Version,
    edge_name,
    edge_order,
    fold,
    parse_day,
    sorted_keys,
    without_nulls,
)

EDGE_FIELDS = ("mechanism", "confidence")
LETTERS = {"nodes": tuple(PREFIXES.values()), "assumptions": ("AS",), "indicators": ("IN",)}
KEY = re.compile("([A-Z]+)([1-9][0-9]*)")


class ImportReport(NamedTuple):
    """The expected report of an import."""

    version: Version
    counts: dict[str, int]
    keys: set[tuple[str, str]]  # the names that became other keys, and these
    fresh: set[str]  # the keys that nothing had before
    renamed: list[str]  # the keys that were never called so before
    skipped: list[tuple[str, int]]


# --- Export ---


def document_of(purpose: Purpose, version: Version, today: str) -> Thing:
    """Return a version as exported: empty fields are left out, and so is the default edge type."""
    theory = version.theory
    return {
        "format": 1,
        "profile": version.profile,
        "nodes": [
            {"key": key, **said(theory.nodes[key], NODE_FIELDS, unsaid=(None, {}))} for key in sorted_keys(theory.nodes)
        ],
        "edges": [written_edge(edge, theory.edges[edge]) for edge in sorted(theory.edges, key=edge_order)],
        "assumptions": [
            {"key": key, **placement(theory.assumptions[key]["on"]), **said(theory.assumptions[key], ASSUMPTION_FIELDS)}
            for key in sorted_keys(theory.assumptions)
        ],
        "indicators": [
            {"key": key, "node": theory.indicators[key]["node"], **said(theory.indicators[key], INDICATOR_FIELDS)}
            for key in sorted_keys(theory.indicators)
        ],
        "waivers": [
            dict(zip(("code", "refs", "reason", "owner", "due"), (code, list(refs), *others), strict=True))
            for code, refs, *others in sorted(find_waivers(purpose, theory, today))
        ],
    }


def written_edge(edge: EdgeKey, fields: Thing) -> Thing:
    ends = placement(edge)
    if edge[2] == "CONTRIBUTES_TO":
        del ends["edge_type"]
    return {**ends, **said(fields, EDGE_FIELDS)}


def placement(on: str | EdgeKey) -> Thing:
    return {"node": on} if isinstance(on, str) else dict(zip(("source", "target", "edge_type"), on, strict=True))


def said(thing: Thing, fields: Iterable[str], *, unsaid: tuple[Any, ...] = (None,)) -> Thing:
    return {name: thing[name] for name in fields if thing[name] not in unsaid}


def find_waivers(purpose: Purpose, theory: Theory, today: str) -> set[tuple[str, tuple[str, ...], str, str, str]]:
    """Return the waivers in force that apply to a theory."""
    there = {*theory.nodes, *theory.assumptions, *theory.indicators, *map(edge_name, theory.edges)}
    found = set()
    for one in purpose.in_force(today):
        refs = tuple(sorted(ref for ref in one["refs"] if ref in there))
        if refs or not one["refs"]:
            found.add((one["code"], refs, one["reason"], one["owner"], one["due"]))
    return found


# --- Import ---


def take_in(purpose: Purpose, document: Thing, keys: str | None, *, by: Author) -> ImportReport:
    """Import a document as the new draft. The ids of its rows are learned later."""
    if purpose.draft:
        raise Refusal("draft_exists", number=purpose.draft.number)
    for kind in KINDS:
        names = [one["key"] for one in document[kind]]
        if len(set(names)) < len(names):
            raise Refusal("duplicate_key")
    renamed = [] if keys == "new" else renamed_keys(purpose, document, is_certain=keys is not None)
    kept = {kind: {} if keys == "new" else kept_keys(purpose, kind, document) for kind in KINDS}
    fresh = {kind: fresh_keys(purpose, kind, document, kept[kind]) for kind in KINDS}
    named = {kind: kept[kind] | fresh[kind] for kind in KINDS}
    profile = purpose.profile_of(document.get("profile"), purpose.versions[-1] if purpose.versions else None)
    version = purpose.add(profile, None, by=by)
    fill(version.theory, document, named)
    recorded, skipped = waive(purpose, version, document, named, by=by)
    purpose.remember_names(version.theory)
    return ImportReport(
        version,
        {**{kind: len(document[kind]) for kind in (*KINDS, "edges")}, "waivers": recorded, "measurements": 0},
        {(name, key) for kind in KINDS for name, key in named[kind].items() if name != key},
        {key for kind in KINDS for key in fresh[kind].values()},
        renamed,
        skipped,
    )


def renamed_keys(purpose: Purpose, document: Thing, *, is_certain: bool) -> list[str]:
    """Return the keys with new titles, unless most nodes are among them or something observed."""
    nodes = {one["key"]: one["title"] for one in document["nodes"]}
    beside = {one["key"]: one["assumption_text"] for one in document["assumptions"]}
    beside |= {one["key"]: one["name"] for one in document["indicators"]}
    found: list[str] = []
    known_nodes = [key for key in nodes if key in purpose.called]
    for names in (nodes, beside):
        known = [key for key in names if key in purpose.called]
        others = [key for key in known if fold(names[key]) not in purpose.called[key]]
        tells = names is nodes or not known_nodes
        if not is_certain and tells and 2 * len(others) > len(known):
            raise Refusal("keys_of_another_theory", keys=sorted_keys(others))
        found += others
    observed = {one["indicator"] for one in purpose.measurements} | {one["assumption"] for one in purpose.reviews}
    if not is_certain and observed & set(found):
        raise Refusal("keys_of_another_theory", keys=sorted_keys(observed & set(found)))
    return sorted_keys(found)


def kept_keys(purpose: Purpose, kind: str, document: Thing) -> dict[str, str]:
    """Return the known keys among the names of a kind; they are reserved from now on."""
    found = {}
    for one in document[kind]:
        match = KEY.fullmatch(one["key"])
        if match and match[1] in LETTERS[kind]:
            found[one["key"]] = one["key"]
            purpose.last[match[1]] = max(purpose.last.get(match[1], 0), int(match[2]))
    return found


def fresh_keys(purpose: Purpose, kind: str, document: Thing, kept: dict[str, str]) -> dict[str, str]:
    """Return the new keys of the other names."""
    return {
        one["key"]: purpose.fresh(PREFIXES[one["node_type"]] if kind == "nodes" else LETTERS[kind][0])
        for one in document[kind]
        if one["key"] not in kept
    }


def fill(theory: Theory, document: Thing, named: dict[str, dict[str, str]]) -> None:
    """Add everything of a document under its keys."""

    def node(name: str) -> str:
        if name not in named["nodes"]:
            raise Refusal("not_found")
        return named["nodes"][name]

    def edge(one: Thing) -> EdgeKey:
        return node(one["source"]), node(one["target"]), one.get("edge_type") or "CONTRIBUTES_TO"

    for one in document["nodes"]:
        fields = {name: one.get(name) for name in NODE_FIELDS}
        theory.nodes[node(one["key"])] = {**fields, "metadata": without_nulls(one.get("metadata") or {})}
    for one in document["edges"]:
        drawn = edge(one)
        if drawn[0] == drawn[1]:
            raise Refusal("self_edge", nodes=[drawn[0]])
        if drawn in theory.edges:
            raise Refusal("duplicate_edge", edge=edge_name(drawn), nodes=list(drawn[:2]))
        theory.edges[drawn] = {name: one.get(name) for name in EDGE_FIELDS}
    for one in document["assumptions"]:
        if ("node" in one) == ("source" in one):
            raise Refusal("invalid_argument")
        parse_day(one.get("review_by"))
        on = node(one["node"]) if "node" in one else edge(one)
        if on not in theory.nodes and on not in theory.edges:
            raise Refusal("not_found")
        fields = {name: one.get(name) for name in ASSUMPTION_FIELDS}
        theory.assumptions[named["assumptions"][one["key"]]] = {"on": on, **fields}
    for one in document["indicators"]:
        fields = {name: one.get(name) for name in INDICATOR_FIELDS}
        theory.indicators[named["indicators"][one["key"]]] = {"node": node(one["node"]), **fields}


def waive(
    purpose: Purpose, version: Version, document: Thing, named: dict[str, dict[str, str]], *, by: Author
) -> tuple[int, list[tuple[str, int]]]:
    """Return how many waivers count from now on, and how many of each kind were skipped."""
    today = by.at[:10]
    there = find_waivers(purpose, version.theory, today)
    every = {name: key for kind in reversed(KINDS) for name, key in named[kind].items()}
    known = {*every, *(edge_name_in(one) for one in document["edges"])}
    past = same = 0
    wanted = []
    for one in document["waivers"]:
        if one["code"] not in SEVERITIES:
            raise Refusal("invalid_argument")
        if one["code"] in NOT_WAIVABLE:
            raise Refusal("not_waivable", check=one["code"])
        parse_day(one["due"])
        if not known.issuperset(one["refs"]):
            raise Refusal("not_found")
        refs = [rename(ref, every) for ref in one["refs"]]
        if one["due"] < today:
            past += 1
        elif (one["code"], tuple(sorted(refs)), one["reason"], one["owner"], one["due"]) in there:
            same += 1
        else:
            wanted.append({**one, "refs": refs})
    if wanted:
        purpose.record({"waivers": wanted}, by=by, latest_day=today)
    return len(wanted), [("waiver", number) for number in (past, same) if number]


def edge_name_in(one: Thing) -> str:
    """Return the name of an edge in a document."""
    return edge_name((one["source"], one["target"], one.get("edge_type") or "CONTRIBUTES_TO"))


def rename(ref: str, names: dict[str, str]) -> str:
    """Return a name, or the name of an edge, with other names inserted."""
    ends, slash, type_ = ref.partition("/")
    source, arrow, target = ends.partition("->")
    if not arrow:
        return names.get(ref, ref)
    return f"{names.get(source, source)}->{names.get(target, target)}{slash}{type_}"
