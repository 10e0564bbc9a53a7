"""An oracle of the purpose of two projects: what every call should answer and change.

Everything is a plain dictionary. Nodes, assumptions and indicators have keys, edges have ends and a type, and gates are
computed at each request from everything. A refused call raises `Refusal` with the expected code and details.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID, uuid5

NODE_TYPES = ("ACTIVITY", "OUTPUT", "OUTCOME", "GOAL")  # up the chain
PREFIXES = {"GOAL": "G", "OUTCOME": "OC", "OUTPUT": "OP", "ACTIVITY": "AC"}
SORTS = ("G", "OC", "OP", "AC", "AS", "IN")  # in the order of lists
NODE_FIELDS = ("title", "description", "narrative", "owner", "node_type", "metadata")
ASSUMPTION_FIELDS = ("assumption_text", "risk_level", "owner", "review_by")
INDICATOR_FIELDS = (
    *("name", "unit", "direction", "baseline", "baseline_verified", "target", "method", "frequency", "owner"),
)
REVS = "REV"  # a key prefix for the revisions of deleted drafts
KINDS = ("nodes", "assumptions", "indicators")  # named by key or row id

# standard, strict, light
SEVERITIES: dict[str, tuple[str | None, str | None, str | None]] = {
    "GA_ASSUMPTIONS": ("warn", "warn", None),
    "GA_CONTEXT": ("warn", "block", None),
    "GA_CROSS_VERSION": ("block", "block", "block"),
    "GA_CYCLE": ("block", "block", "warn"),
    "GA_DEAD_END": ("warn", "block", None),
    "GA_DUP_EDGE": ("block", "block", "block"),
    "GA_GOAL_COUNT": ("block", "block", "block"),
    "GA_HIGH_RISK": ("block", "block", None),
    "GA_LEAP": ("warn", "block", None),
    "GA_LOW_CONFIDENCE": ("warn", "block", None),
    "GA_MECHANISM": ("warn", "block", None),
    "GA_MIN_TYPES": ("block", "block", None),
    "GA_ORPHANS": ("block", "block", "warn"),
    "GA_OUTCOME_COVERAGE": ("warn", "block", None),
    "GA_REFUTED": ("block", "block", "warn"),
    "GA_RLS": ("block", "block", "block"),
    "GA_SELF_EDGE": ("block", "block", "block"),
    "GA_STRUCTURE": ("block", "block", "block"),
    "GA_TITLE": ("warn", "block", None),
    "GA_TYPE_CHAIN": ("block", "block", None),
    **dict.fromkeys(("GB_BASELINE", "GB_FACTS", "GB_INDICATORS", "GB_PLAN", "GB_TARGET"), ("block",) * 3),
    **dict.fromkeys(("GB_VERIFIED", "GB_WORK"), ("block",) * 3),
}
PROFILES = ("standard", "strict", "light")
LIGHTEST_FIRST = ("light", "standard", "strict")
NOT_WAIVABLE = {"GA_RLS", "GA_DUP_EDGE", "GA_SELF_EDGE", "GA_CROSS_VERSION"}

Thing = dict[str, Any]
EdgeKey = tuple[str, str, str]
Subject = str | EdgeKey


class Refusal(Exception):
    """The call must fail with this code and these details and change nothing."""

    def __init__(self, code: str, **details: Any) -> None:
        self.code = code
        self.details = details
        super().__init__(f"{code} {details}")


class CycleRefusal(Refusal):
    """The same for a cycle: any one along existing edges and through a new one."""

    def __init__(self, pairs: set[tuple[str, str]], new: set[tuple[str, str]]) -> None:
        self.pairs, self.new = pairs, new
        super().__init__("dependency_cycle")


class Author(NamedTuple):
    """Who makes a call, when, and in which write to the project."""

    name: str
    at: str
    rev: int


@dataclass
class Theory:
    """The content of a version."""

    nodes: dict[str, Thing] = field(default_factory=dict)
    edges: dict[EdgeKey, Thing] = field(default_factory=dict)
    assumptions: dict[str, Thing] = field(default_factory=dict)
    indicators: dict[str, Thing] = field(default_factory=dict)

    @property
    def causal(self) -> list[EdgeKey]:
        return sorted((edge for edge in self.edges if edge[2] != "FEEDBACK"), key=edge_order)

    @property
    def pairs(self) -> set[tuple[str, str]]:
        return {self.ends(edge) for edge in self.causal}

    def level(self, key: str) -> int:
        return NODE_TYPES.index(self.nodes[key]["node_type"])

    def ends(self, edge: EdgeKey) -> tuple[str, str]:
        """Return the cause and the effect: what depends is the effect, but never of something above it."""
        source, target, type_ = edge
        depends = type_ == "DEPENDS_ON" and self.level(target) <= self.level(source)
        return (target, source) if depends else (source, target)

    def rise(self, edge: EdgeKey) -> int:
        cause, effect = self.ends(edge)
        return self.level(effect) - self.level(cause)

    @property
    def downward(self) -> set[EdgeKey]:
        return {edge for edge in self.causal if self.rise(edge) < 0}

    def of_type(self, node_type: str) -> list[str]:
        return sorted_keys(key for key, node in self.nodes.items() if node["node_type"] == node_type)

    def after(self, start: str) -> set[str]:
        """Return the nodes that can be reached by one causal edge or more."""
        found: set[str] = set()
        waiting = [start]
        while waiting:
            here = waiting.pop()
            for source, target in self.pairs:
                if source == here and target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    @property
    def cyclic(self) -> set[tuple[str, str]]:
        """The pairs that lie on a cycle."""
        return {(source, target) for source, target in self.pairs if source == target or source in self.after(target)}

    @property
    def measures_effects(self) -> bool:
        effects = (*self.of_type("OUTCOME"), *self.of_type("GOAL"))
        return any(one["node"] in effects for one in self.indicators.values())

    def find_equal_titles(self) -> tuple[set[str], set[str]]:
        """Return the nodes without a title of their own in their type, and those that share one with another type."""
        titles = {key: one["title"].casefold() for key, one in self.nodes.items()}
        alike = {key: [other for other in titles if titles[other] == titles[key] != ""] for key in titles}
        types = {key: [self.nodes[other]["node_type"] for other in others] for key, others in alike.items()}
        blocking = {
            key for key, title in titles.items() if not title or types[key].count(self.nodes[key]["node_type"]) > 1
        }
        return blocking, {key for key, others in alike.items() if len(others) > 1} - blocking

    def leading_to_goals(self) -> set[str]:
        goals = set(self.of_type("GOAL"))
        return {key for key in self.nodes if key in goals or self.after(key) & goals}

    def by_id(self, kind: str, id_: str) -> str | None:
        return next((key for key, one in getattr(self, kind).items() if one["id"] == id_), None)

    def remove_edge(self, edge: EdgeKey) -> None:
        del self.edges[edge]
        self.assumptions = {key: one for key, one in self.assumptions.items() if one["on"] != edge}

    def remove_node(self, key: str) -> None:
        for edge in [edge for edge in self.edges if key in edge[:2]]:
            self.remove_edge(edge)
        self.assumptions = {name: one for name, one in self.assumptions.items() if one["on"] != key}
        self.indicators = {name: one for name, one in self.indicators.items() if one["node"] != key}
        del self.nodes[key]

    def copied(self, version_id: str) -> Theory:
        """Return a copy with new row ids, which follow from the version and the ids of the originals."""
        twin = copy.deepcopy(self)
        for things in (twin.nodes, twin.edges, twin.assumptions, twin.indicators):
            for one in things.values():
                one["id"] = str(uuid5(UUID(version_id), one["id"]))
        return twin


@dataclass
class Version:
    """A version. Its id is learned from the product."""

    number: int
    profile: str
    source: int | None
    by: str
    created_at: str
    updated_at: str
    id: str = ""
    rev: int = 1
    label: str = "draft"
    theory: Theory = field(default_factory=Theory)
    published: Author | None = None
    content_hash: str | None = None
    context_run: str | None = None
    inherited_down: set[tuple[str, str]] = field(default_factory=set)  # ends of downward edges at its start
    inherited_cyclic: set[tuple[str, str]] = field(default_factory=set)

    @property
    def is_draft(self) -> bool:
        return self.published is None

    @property
    def is_ordered(self) -> bool:
        return self.profile != "light"


class Check(NamedTuple):
    """The expected result of one check."""

    severity: str
    result: str
    refs: list[str]


class Gate(NamedTuple):
    """The expected result of a gate."""

    profile: str
    passed: bool
    score: float | None
    checks: dict[str, Check]

    @property
    def not_passed(self) -> dict[str, Check]:
        return {code: one for code, one in self.checks.items() if one.result in ("failed", "waived")}

    @property
    def counts(self) -> dict[str, int]:
        results = [one.result for one in self.checks.values()]
        return {name: results.count(name) for name in ("passed", "failed", "waived", "not_applicable")}


@dataclass
class Purpose:
    """Everything about one project."""

    has_row_security: bool
    facts_run: str | None  # the run of facts that is in force
    publish_gates: str
    profile_min: str = "standard"
    versions: list[Version] = field(default_factory=list)
    last: dict[str, int] = field(default_factory=dict)  # keys given out
    called: dict[str, set[str]] = field(default_factory=dict)  # all former names of a key
    measurements: list[Thing] = field(default_factory=list)
    reviews: list[Thing] = field(default_factory=list)
    waivers: list[Thing] = field(default_factory=list)
    decisions: list[Thing] = field(default_factory=list)
    requests: list[Thing] = field(default_factory=list)

    # --- Which version ---

    @property
    def draft(self) -> Version | None:
        return self.versions[-1] if self.versions and self.versions[-1].is_draft else None

    @property
    def published(self) -> list[Version]:
        return [one for one in self.versions if not one.is_draft]

    @property
    def rev(self) -> int:
        return self.versions[-1].rev if self.versions else 0

    def meant(self, ref: int | str | None) -> Version | None:
        match ref:
            case None:
                return self.versions[-1] if self.versions else None
            case "draft" if self.draft:
                return self.draft
            case "published" if self.published:
                return self.published[-1]
            case int() if 1 <= ref <= len(self.versions):
                return self.versions[ref - 1]
        raise Refusal("not_found")

    def the_draft(self, expected_rev: int | None) -> Version:
        draft = self.draft
        if draft is None:
            raise Refusal("no_draft")
        if expected_rev not in (None, draft.rev):
            raise Refusal("stale_rev", current=draft.rev, expected=expected_rev)
        return draft

    # --- Versions ---

    def begin(self, source: int | str | None, profile: str | None, *, by: Author) -> Version:
        if self.draft:
            raise Refusal("draft_exists", number=self.draft.number)
        if source == "draft":
            raise Refusal("invalid_argument")
        origin = self.meant(source)
        return self.add(self.profile_of(profile, origin), origin.number if origin else None, by=by)

    def profile_of(self, profile: str | None, origin: Version | None) -> str:
        """Return the profile of a new draft: the requested one, else at least what the project asks for."""
        inherited = origin.profile if origin else "standard"
        chosen = profile or max(inherited, self.profile_min, key=LIGHTEST_FIRST.index)
        self.refuse_light(chosen)
        return chosen

    def refuse_light(self, profile: str) -> None:
        if LIGHTEST_FIRST.index(profile) < LIGHTEST_FIRST.index(self.profile_min):
            raise Refusal("profile_too_light", profile=profile, profile_min=self.profile_min)

    def add(self, profile: str, source: int | None, *, by: Author) -> Version:
        """Add a draft with a higher revision than any draft before, so that a stale revision never matches."""
        rev = 1 + max((self.last.get(REVS, 0), *(one.rev for one in self.versions)))
        version = Version(len(self.versions) + 1, profile, source, by.name, by.at, by.at, rev=rev)
        self.versions.append(version)
        return version

    def named(self, version: Version, id_: str) -> None:
        """Learn the id of a new draft, and with it the ids of its rows."""
        version.id = id_
        if version.source is not None:
            version.theory = self.versions[version.source - 1].theory.copied(id_)
        version.inherited_down = {edge[:2] for edge in version.theory.downward}
        version.inherited_cyclic = version.theory.cyclic

    def publish(self, label: str | None, expected_rev: int | None, *, by: Author) -> list[Gate]:
        draft = self.the_draft(expected_rev)
        if label == "draft":
            raise Refusal("invalid_argument")
        self.refuse_light(draft.profile)
        latest = self.published[-1] if self.published else None
        if latest and (latest.content_hash, latest.context_run) == (content_hash(draft.theory), self.facts_run):
            raise Refusal("nothing_changed", version=latest.number)
        gates = [self.gate(name, draft, today=by.at[:10]) for name in self.publish_gates]
        if not all(gate.passed for gate in gates):
            raise Refusal("gate_failed", gates=gates)
        draft.label = label or f"v{draft.number}"
        draft.published, draft.updated_at, draft.rev = by, by.at, draft.rev + 1
        draft.content_hash, draft.context_run = content_hash(draft.theory), self.facts_run
        return gates

    def discard(self, expected_rev: int | None) -> int:
        self.last[REVS] = self.the_draft(expected_rev).rev
        return self.versions.pop().number

    # --- A batch ---

    def edit(self, operations: Sequence[Thing], expected_rev: int | None, *, by: Author) -> list[Thing]:
        """Apply the batch; return what it creates, in order. The ids are learned later."""
        refs = [op["ref"] for op in operations if op.get("ref") is not None]
        if any(not op.get("title", "x").strip() for op in operations) or len(set(refs)) < len(refs):
            raise Refusal("invalid_argument")  # malformed, whatever the draft is
        draft = self.the_draft(expected_rev)
        batch = Batch(self, draft, operations)
        made = batch.run()
        if batch.has_changed or batch.made:
            draft.rev, draft.updated_at = draft.rev + 1, by.at
        return made

    def remember_names(self, theory: Theory) -> None:
        """Remember the present names of things."""
        for things, name in (
            (theory.nodes, "title"),
            (theory.assumptions, "assumption_text"),
            (theory.indicators, "name"),
        ):
            for key, thing in things.items():
                self.called.setdefault(key, set()).add(fold(thing[name]))

    def fresh(self, prefix: str) -> str:
        self.last[prefix] = self.last.get(prefix, 0) + 1
        return f"{prefix}{self.last[prefix]}"

    def published_key(self, id_: str) -> tuple[int, str] | None:
        """Return where a row is among the published ones."""
        for version in self.published:
            for kind in KINDS:
                key = version.theory.by_id(kind, id_)
                if key is not None:
                    return version.number, key
        return None

    # --- Observations ---

    def record(self, given: Mapping[str, Sequence[Thing]], *, by: Author, latest_day: str) -> tuple[int, list[Thing]]:
        """Record observations; return how many, and what refuted assumptions affect."""
        if not any(given.values()):
            raise Refusal("invalid_argument")
        stamp = {"at": by.at, "by": by.name, "rev": by.rev}
        n = 0
        for one in given.get("measurements", ()):
            self.there("indicators", one["indicator"])
            if one["as_of"] > latest_day:
                raise Refusal("invalid_argument")
            until = {"as_of_until": f"{one['as_of']}T23:59:59.999Z"}
            self.measurements.append({"source": None, "note": None, **one, **until, **stamp, "n": n})
            n += 1
        for one in given.get("reviews", ()):
            self.there("assumptions", one["assumption"])
            self.reviews.append({"evidence": None, **one, **stamp, "n": n})
            n += 1
        for one in given.get("waivers", ()):
            if one["code"] not in SEVERITIES:
                raise Refusal("invalid_argument")
            if one["code"] in NOT_WAIVABLE:
                raise Refusal("not_waivable", check=one["code"])
            self.all_there(one["refs"])
            if one["due"] < by.at[:10]:
                raise Refusal("invalid_argument")
            self.waivers.append({**one, **stamp, "n": n})
            n += 1
        for one in given.get("decisions", ()):
            superseded = self.followed(one, "supersedes", self.decisions, "already_superseded")
            answered = self.followed(one, "answers", self.requests, "already_answered")
            self.all_there(one.get("about", ()))
            about = list(dict.fromkeys((*superseded["about"], *answered["about"])))
            given_fields = {name: value for name, value in one.items() if name not in ("supersedes", "answers")}
            ids = {
                **{f"supersedes_{name}": superseded[name] for name in ("rev", "n")},
                **{f"answers_{name}": answered[name] for name in ("rev", "n")},
            }
            self.decisions.append({"about": about, "outcome": None, **given_fields, **ids, **stamp, "n": n})
            n += 1
        for one in given.get("requests", ()):
            self.all_there(one.get("about", ()))
            self.requests.append({"about": [], "to": None, **one, **stamp, "n": n})
            n += 1
        refuted = [one["assumption"] for one in given.get("reviews", ()) if one["status"] == "refuted"]
        return n, [found for key in dict.fromkeys(refuted) for found in self.affected(key)]

    def followed(self, decision: Thing, field_: str, earlier: list[Thing], refusal: str) -> Thing:
        """Return the record that a decision supersedes or answers; nothing has done so before."""
        if field_ not in decision:
            return {"rev": None, "n": None, "about": []}
        rev, n = map(int, decision[field_].split("."))
        if any((one[f"{field_}_rev"], one[f"{field_}_n"]) == (rev, n) for one in self.decisions):
            raise Refusal(refusal)
        return next(one for one in earlier if (one["rev"], one["n"]) == (rev, n))

    def there(self, kind: str, key: str) -> None:
        if not any(key in getattr(version.theory, kind) for version in self.versions):
            raise Refusal("not_found")

    def all_there(self, refs: Iterable[str]) -> None:
        for ref in refs:
            edges = {edge_name(edge) for one in self.versions for edge in one.theory.edges}
            keys = {key for one in self.versions for kind in KINDS for key in getattr(one.theory, kind)}
            if ref not in edges | keys:
                raise Refusal("not_found")

    def affected(self, key: str) -> list[Thing]:
        """Return what rests on an assumption: in the latest published version that has it, else in the draft."""
        in_order = [version.theory for version in (*self.published[-1:], self.draft) if version is not None]
        theory = next((theory for theory in in_order if key in theory.assumptions), None)
        if theory is None:
            return []
        on = theory.assumptions[key]["on"]
        start = on if isinstance(on, str) else theory.ends(on)[1]
        comes_back = not isinstance(on, str) and on[2] == "FEEDBACK"
        nodes = set() if comes_back else {start} | theory.after(start)
        edges = {edge for edge in theory.causal if theory.ends(edge)[0] in nodes} | (
            {on} if not isinstance(on, str) else set()
        )
        names = [edge_name(edge) for edge in sorted(edges, key=edge_order)]
        return [{"assumption": key, "edges": names, "nodes": sorted_keys(nodes), "work": []}]

    def status(self, key: str) -> str:
        found = [one["status"] for one in self.reviews if one["assumption"] == key]
        return found[-1] if found else "untested"

    def latest(self, key: str) -> Thing | None:
        """Return the measurement of the latest day; of one day the last recorded."""
        found = [one for one in self.measurements if one["indicator"] == key]
        return max(enumerate(found), key=lambda one: (one[1]["as_of"], one[0]))[1] if found else None

    def in_force(self, today: str, before_rev: int | None = None) -> list[Thing]:
        """Return the waivers of a day, each with what it decides."""
        known = [one for one in self.waivers if before_rev is None or one["rev"] < before_rev]
        found = []
        for place, one in enumerate(known):
            later = [other for other in known[place + 1 :] if other["code"] == one["code"]]
            if not one["refs"]:
                refs, decides = [], all(other["refs"] for other in later)
            else:
                refs = [ref for ref in one["refs"] if not any(ref in other["refs"] for other in later)]
                decides = bool(refs)
            if decides and one["due"] >= today:
                found.append({**one, "refs": refs})
        return found

    # --- Gates ---

    def gate(self, name: str, version: Version, *, today: str, profile: str | None = None) -> Gate:
        """Return a gate's result for a version; for a published one as of its publication."""
        before_rev = version.published.rev if version.published else None
        day = version.published.at[:10] if version.published else today
        chosen = profile or version.profile
        waived = self.in_force(day, before_rev)
        checks = {}
        for code, severities in sorted(SEVERITIES.items()):
            severity = severities[PROFILES.index(chosen)]
            if code[1] == name and severity is not None:
                subjects, failing = self.found(code, version, chosen, before_rev)
                # Waivers of single outcomes do not cover a theory that measures nothing.
                as_whole = code == "GB_INDICATORS" and not version.theory.measures_effects
                blocking, across = version.theory.find_equal_titles()
                if code == "GA_TITLE" and across and not blocking:
                    severity = "warn"
                checks[code] = judge(code, severity, subjects, failing, waived, as_whole=as_whole)
        applicable = [check for check in checks.values() if check.result != "not_applicable"]
        passing = sum(check.result == "passed" for check in applicable)
        return Gate(
            chosen,
            bool(applicable)
            and not any((check.severity, check.result) == ("block", "failed") for check in checks.values()),
            round(passing / len(applicable), 3) if applicable else None,
            checks,
        )

    def found(self, code: str, version: Version, profile: str, before_rev: int | None) -> tuple[int, list[str] | None]:
        """Return how many things a check is about, and which fail; None if it fails as a whole."""
        theory, strict = version.theory, profile == "strict"
        nodes, causal = theory.nodes, theory.causal
        measured = {one["node"] for one in theory.indicators.values()}
        assumed = {one["on"] for one in theory.assumptions.values()}
        goals, reaching = theory.of_type("GOAL"), theory.leading_to_goals()
        effects = (*goals, *theory.of_type("OUTCOME"))

        def edges(failing: Iterable[EdgeKey]) -> list[str]:
            return [edge_name(edge) for edge in sorted(failing, key=edge_order)]

        match code:
            case "GA_GOAL_COUNT":
                return 1, None if not goals else goals if strict and len(goals) > 1 else []
            case "GA_MIN_TYPES":
                return 1, [] if all(theory.of_type(one) for one in ("GOAL", "OUTCOME", "OUTPUT")) else None
            case "GA_ORPHANS":
                return len(nodes) - len(goals), sorted_keys(nodes.keys() - reaching)
            case "GA_TYPE_CHAIN":
                return len(causal), edges(
                    edge for edge in causal if (theory.rise(edge) != 1 if strict else theory.rise(edge) < 0)
                )
            case "GA_LEAP":
                return len(causal), edges(edge for edge in causal if theory.rise(edge) > 1)
            case "GA_CYCLE":
                return len(causal), sorted_keys({end for pair in theory.cyclic for end in pair})
            case "GA_DUP_EDGE" | "GA_SELF_EDGE":
                return len(theory.edges), []
            case "GA_CROSS_VERSION":
                return len(theory.edges) + len(theory.assumptions) + len(theory.indicators), []
            case "GA_MECHANISM":
                return len(causal), edges(edge for edge in causal if not theory.edges[edge]["mechanism"])
            case "GA_HIGH_RISK":
                high = [one for one in theory.assumptions.items() if one[1]["risk_level"] == "HIGH"]
                return len(high), sorted_keys(
                    key
                    for key, one in high
                    if not (one["owner"] and one["review_by"])
                    or (
                        strict
                        and (one["on"] if isinstance(one["on"], str) else theory.ends(one["on"])[1]) not in measured
                    )
                )
            case "GA_LOW_CONFIDENCE":
                low = [edge for edge in causal if theory.edges[edge]["confidence"] == "low"]
                return len(low), edges(edge for edge in low if edge not in assumed)
            case "GA_OUTCOME_COVERAGE":
                outcomes = theory.of_type("OUTCOME")
                return len(outcomes), [key for key in outcomes if key not in measured]
            case "GA_ASSUMPTIONS":
                into = [edge for edge in causal if theory.ends(edge)[1] in effects]
                return len(into), edges(
                    edge for edge in into if edge not in assumed and theory.ends(edge)[0] not in assumed
                )
            case "GA_DEAD_END":
                activities = theory.of_type("ACTIVITY")
                causes = {cause for cause, _ in theory.pairs}
                return len(activities), [key for key in activities if key not in causes]
            case "GA_REFUTED":
                on_a_path = [
                    key
                    for key, one in theory.assumptions.items()
                    if (one["on"] in reaching if isinstance(one["on"], str) else one["on"][2] != "FEEDBACK")
                    and (isinstance(one["on"], str) or theory.ends(one["on"])[1] in reaching)
                ]
                return len(on_a_path), sorted_keys(key for key in on_a_path if self.undecided(key, before_rev))
            case "GA_CONTEXT":
                return 1, [] if (version.context_run if version.published else self.facts_run) else None
            case "GA_STRUCTURE":
                return len(nodes), []  # no call of the machine stores any
            case "GA_TITLE":
                blocking, across = theory.find_equal_titles()
                return len(nodes), sorted_keys(blocking if blocking and strict else blocking | across)
            case "GA_RLS":
                return int(self.has_row_security), []
            case "GB_BASELINE" | "GB_TARGET":
                of_effects = {key: one for key, one in theory.indicators.items() if one["node"] in effects}
                wanted = "baseline" if code == "GB_BASELINE" else "target"
                return len(of_effects), sorted_keys(key for key, one in of_effects.items() if one[wanted] is None)
            case "GB_VERIFIED":
                based = {key: one for key, one in theory.indicators.items() if one["baseline"] is not None}
                return len(based), sorted_keys(key for key, one in based.items() if one["baseline_verified"] is False)
            case "GB_PLAN":
                return len(theory.indicators), sorted_keys(
                    key
                    for key, one in theory.indicators.items()
                    if not (one["method"] and one["frequency"] and one["owner"])
                )
            case "GB_INDICATORS":
                unmeasured = [key for key in theory.of_type("OUTCOME") if key not in measured]
                return 1, unmeasured if unmeasured or theory.measures_effects else None
            case "GB_FACTS":
                return int(bool(version.context_run if version.published else self.facts_run)), []
            case "GB_WORK":
                activities = [key for key, one in nodes.items() if one["node_type"] == "ACTIVITY"]
                return len(activities), sorted_keys(activities)  # no work serves activities here
        raise AssertionError(code)

    def undecided(self, key: str, before_rev: int | None) -> bool:
        """Return whether an assumption was refuted without a later decision."""

        def known(rows: list[Thing]) -> list[Thing]:
            return [one for one in rows if before_rev is None or one["rev"] < before_rev]

        reviews = [one for one in known(self.reviews) if one["assumption"] == key]
        if not reviews or reviews[-1]["status"] != "refuted":
            return False
        decisions = known(self.decisions)
        superseded = {(one["supersedes_rev"], one["supersedes_n"]) for one in decisions}
        return not any(
            key in one["about"] and one["rev"] >= reviews[-1]["rev"] and (one["rev"], one["n"]) not in superseded
            for one in decisions
        )


class Batch:
    """Operations on a draft, one after the other; new nodes exist from the start."""

    def __init__(self, purpose: Purpose, draft: Version, operations: Sequence[Thing]) -> None:
        self.purpose = purpose
        self.draft = draft
        self.theory = draft.theory
        self.operations = operations
        self.refs: dict[str, tuple[str, str]] = {}
        self.later = {op["ref"] for op in operations if op.get("ref") is not None}  # not created yet
        self.made: dict[int, Thing] = {}
        self.new: set[tuple[str, str]] = set()  # pairs that are new causes
        self.has_changed = False

    def run(self) -> list[Thing]:
        prefixes = {"add_assumption": "AS", "add_indicator": "IN"}
        keys: dict[int, str] = {}
        for place, op in enumerate(self.operations):
            prefix = PREFIXES[op["node_type"]] if op["op"] == "add_node" else prefixes.get(op["op"])
            if prefix is not None:
                keys[place] = self.purpose.fresh(prefix)
        for place, op in enumerate(self.operations):
            if op["op"] == "add_node":
                node = {name: op.get(name) for name in NODE_FIELDS}
                self.theory.nodes[keys[place]] = node
                node["metadata"] = without_nulls(op.get("metadata") or {})
                self.keep(place, op, "nodes", keys[place], node)
        self.purpose.remember_names(self.theory)
        for place, op in enumerate(self.operations):
            if op["op"] != "add_node":
                before = copy.deepcopy(self.theory)
                getattr(self, op["op"])(place, op, keys.get(place, ""))
                self.purpose.remember_names(self.theory)
                self.has_changed = self.has_changed or self.theory != before
        closing = self.new & self.theory.cyclic
        if self.draft.is_ordered and closing:
            raise CycleRefusal(self.theory.pairs, closing)
        theory = self.theory
        there = [*theory.nodes.values(), *theory.edges.values()]
        there += [*theory.assumptions.values(), *theory.indicators.values()]
        return [one for _, one in sorted(self.made.items()) if any(one["thing"] is other for other in there)]

    def keep(self, place: int, op: Thing, kind: str, key: str, thing: Thing) -> None:
        thing["id"] = f"new {place}"  # unknown until learned
        self.made[place] = {"kind": kind.rstrip("s"), "key": key, "ref": op.get("ref"), "thing": thing}
        if op.get("ref") is not None:
            self.refs[op["ref"]] = kind, key
            self.later.discard(op["ref"])

    def resolved(self, kind: str, ref: str) -> str:
        things: dict[str, Thing] = getattr(self.theory, kind)
        if ref in self.later:
            raise Refusal("not_found")
        if ref in self.refs:
            named, key = self.refs[ref]
            if named == kind and key in things:
                return key
            raise Refusal("not_found")
        if ref in things:
            return ref
        id_ = normalize_id(ref)
        key_ = id_ and self.theory.by_id(kind, id_)
        if id_ and not key_:
            there = self.purpose.published_key(id_)
            if there:
                raise Refusal("published_immutable", version=there[0], key=there[1])
        if not key_:
            raise Refusal("not_found")
        return key_

    def edge(self, op: Thing) -> EdgeKey:
        ends = self.resolved("nodes", op["source"]), self.resolved("nodes", op["target"])
        there = [edge for edge in self.theory.edges if edge[:2] == ends]
        if op.get("edge_type") is not None:
            there = [edge for edge in there if edge[2] == op["edge_type"]]
        elif len(there) > 1:
            raise Refusal("invalid_argument", allowed=sorted(edge[2] for edge in there))
        if not there:
            raise Refusal("not_found")
        return there[0]

    def allowed(self, edge: EdgeKey, *, is_new_cause: bool) -> None:
        """Check that an edge may be drawn. An imported cause may point down, and become another sort of cause."""
        if edge in self.theory.edges:
            raise Refusal("duplicate_edge", edge=edge_name(edge), nodes=list(edge[:2]))
        if self.draft.is_ordered and is_new_cause and self.theory.rise(edge) < 0:
            raise Refusal("invalid_direction", edge=edge_name(edge), nodes=list(edge[:2]))

    def update_node(self, _place: int, op: Thing, _key: str) -> None:
        key = self.resolved("nodes", op["node"])
        node = self.theory.nodes[key]
        refuse_stale(key, node, op)
        before, ends = node["node_type"], {edge: self.theory.ends(edge) for edge in self.theory.causal}
        node |= {name: op[name] for name in NODE_FIELDS if name in op and name != "metadata"}
        if "metadata" in op:
            node["metadata"] = without_nulls({**node["metadata"], **op["metadata"]})
        down = [edge for edge in self.theory.downward if key in edge[:2]]
        if node["node_type"] != before and self.draft.is_ordered and down:
            raise Refusal("invalid_direction")
        self.new |= {self.theory.ends(edge) for edge in ends if self.theory.ends(edge) != ends[edge]}  # turned round

    def remove_node(self, _place: int, op: Thing, _key: str) -> None:
        self.theory.remove_node(self.resolved("nodes", op["node"]))

    def add_edge(self, place: int, op: Thing, _key: str) -> None:
        ends = self.resolved("nodes", op["source"]), self.resolved("nodes", op["target"])
        if ends[0] == ends[1]:
            raise Refusal("self_edge", nodes=[ends[0]])
        edge = (*ends, op.get("edge_type") or "CONTRIBUTES_TO")
        self.allowed(edge, is_new_cause=edge[2] != "FEEDBACK")
        self.theory.edges[edge] = {name: op.get(name) for name in ("mechanism", "confidence")}
        if edge[2] != "FEEDBACK":
            self.new.add(self.theory.ends(edge))
        self.keep(place, op, "edges", edge_name(edge), self.theory.edges[edge])

    def update_edge(self, _place: int, op: Thing, _key: str) -> None:
        edge = self.edge(op)
        refuse_stale(edge_name(edge), self.theory.edges[edge], op)
        self.theory.edges[edge] |= {name: op[name] for name in ("mechanism", "confidence") if name in op}
        type_ = op.get("new_edge_type") or edge[2]
        if type_ == edge[2]:
            return
        renamed = (*edge[:2], type_)
        is_turned = self.theory.ends(edge) != self.theory.ends(renamed)
        is_new_cause = type_ != "FEEDBACK" and (edge[2] == "FEEDBACK" or is_turned)
        self.allowed(renamed, is_new_cause=is_new_cause)
        self.theory.edges[renamed] = self.theory.edges.pop(edge)
        for one in self.theory.assumptions.values():
            if one["on"] == edge:
                one["on"] = renamed
        if is_new_cause:
            self.new.add(self.theory.ends(renamed))

    def remove_edge(self, _place: int, op: Thing, _key: str) -> None:
        self.theory.remove_edge(self.edge(op))

    def add_assumption(self, place: int, op: Thing, key: str) -> None:
        if (op.get("node") is None) == (op.get("source") is None):
            raise Refusal("invalid_argument")
        on: Subject = self.resolved("nodes", op["node"]) if op.get("node") is not None else self.edge(op)
        one: Thing = {"on": on, **{name: op.get(name) for name in ASSUMPTION_FIELDS}}
        parse_day(one["review_by"])
        self.theory.assumptions[key] = one
        self.keep(place, op, "assumptions", key, one)

    def update_assumption(self, _place: int, op: Thing, _key: str) -> None:
        key = self.resolved("assumptions", op["assumption"])
        one = self.theory.assumptions[key]
        parse_day(op.get("review_by"))
        refuse_stale(key, one, op)
        one |= {name: op[name] for name in ASSUMPTION_FIELDS if name in op}

    def remove_assumption(self, _place: int, op: Thing, _key: str) -> None:
        del self.theory.assumptions[self.resolved("assumptions", op["assumption"])]

    def add_indicator(self, place: int, op: Thing, key: str) -> None:
        node = self.resolved("nodes", op["node"])
        self.theory.indicators[key] = {"node": node, **{name: op.get(name) for name in INDICATOR_FIELDS}}
        self.keep(place, op, "indicators", key, self.theory.indicators[key])

    def update_indicator(self, _place: int, op: Thing, _key: str) -> None:
        key = self.resolved("indicators", op["indicator"])
        one = self.theory.indicators[key]
        refuse_stale(key, one, op)
        one |= {name: op[name] for name in INDICATOR_FIELDS if name in op}

    def remove_indicator(self, _place: int, op: Thing, _key: str) -> None:
        del self.theory.indicators[self.resolved("indicators", op["indicator"])]


def refuse_stale(item: str, stored: Thing, op: Thing) -> None:
    """Refuse to overwrite what the caller did not read; an empty text and none are the same here."""
    for name, read in op.get("was", {}).items():
        current = stored[name]
        now, new, before = (None if value == "" else value for value in (current, op.get(name, current), read))
        if now not in (new, before):
            raise Refusal("stale_item", item=item, field=name, current=current)


def judge(
    code: str, severity: str, subjects: int, failing: list[str] | None, waived: list[Thing], *, as_whole: bool
) -> Check:
    """Return a check after waivers."""
    if not subjects:
        return Check(severity, "not_applicable", [])
    if failing == []:
        return Check(severity, "passed", [])
    refs = sorted(failing or [])  # as text: keys and names of edges
    excused = [one for one in waived if one["code"] == code]
    is_whole = any(not one["refs"] for one in excused)
    remaining = [ref for ref in refs if not any(ref in one["refs"] for one in excused)]
    if is_whole or (refs and not remaining and not as_whole):
        return Check(severity, "waived", refs)
    return Check(severity, "failed", remaining)


def content_hash(theory: Theory) -> str:
    """Return the SHA-256 of the content as JSON: sorted, compact, without row ids, integers without a fraction."""
    plain = {
        "format": 1,
        "nodes": [{"key": key, **theory.nodes[key]} for key in sorted_keys(theory.nodes)],
        "edges": [
            {"source": edge[0], "target": edge[1], "edge_type": edge[2], **theory.edges[edge]}
            for edge in sorted(theory.edges, key=edge_order)
        ],
        "assumptions": [
            {
                "key": key,
                "node": one["on"] if isinstance(one["on"], str) else None,
                "edge": None if isinstance(one["on"], str) else one["on"],
                **one,
            }
            for key, one in ((key, theory.assumptions[key]) for key in sorted_keys(theory.assumptions))
        ],
        "indicators": [{"key": key, **theory.indicators[key]} for key in sorted_keys(theory.indicators)],
    }
    for rows in plain.values():
        for row in rows if isinstance(rows, list) else ():
            del row["id"]
            row.pop("on", None)
    text = json.dumps(whole(plain), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


def whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: whole(one) for name, one in value.items()}
    return [whole(one) for one in value] if isinstance(value, list | tuple) else value


def edge_name(edge: EdgeKey) -> str:
    source, target, type_ = edge
    return f"{source}->{target}" + ("" if type_ == "CONTRIBUTES_TO" else f"/{type_}")


def key_order(key: str) -> tuple[int, int]:
    prefix = key.rstrip("0123456789")
    return SORTS.index(prefix), int(key.removeprefix(prefix))


def edge_order(edge: EdgeKey) -> tuple[tuple[int, int], tuple[int, int], str]:
    return key_order(edge[0]), key_order(edge[1]), edge[2]


def sorted_keys(keys: Iterable[str]) -> list[str]:
    return sorted(keys, key=key_order)


def fold(name: str) -> str:
    """Return a name without case and white space."""
    return " ".join(name.split()).casefold()


def without_nulls(metadata: Thing) -> Thing:
    return {name: value for name, value in metadata.items() if value is not None}


def parse_day(day: str | None) -> None:
    if day is not None and not day.startswith("20"):
        raise Refusal("invalid_date")


def normalize_id(text: str) -> str | None:
    """Return a row id as stored, in any spelling; None if it is none."""
    try:
        return str(UUID(text))
    except ValueError:
        return None
