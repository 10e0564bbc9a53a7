"""Merge into a draft what was committed since the draft was begun.

Three runs are compared: the base of the draft, the run in force, and the draft. What only one side changed since the
base is kept from both; what both changed differently is a conflict, which the request settles. Rows have the same name
in all runs: an input its pointer, a constraint its key, a source or an artifact the id of its origin, kept by copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import structs

from groundplan.context.events import Op
from groundplan.context.facts import Inputs
from groundplan.context.provenance import is_set_by_person
from groundplan.context.removals import delete_artifact, delete_constraint, delete_input, delete_source
from groundplan.context.rows import add_row, change_row, diff_rows
from groundplan.context.schemas import (
    InputRow,
    MergeSide,
    PcivArtifactV1,
    PcivConstraintV1,
    PcivInputV1,
    PcivSourceV1,
    UpdatedBy,
)
from groundplan.context.suggestions import SuggestionRow, add_suggestion, remove_suggestion
from groundplan.context.values import COLUMNS, get_typed_value, get_value, load_rows
from groundplan.kernel.errors import Invalid
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument, quote_text

sql = load_queries(__file__)

Row: TypeAlias = PcivInputV1 | PcivConstraintV1 | PcivSourceV1 | PcivArtifactV1

# Fields that say which row it is and when it was written; rows that differ only in these are equal.
IDENTITY = frozenset({"id", "run_id", "origin_id", "created_at", "updated_at", "updated_by"})


class SuggestionKey(NamedTuple):
    """What a suggestion and its copies have in common: the name of its fact, who made it, and when."""

    name: str
    created_by: str
    created_at: str


class RunRows(NamedTuple):
    """The rows of a run by their names, the origins of its sources, and its pending suggestions."""

    rows: Mapping[str, Row]
    sources: Mapping[str, PcivSourceV1]  # by origin
    origins: Mapping[str, str]
    suggestions: Mapping[SuggestionKey, SuggestionRow]

    def get_content(self, name: str) -> dict[str, Any] | None:
        """Return the fields of a row that a merge compares; None if the run has no such row."""
        row = self.rows.get(name)
        if row is None:
            return None
        content = {field: value for field, value in structs.asdict(row).items() if field not in IDENTITY}
        if isinstance(row, PcivInputV1):
            content["source_ids"] = sorted(self.origins[id_] for id_ in row.source_ids)
        if isinstance(row, PcivConstraintV1):
            content["source_id"] = self.origins[row.source_id] if row.source_id else None
        return content

    def is_set_by_person(self, name: str) -> bool:
        """Return whether a row is a fact that holds a person's value."""
        row = self.rows.get(name)
        return isinstance(row, PcivInputV1 | PcivConstraintV1) and is_set_by_person(row)

    def encode_content(self, name: str) -> bytes:
        """Return the content of a row as bytes, which are equal for equal contents."""
        return msgspec.json.encode(self.get_content(name), order="deterministic")


def load_run_rows(tx: Transaction, run_id: str | None) -> RunRows:
    """Return the rows of a run; nothing for None."""
    if run_id is None:
        return RunRows({}, {}, {}, {})
    sources = load_rows(tx, sql.sources_of_run, PcivSourceV1, run_id=run_id)
    inputs = load_rows(tx, sql.inputs_of_run, PcivInputV1, run_id=run_id)
    constraints = load_rows(tx, sql.constraints_of_run, PcivConstraintV1, run_id=run_id)
    artifacts = load_rows(tx, sql.artifacts_of_run, PcivArtifactV1, run_id=run_id)
    links = tx.all(sql.links_of_run, run_id=run_id)
    cited = {input_id: [source_id for _, source_id in group] for input_id, group in groupby(links, itemgetter(0))}
    for row in inputs:
        row.source_ids = cited.get(row.id, [])
    origins = {row.id: row.origin_id or row.id for row in sources}
    rows: dict[str, Row] = {name_source(origins[row.id]): row for row in sources}
    rows |= {row.pointer: row for row in inputs}
    rows |= {name_constraint(row.key): row for row in constraints}
    rows |= {f"artifact:{row.origin_id or row.id}": row for row in artifacts}
    pointers = {row.id: row.pointer for row in inputs}
    keys = {row.id: name_constraint(row.key) for row in constraints}
    suggestions = {}
    for waiting in load_rows(tx, sql.pending_suggestions_of_run, SuggestionRow, run_id=run_id):
        name = keys[waiting.constraint_id] if waiting.constraint_id else pointers[waiting.input_id or ""]
        suggestions[SuggestionKey(name, waiting.created_by, waiting.created_at)] = waiting
    return RunRows(rows, {origins[row.id]: row for row in sources}, origins, suggestions)


def name_source(origin_id: str) -> str:
    """Return the name that a source and its copies have in a merge."""
    return f"source:{origin_id}"


def name_constraint(key: str) -> str:
    """Return the name that a constraint has in a merge."""
    return f"constraint:{key}"


class SourceCopies:
    """The sources of a draft, to which it takes over those of the run in force that its facts need."""

    def __init__(self, tx: Transaction, draft_id: str, mine: RunRows, theirs: RunRows) -> None:
        self.tx = tx
        self.draft_id = draft_id
        self.mine = mine
        self.theirs = theirs
        self.taken: set[str] = set()  # names of those that were taken over
        self._ids = {origin: id_ for id_, origin in mine.origins.items()}

    def put(self, name: str, theirs: PcivSourceV1) -> None:
        """Write a source of the run in force into the draft."""
        mine = self.mine.rows.get(name)
        before = mine if isinstance(mine, PcivSourceV1) else None
        origin = theirs.origin_id or theirs.id
        if before is None:
            after = structs.replace(theirs, id=new_uuid(), run_id=self.draft_id, origin_id=origin)
            add_row(self.tx, sql.add_source, after, ())
        else:
            identity = {field: getattr(before, field) for field in ("id", "run_id", "created_at", "origin_id")}
            after = structs.replace(theirs, **identity)
            change_row(self.tx, sql.change_source, after)
        self.tx.record(Op.SOURCE_CHANGED if before else Op.SOURCE_ADDED, after.id, *diff_rows(before, after))
        self._ids[origin] = after.id
        self.taken.add(name)

    def find(self, source_id: str) -> str:
        """Return the id that a source of the run in force has in the draft, which takes it over if it has it not."""
        origin = self.theirs.origins[source_id]
        if origin not in self._ids:
            self.put(name_source(origin), self.theirs.sources[origin])
        return self._ids[origin]

    def cite(self, fact: InputRow | PcivConstraintV1) -> None:
        """Give a fact of the draft the sources that it has in the run in force; the caller writes a constraint."""
        if isinstance(fact, PcivConstraintV1):
            limit = self.theirs.rows[name_constraint(fact.key)]
            if isinstance(limit, PcivConstraintV1) and limit.source_id:
                fact.source_id = self.find(limit.source_id)
        elif isinstance(row := self.theirs.rows[fact.pointer], PcivInputV1):
            Inputs(self.tx, self.draft_id, [fact.pointer]).link(fact.id, set(map(self.find, row.source_ids)))


class Merge:
    """A draft, its base and the run in force, compared; and what the draft takes over."""

    def __init__(self, tx: Transaction, draft_id: str, *, base_id: str | None, in_force_id: str | None) -> None:
        self.tx = tx
        self.draft_id = draft_id
        self.base = load_run_rows(tx, base_id)
        self.theirs = load_run_rows(tx, in_force_id)
        self.mine = load_run_rows(tx, draft_id)
        self.taken: set[str] = set()  # names of the rows that become those of the run in force
        self.conflicts: list[str] = []  # names of the rows that both sides changed differently
        self.sources = SourceCopies(tx, draft_id, self.mine, self.theirs)
        for name in sorted({*self.base.rows, *self.theirs.rows, *self.mine.rows}):
            self._compare(name)

    def _compare(self, name: str) -> None:
        """Note whether a row is taken over, or in conflict. That a person set a value counts as a change of it."""
        base, theirs, mine = (
            (side.encode_content(name), side.is_set_by_person(name)) for side in (self.base, self.theirs, self.mine)
        )
        (their_content, is_theirs_a_persons), (my_content, is_mine_a_persons) = theirs, mine
        if their_content == my_content:
            if is_theirs_a_persons and not is_mine_a_persons:
                self.taken.add(name)
        elif theirs != base and mine == base:
            self.taken.add(name)
        elif theirs != base:
            self.conflicts.append(name)

    def settle(self, choices: Mapping[str, MergeSide]) -> None:
        """Settle conflicts as the request says; a constraint may be named by its key alone."""
        for given, choice in choices.items():
            name = given if given in self.conflicts else name_constraint(given)
            if name not in self.conflicts:
                raise no_conflict(given)
            self.conflicts.remove(name)
            if choice is MergeSide.THEIRS:
                self.taken.add(name)

    def describe_conflict(self, name: str) -> dict[str, Any]:
        """Return the values of a conflict on all sides, and the side without such a row or the fields that differ."""
        described: dict[str, Any] = {"pointer": name}
        for side, rows in (("base", self.base), ("theirs", self.theirs), ("mine", self.mine)):
            described[side] = _get_shown_value(rows, name)
        theirs, mine = self.theirs.get_content(name), self.mine.get_content(name)
        if theirs is None or mine is None:
            return {**described, "removed": MergeSide.THEIRS if theirs is None else MergeSide.MINE}
        names = {field.name: field.encode_name for field in structs.fields(self.mine.rows[name])}
        differing = ("value" if field in COLUMNS else names[field] for field in mine if mine[field] != theirs[field])
        return {**described, "fields": list(dict.fromkeys(differing))}

    def apply(self) -> list[str]:
        """Write the taken rows into the draft, and return their names."""
        names = sorted(self.taken)
        for name in names:  # first, because facts cite them
            if isinstance(source := self.theirs.rows.get(name), PcivSourceV1):
                self.sources.put(name, source)
        for name in names:
            match self.theirs.rows.get(name):
                case PcivInputV1() as row:
                    self._put_input(name, row)
                case PcivConstraintV1() as row:
                    self._put_constraint(name, row)
                case PcivArtifactV1() as row:
                    self._put_artifact(name, row)
                case None:
                    self._delete(self.mine.rows[name])
        self._merge_suggestions()
        for name in names:
            if name not in self.theirs.rows and isinstance(source := self.mine.rows[name], PcivSourceV1):
                self._delete_source(name, source)
        return sorted(self.taken | self.sources.taken)

    def _put_input(self, name: str, theirs: PcivInputV1) -> None:
        mine = self.mine.rows.get(name)
        before = _to_input_row(mine) if isinstance(mine, PcivInputV1) else None
        if before is not None and _needs_new_row(theirs, before):
            delete_input(self.tx, before)
            before = None
        id_ = new_uuid() if before is None else before.id
        after = structs.replace(_to_input_row(theirs), id=id_, run_id=self.draft_id)
        if before is None:
            add_row(self.tx, sql.add_input, after, ())
        else:
            change_row(self.tx, sql.change_input, after)
        if changes := diff_rows(before, after):
            self.tx.record(Op.INPUT_CHANGED if before else Op.INPUT_ADDED, id_, *changes)
        inputs = Inputs(self.tx, self.draft_id, [name])
        cited = {self.sources.find(source_id) for source_id in theirs.source_ids}
        inputs.link(id_, cited)
        inputs.unlink(id_, inputs.sources[id_] - cited)

    def _put_constraint(self, name: str, theirs: PcivConstraintV1) -> None:
        mine = self.mine.rows.get(name)
        before = mine if isinstance(mine, PcivConstraintV1) else None
        if before is not None and _needs_new_row(theirs, before):
            delete_constraint(self.tx, before)
            before = None
        source_id = self.sources.find(theirs.source_id) if theirs.source_id else None
        after = structs.replace(theirs, id=new_uuid(), run_id=self.draft_id, source_id=source_id)
        if before is None:
            add_row(self.tx, sql.add_constraint, after, ())
        else:
            after.id, after.created_at = before.id, before.created_at
            change_row(self.tx, sql.change_constraint, after)
        self.tx.record(Op.CONSTRAINT_CHANGED if before else Op.CONSTRAINT_ADDED, after.id, *diff_rows(before, after))

    def _put_artifact(self, name: str, theirs: PcivArtifactV1) -> None:
        mine = self.mine.rows.get(name)
        before = mine if isinstance(mine, PcivArtifactV1) else None
        if before is None:
            after = structs.replace(
                theirs, id=new_uuid(), run_id=self.draft_id, origin_id=theirs.origin_id or theirs.id
            )
            add_row(self.tx, sql.add_artifact, after, ())
        else:
            after = structs.replace(before, type=theirs.type, title=theirs.title, payload=theirs.payload)
            change_row(self.tx, sql.change_artifact, after)
        self.tx.record(Op.ARTIFACT_CHANGED if before else Op.ARTIFACT_ADDED, after.id, *diff_rows(before, after))

    def _delete(self, mine: Row) -> None:
        match mine:
            case PcivInputV1():
                delete_input(self.tx, _to_input_row(mine))
            case PcivConstraintV1():
                delete_constraint(self.tx, mine)
            case PcivArtifactV1():
                delete_artifact(self.tx, mine)

    def _delete_source(self, name: str, mine: PcivSourceV1) -> None:
        """Delete a source that the run in force no longer has, unless a fact of the draft cites it."""
        place = {"run_id": self.draft_id, "source_id": mine.id}
        if self.tx.all(sql.inputs_citing, **place) or self.tx.all(sql.constraints_citing, **place):
            self.taken.remove(name)
        else:
            delete_source(self.tx, mine)

    def _merge_suggestions(self) -> None:
        """Take over suggestions that were made since the base, and remove those that were decided since."""
        present = load_run_rows(self.tx, self.draft_id)
        waiting: set[tuple[str, str]] = set()  # a writer has one suggestion for a fact
        for key, suggestion in present.suggestions.items():
            if key in self.base.suggestions and key not in self.theirs.suggestions:
                remove_suggestion(self.tx, suggestion)
            else:
                waiting.add((key.name, key.created_by))
        for key, suggestion in self.theirs.suggestions.items():
            fact = present.rows.get(key.name)
            if key in self.base.suggestions or fact is None or (key.name, key.created_by) in waiting:
                continue
            copy = structs.replace(
                suggestion,
                id=new_uuid(),
                run_id=self.draft_id,
                input_id=fact.id if suggestion.input_id else None,
                constraint_id=fact.id if suggestion.constraint_id else None,
                source_ids=sorted(self.sources.find(source_id) for source_id in suggestion.source_ids),
            )
            add_suggestion(self.tx, copy)


def no_conflict(name: str) -> Invalid:
    """Return the refusal to settle what is no conflict."""
    problem = f"names {quote_text(name)}, which is not in conflict; leave it out"
    return invalid_argument(("resolve",), problem, code="no_conflict")


def _get_shown_value(rows: RunRows, name: str) -> Any:
    """Return the value of a fact, or the content of a source or an artifact; None if it has none."""
    row = rows.rows.get(name)
    if isinstance(row, PcivInputV1 | PcivConstraintV1):
        return get_value(row)
    return rows.get_content(name)


def _to_input_row(row: PcivInputV1) -> InputRow:
    """Return an input without its sources."""
    return InputRow(**{field: getattr(row, field) for field in InputRow.__struct_fields__})


def _needs_new_row(theirs: InputRow | PcivConstraintV1, mine: InputRow | PcivConstraintV1) -> bool:
    """Return whether a row replaces a value of higher provenance or of a person, which no update may do."""
    is_lower = theirs.provenance.rank < mine.provenance.rank
    takes_from_person = mine.updated_by is UpdatedBy.USER and theirs.updated_by is not UpdatedBy.USER
    return not get_typed_value(mine).is_unset and (is_lower or takes_from_person)
