"""An oracle of the facts of two scopes: what every call should answer and change.

Everything is a plain object in a dictionary; the run in force, missing values and differences are computed at each
request. Runs and their rows have numbers, times are milliseconds, None is UNSET, and a refused call raises `Refusal`
with the acceptable codes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

NOWHERE = 0  # the number of nothing
SCOPES = (0, 1)
SCOPE_OF_AGENTS = 0  # its policy lets agents act as owners; elsewhere they are editors
NO_SCOPE = 2
KINDS = ("string", "number", "boolean", "enum", "json")
KIND_BY_VALUE = ("boolean", "number", "string", "json")  # the first that a value fits is its kind, if none is given
FIELD_TYPES = {"boolean": "boolean", "enum": "select"}  # the form control of a kind; text for all others
RANKS = {"unknown": 0, "model-inferred": 1, "source-backed": 2, "user-entered": 3}
WRITER = {"person": "user", "agent": "model", "service": "system"}
SHARED = None

Given: TypeAlias = Mapping[str, Any]
Name: TypeAlias = tuple[str, Any]  # the kind of a row, and its pointer, its key, or the number of its origin


class Refusal(Exception):
    """The call must fail with one of these codes and change nothing; some codes name places."""

    def __init__(self, codes: Iterable[str], places: Mapping[str, list[Any]] | None = None) -> None:
        self.codes = set(codes)
        self.places = places or {}
        super().__init__(" or ".join(sorted(self.codes)))


class Author(NamedTuple):
    """Who makes a call, in which role, and when."""

    name: str
    kind: str
    at: int


@dataclass
class Source:
    """A source of facts. Its uri never changes and identifies it in a copy."""

    n: int
    uri: str
    title: str
    kind: str
    created_at: int
    parse_status: str = "pending"
    excerpt: str | None = None
    size: int | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    origin: int | None = None


@dataclass
class Valued:
    """A row with a value and a provenance: an input or a constraint."""

    n: int
    label: str
    kind: str
    value: Any = None
    provenance: str = "unknown"
    snippet: str | None = None
    updated_by: str = ""
    updated_at: int = 0

    @property
    def is_set(self) -> bool:
        return self.value is not None

    @property
    def is_a_persons(self) -> bool:
        """Whether a person set the value."""
        return self.is_set and (self.provenance == "user-entered" or self.updated_by == "user")

    @property
    def backing(self) -> set[int]:
        """The sources of the value."""
        raise NotImplementedError


@dataclass
class Input(Valued):
    """A value by pointer."""

    pointer: str = ""
    field_type: str = "text"
    required: bool = False
    options: list[str] | None = None
    sources: set[int] = field(default_factory=set)

    @property
    def backing(self) -> set[int]:
        return self.sources


@dataclass
class Constraint(Valued):
    """A value by key. Its domain identifies it in a copy; only a commit that keeps a person's entry changes it."""

    key: str = ""
    domain: str = ""
    source: int | None = None
    created_at: int = 0

    @property
    def backing(self) -> set[int]:
        return set() if self.source is None else {self.source}


@dataclass
class Artifact:
    """Something made from the facts. Its title never changes and identifies it in a copy."""

    n: int
    type: str
    title: str
    created_at: int
    payload: dict[str, Any] = field(default_factory=dict)
    origin: int | None = None


@dataclass
class Suggestion:
    """A value that waits for a person."""

    n: int
    target: int  # the number of an input or of a constraint
    kind: str
    value: Any
    provenance: str
    sources: list[int]
    snippet: str | None
    rationale: str | None
    created_at: int
    created_by: str
    written_by: str
    status: str = "pending"


@dataclass
class Run:
    """One state of the facts."""

    n: int
    scope: int
    user: str | None
    created_at: int
    updated_at: int
    sole_writer: str | None = None  # the only actor that has written to it
    status: str = "draft"
    committed_at: int | None = None
    committed_by: str = ""
    replaced: int | None = None  # the run that was in force until this one was committed
    base: int | None = None  # the run that it was copied from
    starts_empty: bool = False
    rev: int = 1
    sources: dict[int, Source] = field(default_factory=dict)
    inputs: dict[str, Input] = field(default_factory=dict)
    constraints: dict[int, Constraint] = field(default_factory=dict)
    artifacts: dict[int, Artifact] = field(default_factory=dict)
    suggestions: dict[int, Suggestion] = field(default_factory=dict)

    @property
    def is_draft(self) -> bool:
        return self.status == "draft"

    @property
    def missing(self) -> list[str]:
        return sorted(one.pointer for one in self.inputs.values() if one.required and not one.is_set)

    @property
    def unbacked(self) -> list[Valued]:
        """The source-backed rows without a source."""
        everything: list[Valued] = [*self.inputs.values(), *self.constraints.values()]
        return [one for one in everything if one.provenance == "source-backed" and not one.backing]

    @property
    def pending(self) -> list[Suggestion]:
        return [one for one in self.suggestions.values() if one.status == "pending"]

    def addresses(self, one: Valued | None) -> list[str]:
        """Return the uris of a value's sources, which are the same in every run."""
        return sorted(self.sources[n].uri for n in one.backing) if one else []

    @property
    def named(self) -> dict[Name, Source | Valued | Artifact]:
        """The rows by the names that they share with other runs."""
        rows: dict[Name, Source | Valued | Artifact] = {("input", pointer): one for pointer, one in self.inputs.items()}
        rows |= {("constraint", one.key): one for one in self.constraints.values()}
        rows |= {("source", one.origin or one.n): one for one in self.sources.values()}
        rows |= {("artifact", one.origin or one.n): one for one in self.artifacts.values()}
        return rows

    def content(self, name: Name) -> str:
        """Return what two rows of one name are compared by."""
        row = self.named.get(name)
        if row is None:
            return "nothing"
        ignored = {"n", "origin", "created_at", "updated_at", "updated_by", "sources", "source"}
        content = {field: value for field, value in vars(row).items() if field not in ignored}
        if isinstance(row, Valued):
            content["backing"] = sorted(self.sources[n].origin or n for n in row.backing)
        return json.dumps(content, sort_keys=True)

    def is_a_persons(self, name: Name) -> bool:
        """Return whether a row is a fact with a value that a person set."""
        row = self.named.get(name)
        return isinstance(row, Valued) and row.is_a_persons

    def waiting(self) -> dict[tuple[Name, str, int], Suggestion]:
        """The pending suggestions, by what they and their copies have in common."""
        names = {one.n: name for name, one in self.named.items()}
        return {(names[one.target], one.created_by, one.created_at): one for one in self.pending}

    def target(self, n: int) -> Valued:
        everything: list[Valued] = [*self.inputs.values(), *self.constraints.values()]
        return next(one for one in everything if one.n == n)


class EditAnswer(NamedTuple):
    """The answer to an edit, in numbers."""

    sources: list[int]
    inputs: list[tuple[int, str]]  # with the pointer
    constraints: list[tuple[int, str]]  # with the key
    artifacts: list[int]
    suggested: list[tuple[int, Valued, str]]  # subject and reason


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal in JSON, where false is not 0."""
    return json.dumps(one) == json.dumps(other)


def fits(kind: str, value: Any) -> bool:
    """Return whether a value is of a kind."""
    match kind:
        case "string" | "enum":
            return isinstance(value, str)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
    return True


def as_kind(kind: str, value: Any) -> Any:
    """Return a value as it is stored: a number or a boolean may be given as JSON text."""
    if kind not in ("number", "boolean") or not isinstance(value, str):
        return value
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    return decoded if fits(kind, decoded) else value


def is_option(kind: str, value: Any, options: list[str] | None) -> bool:
    """Return whether a choice is one of the options; other kinds have no options."""
    return kind != "enum" or value is None or options is None or value in options


def names_twice(rows: Sequence[Given]) -> bool:
    """Return whether two rows of a request have the same subject."""
    named = [(name, one[name]) for one in rows for name in ("pointer", "n", "key") if name in one]
    return len(set(named)) < len(named)


def displaced(old: Run, new: Run) -> list[tuple[str, str, Any]]:
    """What a person entered in one run and another one has otherwise or not: where, how, and the value that it had.

    What a person did later is theirs to do.
    """
    found: list[tuple[str, str, Any]] = []
    for pointer, one in sorted(old.inputs.items()):
        now = new.inputs.get(pointer)
        if not (one.is_a_persons or (one.required and one.updated_by == "user")):
            continue
        if now is None:
            found.append((pointer, "removed", one.value))
        elif one.is_a_persons and is_overruled(one, now):
            found.append((pointer, "changed", one.value))
        elif one.required and not now.required and (now.updated_by != "user" or now.updated_at < one.updated_at):
            found.append((pointer, "optional", one.value))
    limits = {one.key: one for one in new.constraints.values()}
    for limit in sorted(old.constraints.values(), key=lambda one: one.key):
        if limit.is_a_persons and limit.key not in limits:
            found.append((limit.key, "removed", limit.value))
        elif limit.is_a_persons and is_overruled(limit, limits[limit.key]):
            found.append((limit.key, "changed", limit.value))
    return found


def is_overruled(one: Input | Constraint, now: Input | Constraint) -> bool:
    """Whether a person's value became another one that no person wrote later."""
    is_same = one.kind == now.kind and same(one.value, now.value)
    # What a person entered gives way only to what a person entered.
    is_as_strong = now.provenance == "user-entered" or one.provenance != "user-entered"
    is_a_persons = now.updated_by == "user" and is_as_strong
    return not is_same and (not is_a_persons or now.updated_at < one.updated_at)


def filled_columns(given: Given) -> list[str]:
    """Return the kinds of the given columns that have a value."""
    columns = given.get("columns", {})
    return [kind for kind in KINDS if columns.get(kind) is not None]


def with_kind(given: Given) -> Given:
    """Return a new row with the kind that follows from its value, if it has a value and no kind."""
    if "kind" in given:
        return given
    if filled := filled_columns(given):
        return {**given, "kind": filled[0]}
    if given.get("value") is None:
        return given
    return {**given, "kind": next(kind for kind in KIND_BY_VALUE if fits(kind, given["value"]))}


def definition(one: Input, *, evidence: bool = True) -> dict[str, Any]:
    """Return what an input is, without its value."""
    shown = {"label": one.label, "valueKind": one.kind, "required": one.required, "fieldType": one.field_type}
    return shown | {"options": one.options} | ({"evidenceSnippet": one.snippet} if evidence else {})


def keeps_evidence(before: Input, after: Input) -> bool:
    """Return whether the evidence still belongs to the same value."""
    return not before.is_set or (before.kind == after.kind and same(before.value, after.value))


def changes(before: Input | None, after: Input | None, old: list[str], new: list[str]) -> list[str]:
    """Return how an input changed, including its sources."""
    if after is None:
        return [] if before is None else ["removed"]
    if before is None:
        return ["set", "added"] if after.is_set else ["added"]
    is_same = before.kind == after.kind and same(before.value, after.value)
    keeps = keeps_evidence(before, after)
    happened = {
        "set": after.is_set and not before.is_set,
        "changed": before.is_set and after.is_set and not is_same,
        "cleared": before.is_set and not after.is_set,
        "provenance_moved": before.provenance != after.provenance,
        "sources_added": bool(set(new) - set(old)),
        "sources_removed": bool(set(old) - set(new)),
        "redefined": definition(before, evidence=keeps) != definition(after, evidence=keeps),
    }
    return [name for name, is_so in happened.items() if is_so]


class Facts:
    """All runs, existing and deleted."""

    def __init__(self) -> None:
        self.runs: dict[int, Run] = {}
        self.gone: dict[int, Run] = {}
        self.last_n = 0
        self.numbers: dict[int, int] = {}  # of the last copy, by those of its original

    def copy(self) -> Facts:
        return copy.deepcopy(self)

    def fresh(self) -> int:
        self.last_n += 1
        return self.last_n

    # --- Questions ---

    def of(self, scope: int) -> list[Run]:
        return [run for run in self.runs.values() if run.scope == scope]

    def in_force(self, scope: int, ids: Mapping[int, str], user: str | None = None) -> Run | None:
        """Return the latest committed run: by time, then by last change, then by id."""
        found = [run for run in self.of(scope) if not run.is_draft]
        found = [run for run in found if user is None or run.user in (user, SHARED)]
        found.sort(key=lambda run: ids[run.n])
        found.sort(key=lambda run: (run.committed_at, run.updated_at), reverse=True)
        return found[0] if found else None

    def listed(self, scope: int, ids: Mapping[int, str], user: str | None, status: str | None) -> list[Run]:
        found = [run for run in self.of(scope) if status in (None, run.status)]
        found = [run for run in found if user is None or run.user in (user, SHARED)]
        found.sort(key=lambda run: ids[run.n])
        found.sort(key=lambda run: run.created_at, reverse=True)
        return found

    def compared(self, old: Run, new: Run) -> dict[str, list[str]]:
        """Return what changed between two runs by pointer, the most important changes first."""
        found = {}
        for pointer in sorted({*old.inputs, *new.inputs}):
            before, after = old.inputs.get(pointer), new.inputs.get(pointer)
            happened = changes(before, after, old.addresses(before), new.addresses(after))
            if happened:
                found[pointer] = happened
        return found

    # --- Runs ---

    def create(self, scope: int, *, shared: bool, copy_of: int | None, by: Author, starts_empty: bool = False) -> int:
        if copy_of is not None and (copy_of not in self.runs or self.runs[copy_of].scope != scope):
            raise Refusal({"not_found"})
        run = Run(self.fresh(), scope, SHARED if shared else by.name, by.at, by.at, by.name)
        run.starts_empty = starts_empty
        self.runs[run.n] = run
        if copy_of is not None:
            origin = self.runs[copy_of]
            run.base, run.starts_empty = origin.n, False
            if origin.is_draft:  # its own changes are changes of the copy too
                run.base, run.starts_empty = origin.base, origin.starts_empty
            self._copy(origin, run)
        return run.n

    def _copy(self, of: Run, run: Run) -> None:
        """Copy everything below a run, with new numbers."""
        self.numbers = numbers = {}

        def renumbered(one: Any) -> Any:
            twin = copy.deepcopy(one)
            twin.n = numbers[one.n] = self.fresh()
            if isinstance(one, Source | Artifact):
                twin.origin = one.origin or one.n
            return twin

        for kind in ("sources", "inputs", "constraints", "artifacts"):
            setattr(run, kind, {})
            for key, one in getattr(of, kind).items():
                twin = renumbered(one)
                getattr(run, kind)[key if kind == "inputs" else twin.n] = twin
        for one in run.inputs.values():
            one.sources = {numbers[n] for n in one.sources}
        for constraint in run.constraints.values():
            constraint.source = None if constraint.source is None else numbers[constraint.source]
        for suggestion in of.pending:
            twin = renumbered(suggestion)
            twin.target = numbers[suggestion.target]
            twin.sources = [numbers[n] for n in suggestion.sources]
            run.suggestions[twin.n] = twin

    def reown(self, n: int, *, ownership: str | None, by: Author) -> None:
        run = self._draft(n)
        if ownership is not None:
            run.user = SHARED if ownership == "shared" else by.name
        self._touch(run, by)

    def base_of(self, run: Run) -> Run | None:
        """Return the base of a draft; of a deleted base, what that one had replaced."""
        n = run.base
        while n in self.gone:
            n = self.gone[n].replaced
        return None if n is None else self.runs[n]

    def differences(self, run: Run, theirs: Run | None) -> tuple[set[Name], set[Name]]:
        """Return what only the run in force changed since the base of a draft, and what both changed differently."""
        base = self.base_of(run)
        if run.starts_empty or base is theirs:
            return set(), set()
        before, latest = (one or Run(NOWHERE, run.scope, None, 0, 0) for one in (base, theirs))
        names = {*before.named, *latest.named, *run.named}
        equal = {name for name in names if latest.content(name) == run.content(name)}
        moved = {name for name in names - equal if self._is_changed(name, before, latest)}
        conflicts = {name for name in moved if self._is_changed(name, before, run)}
        confirmed = {name for name in equal if latest.is_a_persons(name) and not run.is_a_persons(name)}
        return (moved - conflicts) | confirmed, conflicts

    @staticmethod
    def _is_changed(name: Name, before: Run, after: Run) -> bool:
        """Return whether a row changed between two runs, or became a person's."""
        return (before.content(name), before.is_a_persons(name)) != (after.content(name), after.is_a_persons(name))

    def commit(
        self,
        n: int,
        *,
        partial: bool,
        expected_rev: int | None,
        by: Author,
        ids: Mapping[int, str],
        drop: bool = False,
        choices: Mapping[Name, str] | None = None,
    ) -> tuple[set[Name], set[Name]]:
        """Commit a draft, and return what it took from the run in force, and what is in force no more."""
        run = self._there(n)
        latest = self.in_force(run.scope, ids)
        wrong = set() if run.is_draft else {"frozen"}
        wrong |= self._stale(run, expected_rev)
        if wrong:
            raise Refusal(wrong)
        taken, conflicts = self.differences(run, latest)
        if set(choices or ()) - conflicts:
            raise Refusal({"no_conflict"})
        taken |= {name for name in conflicts if (choices or {}).get(name) == "theirs"}
        open_conflicts = conflicts - set(choices or ())
        if open_conflicts:
            self._refuse_conflicts(run, latest, open_conflicts, by)
        if self._is_stale(run, latest):
            taken = Merging(self, run, self.base_of(run), latest, taken).apply()
        wrong |= {"required_inputs_unset"} if run.missing and not partial else set()
        wrong |= {"source_missing"} if run.unbacked else set()
        places: dict[str, list[Any]] = {"required_inputs_unset": run.missing}
        if latest is not None and by.kind != "person" and (found := displaced(latest, run)):
            wrong.add("displaces_user_entered")
            places["displaces_user_entered"] = [name for name, _, _ in found]
        if wrong:
            raise Refusal(wrong, places)
        dropped: set[Name] = set()
        if latest is not None:
            self._keep_entries(latest, run, by)
            dropped = latest.named.keys() - run.named.keys()
        if dropped and run.starts_empty and not drop:
            raise Refusal({"drops_facts"})
        run.replaced = run.base = None if latest is None else latest.n
        run.committed_by = by.name
        run.status = "partial_committed" if partial else "committed"
        last = None if latest is None else latest.committed_at
        run.committed_at = by.at if last is None or last < by.at else last + 1
        self._touch(run, by)
        return taken, dropped

    def _is_stale(self, run: Run, latest: Run | None) -> bool:
        return not run.starts_empty and self.base_of(run) is not latest

    @staticmethod
    def _refuse_conflicts(run: Run, latest: Run | None, conflicts: set[Name], by: Author) -> None:
        """Refuse a commit for its conflicts; one of an agent with a person comes first."""
        found = [] if latest is None or by.kind == "person" else [name for name, _, _ in displaced(latest, run)]
        found = [name for name in found if {("input", name), ("constraint", name)} & conflicts]
        if found:
            raise Refusal({"displaces_user_entered"}, {"displaces_user_entered": found})
        raise Refusal({"stale_base"}, {"stale_base": list(conflicts)})

    def _keep_entries(self, old: Run, new: Run, by: Author) -> None:
        """The value that a person set is still theirs where somebody says the same; only a person describes it."""
        limits = {one.key: one for one in new.constraints.values()}
        everything: list[Input | Constraint] = [*old.inputs.values(), *old.constraints.values()]
        for one in everything:
            now = new.inputs.get(one.pointer) if isinstance(one, Input) else limits.get(one.key)
            if now is None or not one.is_a_persons or one.kind != now.kind or not same(one.value, now.value):
                continue
            is_lower = RANKS[now.provenance] < RANKS[one.provenance]
            if is_lower or (one.updated_by == "user" and now.updated_by != "user"):
                now.provenance = max(one.provenance, now.provenance, key=lambda provenance: RANKS[provenance])
                self._describe(one, now, by, stays_backed=now.provenance == "source-backed" and not now.backing)
                if now.provenance == "source-backed" and not now.backing:
                    self._take_sources(old, one, new, now)

    def _take_sources(self, old: Run, one: Input | Constraint, new: Run, now: Input | Constraint) -> None:
        """Give a fact the sources that it has in another run, as rows of its own run."""
        merging = Merging(self, new, None, old, set())
        backing = {merging.place(n) for n in one.backing}
        if isinstance(now, Input):
            now.sources = backing
        else:
            (now.source,) = backing

    @staticmethod
    def _describe(one: Input | Constraint, now: Input | Constraint, by: Author, *, stays_backed: bool) -> None:
        """Describe a kept entry: as the person did, unless a person did it anew."""
        if by.kind != "person" and now.updated_by != "user":
            now.label = one.label
            if not now.backing:  # a quotation goes with its sources, unless they come along
                now.snippet = None if one.backing and not stays_backed else one.snippet
            if isinstance(one, Input) and isinstance(now, Input):
                now.field_type, now.options, now.required = one.field_type, one.options, one.required
            elif isinstance(one, Constraint) and isinstance(now, Constraint):
                now.domain = one.domain
        if isinstance(one, Input) and isinstance(now, Input):
            if one.required and not now.required:
                return  # somebody else made it optional, which must stay visible
            same_words = definition(one, evidence=False) == definition(now, evidence=False)
        elif isinstance(one, Constraint) and isinstance(now, Constraint):
            same_words = (one.label, one.domain) == (now.label, now.domain)
        if same_words:
            now.updated_by, now.updated_at = one.updated_by, one.updated_at
        elif now.updated_by != "user":
            now.updated_by, now.updated_at = "user", by.at

    def discard(self, n: int, *, by: Author) -> None:
        if self._draft(n).sole_writer != by.name:
            self._refuse_all_but_owners(self.runs[n], by)
        self.gone[n] = self.runs.pop(n)

    def delete(self, n: int, *, by: Author) -> None:
        if n in self.gone:  # whose scope is still known, so that the role is looked at first
            self._refuse_all_but_owners(self.gone[n], by)
        run = self._there(n)
        self._refuse_all_but_owners(run, by)
        if not run.is_draft and by.kind != "person":
            raise Refusal({"person_required"})
        self.gone[n] = self.runs.pop(n)

    @staticmethod
    def _refuse_all_but_owners(run: Run, by: Author) -> None:
        """Refuse an agent where the policy does not let agents act as owners."""
        if by.kind == "agent" and run.scope != SCOPE_OF_AGENTS:
            raise Refusal({"agent_not_allowed"})

    def _there(self, n: int) -> Run:
        if n not in self.runs:
            raise Refusal({"not_found"})
        return self.runs[n]

    def _draft(self, n: int) -> Run:
        run = self._there(n)
        if not run.is_draft:
            raise Refusal({"frozen"})
        return run

    @staticmethod
    def _stale(run: Run, expected_rev: int | None) -> set[str]:
        return set() if expected_rev in (None, run.rev) else {"stale_rev"}

    @staticmethod
    def _touch(run: Run, by: Author) -> None:
        run.rev += 1
        run.updated_at = by.at
        if run.sole_writer != by.name:
            run.sole_writer = None

    # --- Rows of a run ---

    def complete(self, n: int, given: Given, ids: Mapping[int, str], *, by: Author) -> tuple[int, Given]:
        """Return what an edit is made to: a new copy of a partial run in force, else the run itself."""
        run = self.runs.get(n)
        if run is None or run.status != "partial_committed" or self.in_force(run.scope, ids) is not run:
            return n, given
        if wrong := self._stale(run, given.get("expected_rev")):
            raise Refusal(wrong)
        draft = self.create(run.scope, shared=run.user is SHARED, copy_of=n, by=by)
        numbers = self.numbers

        def translate(row: Any) -> Any:
            match row:
                case dict():
                    own: dict[str, Any] = {"n": numbers.get(row["n"], row["n"])} if "n" in row else {}
                    own |= {"sources": [numbers.get(one, one) for one in row["sources"]]} if "sources" in row else {}
                    return {**row, **own}
                case (str() as name, int() as which):
                    return name, numbers.get(which, which)
            return row

        parts = {part: [translate(row) for row in given[part]] for part in PARTS if part in given}
        return draft, {**parts}

    def edit(self, n: int, given: Given, *, by: Author) -> EditAnswer:
        wrong = set() if any(given.get(part) for part in PARTS) else {"invalid_argument"}
        if any(names_twice(given.get(part, ())) for part in PARTS[:4]):
            wrong.add("invalid_argument")
        run = self.runs.get(n)
        if run is None:
            raise Refusal({"not_found"} | wrong)
        wrong |= set() if run.is_draft else {"frozen"}
        wrong |= self._stale(run, given.get("expected_rev"))
        edit = Edit(self, run, by)
        for part in PARTS:
            for one in given.get(part, ()):
                try:
                    getattr(edit, part)(one)
                except Refusal as refused:
                    wrong |= refused.codes
        if wrong:
            raise Refusal(wrong)
        if edit.changed:
            self._touch(run, by)
        return edit.answer


PARTS = ("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "accept", "reject", "remove")


class Merging:
    """Rows of the run in force on their way into a draft."""

    def __init__(self, facts: Facts, run: Run, base: Run | None, theirs: Run | None, taken: set[Name]) -> None:
        nothing = Run(NOWHERE, run.scope, None, 0, 0)
        self.facts = facts
        self.run = run
        self.base = base or nothing
        self.theirs = theirs or nothing
        self.taken = set(taken)

    def apply(self) -> set[Name]:
        theirs, mine = self.theirs.named, self.run.named
        for name in self.taken & theirs.keys():
            if name[0] == "source":
                self.source(name)
        for name in sorted(self.taken & theirs.keys(), key=str):
            if name[0] == "artifact":
                self.artifact(name)
            elif name[0] != "source":
                self.valued(name)
        for kind, which in self.taken - theirs.keys():
            if kind != "source":
                self.remove(mine[kind, which])
        self.suggestions()
        for name in {name for name in self.taken - theirs.keys() if name[0] == "source"}:
            everything: list[Valued] = [*self.run.inputs.values(), *self.run.constraints.values()]
            if any(mine[name].n in one.backing for one in everything):
                self.taken.remove(name)
            else:
                self.remove(mine[name])
        return self.taken

    def source(self, name: Name) -> int:
        """Return the number of a source in the draft, after it was taken over if it is not there or has to be."""
        mine = self.run.named.get(name)
        if mine is not None and name not in self.taken:
            return mine.n
        self.taken.add(name)
        twin = copy.deepcopy(self.theirs.named[name])
        assert isinstance(twin, Source)
        if isinstance(mine, Source):
            twin.n, twin.created_at, twin.origin = mine.n, mine.created_at, mine.origin
        else:
            twin.n, twin.origin = self.facts.fresh(), name[1]
        self.run.sources[twin.n] = twin
        return twin.n

    def place(self, n: int) -> int:
        """Return the number that a source of the run in force has in the draft."""
        name = ("source", self.theirs.sources[n].origin or n)
        mine = self.run.named.get(name)
        return self.source(name) if mine is None else mine.n

    def artifact(self, name: Name) -> None:
        mine, twin = self.run.named.get(name), copy.deepcopy(self.theirs.named[name])
        assert isinstance(twin, Artifact)
        if isinstance(mine, Artifact):
            twin.n, twin.created_at, twin.origin = mine.n, mine.created_at, mine.origin
        else:
            twin.n, twin.origin = self.facts.fresh(), name[1]
        self.run.artifacts[twin.n] = twin

    def valued(self, name: Name) -> None:
        mine, twin = self.run.named.get(name), copy.deepcopy(self.theirs.named[name])
        assert isinstance(twin, Valued)
        if isinstance(mine, Valued) and mine.is_set:
            is_taken = mine.updated_by == "user" and twin.updated_by != "user"
            if is_taken or RANKS[twin.provenance] < RANKS[mine.provenance]:
                self.remove(mine)  # nothing lowers the provenance of a row or takes it from a person: it is another row
                mine = None
        twin.n = self.facts.fresh() if mine is None else mine.n
        if isinstance(twin, Input):
            twin.sources = {self.place(n) for n in twin.sources}
            self.run.inputs[twin.pointer] = twin
        elif isinstance(twin, Constraint):
            twin.source = None if twin.source is None else self.place(twin.source)
            twin.created_at = mine.created_at if isinstance(mine, Constraint) else twin.created_at
            self.run.constraints[twin.n] = twin

    def remove(self, row: Source | Valued | Artifact) -> None:
        run = self.run
        match row:
            case Input():
                del run.inputs[row.pointer]
            case Constraint():
                del run.constraints[row.n]
            case Artifact():
                del run.artifacts[row.n]
            case Source():
                del run.sources[row.n]
                for one in run.suggestions.values():
                    one.sources = [n for n in one.sources if n != row.n]
        if isinstance(row, Valued):
            run.suggestions = {n: one for n, one in run.suggestions.items() if one.target != row.n}

    def suggestions(self) -> None:
        """Take over what was suggested since the base, and let go what was decided since."""
        before, theirs = self.base.waiting(), self.theirs.waiting()
        present = self.run.waiting()
        for key, one in present.items():
            if key in before and key not in theirs:
                del self.run.suggestions[one.n]
        present = self.run.waiting()
        for key, one in theirs.items():
            name, who, _ = key
            target = self.run.named.get(name)
            if key in before or target is None or any(other[:2] == (name, who) for other in present):
                continue
            twin = copy.deepcopy(one)
            twin.n, twin.target = self.facts.fresh(), target.n
            twin.sources = [self.place(n) for n in one.sources]
            self.run.suggestions[twin.n] = twin


class Edit:
    """One call that edits a run, part by part in order."""

    def __init__(self, facts: Facts, run: Run, by: Author) -> None:
        self.facts = facts
        self.run = run
        self.by = by
        self.is_person = by.kind == "person"
        self.answer = EditAnswer([], [], [], [], [])
        self.changed = False

    # --- Rows added or changed by number ---

    def sources(self, given: Given) -> None:
        n: int = given.get("n", NOWHERE)
        source = self.run.sources.get(n)
        if source is None:
            wrong = self._foreign(n, "sources")
            is_manual = given.get("kind") == "manual"
            wrong |= self._lacks(given, "kind", "title") if is_manual else self._lacks(given, "kind", "title", "uri")
            if wrong:
                raise Refusal(wrong)
            uri = given.get("uri", given["title"])
            source = Source(n or self.facts.fresh(), uri, given["title"], given["kind"], self.by.at)
            self.run.sources[source.n] = source
            self.changed = True
        is_another = any(name in given and given[name] != getattr(source, name) for name in ("kind", "title"))
        if is_another and not self.is_person and self._is_cited_by_a_person(source.n):
            raise Refusal({"provenance_not_allowed"})
        self._put(source, given, "kind", "title", "parse_status", "excerpt", "size", "meta")
        self.answer.sources.append(source.n)

    def artifacts(self, given: Given) -> None:
        n: int = given.get("n", NOWHERE)
        artifact = self.run.artifacts.get(n)
        if artifact is None:
            wrong = self._foreign(n, "artifacts")
            wrong |= self._lacks(given, "type", "title")
            if wrong:
                raise Refusal(wrong)
            artifact = Artifact(n or self.facts.fresh(), given["type"], given["title"], self.by.at)
            self.run.artifacts[artifact.n] = artifact
            self.changed = True
        self._put(artifact, given, "type", "payload")
        self.answer.artifacts.append(artifact.n)

    def inputs(self, given: Given) -> None:
        pointer = given["pointer"]
        if not pointer.startswith("/") or "~" in pointer.replace("~0", "").replace("~1", ""):
            raise Refusal({"invalid_pointer"})
        found, lacks = self.run.inputs.get(pointer), set()
        if found is None:
            given = with_kind(given)
            lacks = self._lacks(given, "kind")
            given = {"label": pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~") or pointer, **given}
            kind = given.get("kind", "string")
            found = Input(NOWHERE, "", kind, pointer=pointer, field_type=FIELD_TYPES.get(kind, "text"))
        self._write(found, given, lacks)

    def constraints(self, given: Given) -> None:
        n: int = given.get("n", NOWHERE)
        found, lacks = self.run.constraints.get(n), set()
        of_key = next((one for one in self.run.constraints.values() if one.key == given.get("key")), None)
        if found is not None and of_key is not None and of_key is not found:
            raise Refusal({"key_taken"})
        found = found or of_key  # a key is of one constraint, which keeps its id
        if found is None:
            given = with_kind(given)
            lacks = self._lacks(given, "key", "label", "kind") | self._foreign(n, "constraints")
            kind = given.get("kind", "string")
            domain = given.get("domain", "general")
            found = Constraint(NOWHERE, "", kind, domain=domain, created_at=self.by.at, updated_at=self.by.at)
            found.updated_by = WRITER[self.by.kind]
        self._write(found, given, lacks)

    # --- Values ---

    def _write(self, found: Valued, given: Given, lacks: set[str]) -> None:
        """Write a value, or keep it as a suggestion if the present one has a higher provenance."""
        is_new = found.n == NOWHERE
        if given.get("provenance") == "unknown" and found.is_set and not {"value", "columns"} & given.keys():
            given = {**given, "value": None}  # what is unknown has no value
        kind = given.get("kind", found.kind)
        wrong = lacks | self._wrong_column(found, kind, given)
        if "columns" in given:
            given = {**given, "value": given["columns"].get(kind)}
        value = as_kind(kind, given["value"]) if "value" in given else found.value
        wrong |= set() if value is None or "value" not in given or fits(kind, value) else {"invalid_argument"}
        wrong |= {"not_found"} if set(given.get("sources") or ()) - self.run.sources.keys() else set()
        provenance = self._provenance(found, given, value)
        is_same = kind == found.kind and same(value, found.value)
        # Sending back what was read changes nothing.
        echoes = found.provenance == "user-entered" and is_same
        if given.get("provenance") == "user-entered" and not self.is_person and not echoes:
            wrong.add("provenance_not_allowed")
        if provenance == "unknown" and value is not None:
            wrong.add("unknown_has_no_value")
        rank = RANKS[provenance]
        if not self.is_person and not is_same and (value is None or not given.get("sources")):
            rank = min(rank, RANKS["model-inferred"])  # without a source it is an inference, whatever the request says
        waits = found.is_set and rank < RANKS[found.provenance]
        waits |= found.is_a_persons and not self.is_person
        if isinstance(found, Input):
            # A suggestion changes nothing, so the options stay.
            options = found.options if waits and not is_same else given.get("options", found.options)
            wrong |= set() if is_option(kind, value, options) else {"not_an_option"}
        if wrong:
            raise Refusal(wrong)
        if waits and not is_same:
            self._name(found)
            self._suggest(found, kind, value, provenance, given)
            return
        if waits:
            provenance = found.provenance  # the same value with lower provenance: only the other fields count
        before = copy.deepcopy(found)
        if is_new:
            found.n = given.get("n") or self.facts.fresh()
            self._add(found)
        found.kind, found.value, found.provenance = kind, value, provenance
        for name in ("label", "key", "domain", "required", "options", "snippet"):
            if name in given:
                setattr(found, name, copy.copy(given[name]))
        if before.is_set and not is_same and "snippet" not in given:
            found.snippet = None  # it belonged to the former value
        # To Python false equals 0, so the value is compared separately.
        is_other = found != before or not same(found.value, before.value)
        if isinstance(found, Input) and isinstance(before, Input) and is_other:
            if before.required and not found.required and not self.is_person:
                wrong.add("provenance_not_allowed")
            found.updated_by, found.updated_at = WRITER[self.by.kind], self.by.at
        wrong |= self._cite(found, before, given)
        is_backed_otherwise = found.backing != before.backing
        if isinstance(found, Constraint) and (is_other or is_backed_otherwise):
            found.updated_by, found.updated_at = WRITER[self.by.kind], self.by.at
        if before.is_a_persons and not self.is_person and (is_other or is_backed_otherwise):
            wrong.add("provenance_not_allowed")
        if wrong:
            raise Refusal(wrong)
        self.changed |= is_other or found != before
        self._name(found)

    def _cite(self, found: Valued, before: Valued, given: Given) -> set[str]:
        """Set the given sources; those of another value no longer count."""
        cited = given.get("sources")
        if cited is None:
            is_same = found.kind == before.kind and same(found.value, before.value)
            if is_same or not before.is_set:
                return set()
        if isinstance(found, Input):
            found.sources = set(cited or ())
        elif isinstance(found, Constraint):
            found.source = cited[0] if cited else None
        is_backed = found.is_set and found.provenance == "source-backed"
        return {"last_source"} if cited == [] and before.backing and is_backed else set()

    def _name(self, found: Valued) -> None:
        if isinstance(found, Input):
            self.answer.inputs.append((found.n, found.pointer))
        elif isinstance(found, Constraint):
            self.answer.constraints.append((found.n, found.key))

    def _add(self, found: Valued) -> None:
        if isinstance(found, Input):
            self.run.inputs[found.pointer] = found
        elif isinstance(found, Constraint):
            self.run.constraints[found.n] = found

    @staticmethod
    def _wrong_column(found: Valued, kind: str, given: Given) -> set[str]:
        """Refuse a value outside the column of the kind that the row has or gets, whatever the caller thinks it is."""
        is_kept = found.is_set and not {"value", "columns"} & given.keys()
        filled = [found.kind] if is_kept else filled_columns(given)
        return {"pciv_v1_runtime_invariant_failed"} if any(one != kind for one in filled) else set()

    def _provenance(self, found: Valued, given: Given, value: Any) -> str:
        """Return the provenance of a value whose writer does not give one."""
        if "provenance" in given:
            return str(given["provenance"])
        if "value" not in given:
            return found.provenance
        if found.is_set and found.provenance == "user-entered" and self.is_person:
            return "user-entered"  # also with a source: it is still the person's
        if given.get("sources"):
            return "source-backed"
        if value is None and found.n == NOWHERE:
            return "unknown"
        if self.is_person:
            return "user-entered"
        # UNSET is nobody's inference, unless a model removes its own value.
        return "unknown" if value is None and found.provenance != "model-inferred" else "model-inferred"

    def _suggest(self, found: Valued, kind: str, value: Any, provenance: str, given: Given) -> None:
        """Keep one waiting suggestion for each writer and value; a new one replaces it, with a new number."""
        for one in self.run.pending:
            if (one.target, one.created_by) == (found.n, self.by.name):
                del self.run.suggestions[one.n]
        n = self.facts.fresh()
        self.run.suggestions[n] = Suggestion(
            n,
            found.n,
            kind,
            value,
            provenance,
            sorted(set(given.get("sources") or ())),
            given.get("snippet"),
            given.get("rationale"),
            self.by.at,
            self.by.name,
            WRITER[self.by.kind],
        )
        stands = found.provenance
        why = f"{stands} ranks above {provenance}; a person accepts or rejects it"
        if RANKS[provenance] >= RANKS[stands]:
            why = f"it names no source, and the current value is {stands}; a person accepts or rejects it"
            if found.is_a_persons and not self.is_person:
                why = "a person set the current value; a person accepts or rejects it"
        if value is None:
            why = f"the value is {stands}; a person decides whether to clear it"
        self.answer.suggested.append((n, found, why))
        self.changed = True

    # --- Sources and suggestions ---

    def links(self, given: tuple[str, int]) -> None:
        found, source = self._ends(given)
        if source in found.backing:
            return
        if found.is_a_persons and not self.is_person:
            raise Refusal({"provenance_not_allowed"})
        if isinstance(found, Input):
            found.sources.add(source)
        else:
            found.source = source  # a constraint has one at most
        self.changed = True

    def unlinks(self, given: tuple[str, int]) -> None:
        found, source = self._ends(given)
        wrong = set() if source in found.backing else {"not_found"}
        if found.is_a_persons and not self.is_person:
            wrong.add("provenance_not_allowed")
        if found.backing == {source} and found.is_set and found.provenance == "source-backed":
            wrong.add("last_source")
        if wrong:
            raise Refusal(wrong)
        if isinstance(found, Input):
            found.sources.remove(source)
        else:
            found.source = None
        self.changed = True

    def _ends(self, given: tuple[str, int]) -> tuple[Input | Constraint, int]:
        """What a link is of, by pointer or by key, and the source."""
        name, source = given
        limits = {one.key: one for one in self.run.constraints.values()}
        found = self.run.inputs.get(name) or limits.get(name)
        if found is None or source not in self.run.sources:
            raise Refusal({"not_found", "invalid_pointer"})
        return found, source

    def accept(self, n: int) -> None:
        suggestion = self._decided(n, "accepted")
        found = self.run.target(suggestion.target)
        if isinstance(found, Input) and not is_option(suggestion.kind, suggestion.value, found.options):
            raise Refusal({"not_an_option"})
        found.kind, found.value, found.provenance = suggestion.kind, suggestion.value, "user-entered"
        found.snippet = suggestion.snippet  # it backs this value; the former sources backed the other
        if isinstance(found, Input):
            found.sources = set(suggestion.sources)
        elif isinstance(found, Constraint):
            found.source = suggestion.sources[0] if suggestion.sources else None
        found.updated_by, found.updated_at = "user", self.by.at

    def reject(self, n: int) -> None:
        self._decided(n, "rejected")

    def _decided(self, n: int, status: str) -> Suggestion:
        wrong = set() if self.is_person else {"provenance_not_allowed"}
        suggestion = self.run.suggestions.get(n)
        wrong |= {"not_found"} if suggestion is None else set()
        if suggestion is not None and suggestion.status != "pending":
            wrong.add("already_decided")
        if suggestion is None or wrong:
            raise Refusal(wrong)
        suggestion.status = status
        self.changed = True
        return suggestion

    # --- Removals ---

    def remove(self, given: tuple[str, Any]) -> None:
        part, which = given
        rows: dict[Any, Any] = getattr(self.run, part)
        found = rows.get(which)
        if found is None:
            raise Refusal({"not_found", "invalid_pointer"})
        if isinstance(found, Valued):
            is_theirs = found.is_a_persons or (found.is_set and found.provenance == "source-backed")
            is_theirs |= isinstance(found, Input) and found.required
            if is_theirs and not self.is_person:
                raise Refusal({"provenance_not_allowed"})
            about = {n for n, one in self.run.suggestions.items() if one.target == found.n}
            self.run.suggestions = {n: one for n, one in self.run.suggestions.items() if n not in about}
        elif isinstance(found, Source):
            self._uncite(found.n)
        del rows[which]
        self.changed = True

    def _is_cited_by_a_person(self, source: int) -> bool:
        everything: list[Valued] = [*self.run.inputs.values(), *self.run.constraints.values()]
        return any(one.is_a_persons and source in one.backing for one in everything)

    def _uncite(self, source: int) -> None:
        """Remove references to a deleted source; a value with no other source keeps it."""
        everything: list[Valued] = [*self.run.inputs.values(), *self.run.constraints.values()]
        if any(one.is_set and one.provenance == "source-backed" and one.backing == {source} for one in everything):
            raise Refusal({"last_source"})
        if not self.is_person and self._is_cited_by_a_person(source):
            raise Refusal({"provenance_not_allowed"})
        for one in self.run.inputs.values():
            one.sources.discard(source)
        for constraint in self.run.constraints.values():
            constraint.source = None if constraint.source == source else constraint.source
        for suggestion in self.run.suggestions.values():
            suggestion.sources = [n for n in suggestion.sources if n != source]

    # --- Checks of any row ---

    def _put(self, row: Any, given: Given, *names: str) -> None:
        for name in names:
            if name in given and not same(getattr(row, name), given[name]):
                setattr(row, name, copy.deepcopy(given[name]))
                self.changed = True

    def _foreign(self, n: int, part: str) -> set[str]:
        """Refuse a given id that belongs to another run."""
        # A discarded draft loses its rows; those of a committed run stay, even if hidden.
        everywhere = [*self.facts.runs.values(), *(run for run in self.facts.gone.values() if not run.is_draft)]
        is_taken = any(n in getattr(run, part) for run in everywhere if run is not self.run)
        return {"id_taken"} if is_taken else set()

    @staticmethod
    def _lacks(given: Given, *names: str) -> set[str]:
        return set() if given.keys() >= set(names) else {"missing_argument"}
