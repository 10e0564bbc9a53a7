"""After every step of any run, on either store, the facts equal the oracle's, for every reader.

An ordinary run is short and always the same. GROUNDPLAN_PROOF_STEPS gives a longer one, new each time.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import Any

import msgspec
import pytest
from hypothesis.stateful import invariant

from groundplan.kernel.errors import NotFound
from tests.engines import Engine
from tests.machines.budget import BoundedRun, answer_invariant
from tests.machines.context_driver import ACTORS, ContextDriver, run_machine
from tests.machines.context_oracle import WRITER, Run, definition, keeps_evidence
from tests.machines.context_replay import Replay
from tests.machines.context_rows import COLUMNS, VALUE_COLUMNS, Row

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 120
VALUED = ("pciv_inputs", "pciv_constraints", "pciv_suggestions")


def filled_kinds(row: Row) -> list[str]:
    """Return the kinds of the columns with a value."""
    return [name.removeprefix("value_") for name in VALUE_COLUMNS if row[name] is not None]


class ContextMachine(ContextDriver):
    """Compares all stored rows and answers with the oracle after each step."""

    @invariant()
    def a_value_stands_in_the_column_of_its_kind_and_the_unknown_has_none(self) -> None:
        for name in VALUED:
            for row in self.stored.tables[name]:
                assert filled_kinds(row) in ([], [row["value_kind"]]), row
                assert row["provenance"] != "unknown" or not filled_kinds(row), row

    @invariant()
    def what_is_committed_is_whole_and_backed_and_dated(self) -> None:
        linked = {row["input_id"] for row in self.stored.tables["pciv_input_sources"]}
        committed = {}
        for run in self.stored.tables["pciv_runs"]:
            assert (run["committed_at"] is None) == (run["status"] == "draft")
            assert bool(run["allow_partial"]) == (run["status"] == "partial_committed")
            if run["status"] != "draft":
                committed[run["id"]] = run["status"]
        for row in self.stored.tables["pciv_inputs"]:
            if row["run_id"] in committed:
                assert filled_kinds(row) or not row["required"] or committed[row["run_id"]] == "partial_committed"
                assert row["id"] in linked or row["provenance"] != "source-backed"
        for row in self.stored.tables["pciv_constraints"]:
            if row["run_id"] in committed:
                assert row["source_id"] or row["provenance"] != "source-backed"

    @invariant()
    def a_key_stands_once_in_a_run(self) -> None:
        named = [(row["run_id"], row["key"]) for row in self.stored.tables["pciv_constraints"]]
        assert len(set(named)) == len(named)

    @invariant()
    def what_is_committed_never_changes(self) -> None:
        for n, below in self.frozen.items():
            assert self.stored.below(self.ids.rows[n]) == below

    @answer_invariant()
    def what_is_committed_is_always_shown_alike(self) -> None:
        shown = [n for n in self.committed if n in self.facts.runs]
        for n in shown[self.question_number % len(shown) :][:1] if shown else ():
            assert self.view_bytes(n) == self.committed[n]

    @invariant()
    def the_run_that_was_touched_is_shown_as_it_is(self) -> None:
        if self.touched is None:
            return
        view = self.view(self.touched)
        assert self.without_warnings(view) == self.whole(self.facts.runs[self.touched])
        for part in ("sourcesById", "inputsByPointer", "artifactsByType"):
            assert list(view[part]) == sorted(view[part])

    @answer_invariant()
    def the_run_in_force_is_the_latest_for_everybody(self) -> None:
        user = (None, None, *ACTORS)[self.question_number % (2 + len(ACTORS))]
        asked = {"scopeId": self.names[self.scope]} | ({} if user is None else {"userId": user})
        latest = self.facts.in_force(self.scope, self.ids.rows, user)
        if latest is None:
            with pytest.raises(NotFound) as refused:
                self.call(self.reader, "context.view", **asked)
            assert refused.value.code == "no_context"
        else:
            found = self.sessions[self.reader].call("context.view", **asked)
            assert msgspec.to_builtins(found.displaced or []) == self.displaced(latest)
            assert self.frozen_bytes(found) == self.committed[latest.n]

    @answer_invariant()
    def the_list_has_every_run_newest_first(self) -> None:
        user = (None, *ACTORS)[self.question_number % (1 + len(ACTORS))]
        status = (None, "draft", "committed", "partial_committed")[self.question_number % 4]
        asked = {"scopeId": self.names[self.scope]} | ({} if user is None else {"userId": user})
        asked |= {} if status is None else {"status": status}
        expected = [self.run(one) for one in self.facts.listed(self.scope, self.ids.rows, user, status)]
        assert self.call(self.reader, "context.list", **asked) == {"runs": expected}

    @answer_invariant()
    def whatever_is_gone_or_elsewhere_is_not_found(self) -> None:
        gone = [run for run in self.facts.gone.values() if run.scope == self.scope]
        gone = [*gone[-1:], *[run for run in gone if not run.is_draft][-1:]]
        elsewhere = [run for run in self.facts.runs.values() if run.scope != self.scope][-1:]
        for run in (*gone, *elsewhere):
            with pytest.raises(NotFound) as refused:
                self.call(self.reader, "context.view", scopeId=self.names[self.scope], runId=self.ids.rows[run.n])
            assert refused.value.code == "not_found"
        assert {row["run_id"] for row in self.stored.tables["pciv_deleted_runs"]} == {
            self.ids.rows[n] for n in self.facts.gone
        }

    @answer_invariant()
    def two_runs_are_told_apart_by_what_is_different(self) -> None:
        runs = self.facts.of(self.scope)
        if not runs:
            return
        old, new = runs[self.question_number % len(runs)], runs[-1]
        told = self.call(self.reader, "context.diff", **{"from": self.ids.rows[old.n], "to": self.ids.rows[new.n]})
        assert told["inputs"] == [
            {
                "pointer": pointer,
                "change": first,
                **({"also": others} if others else {}),
                **self.state("before", old, pointer),
                **self.state("after", new, pointer),
                **self.redefined(old, new, pointer),
            }
            for pointer, (first, *others) in self.facts.compared(old, new).items()
        ]
        addresses = [{(one.kind, one.uri): one for one in run.sources.values()} for run in (old, new)]
        assert {(one["uri"], one["change"]) for one in told["sources"] if one["change"] != "changed"} == {
            *((uri, "removed") for kind, uri in addresses[0].keys() - addresses[1].keys()),
            *((uri, "added") for kind, uri in addresses[1].keys() - addresses[0].keys()),
        }

    def state(self, name: str, run: Run, pointer: str) -> dict[str, Any]:
        """Return an input as a comparison shows it, if it exists."""
        one = run.inputs.get(pointer)
        if one is None:
            return {}
        shown = {"valueKind": one.kind, "value": one.value, "provenance": one.provenance}
        return {name: {**shown, "sources": run.addresses(one)}}

    @staticmethod
    def redefined(old: Run, new: Run, pointer: str) -> dict[str, Any]:
        """Return what changed in an input that is in both runs."""
        if pointer not in old.inputs or pointer not in new.inputs:
            return {}
        keeps = keeps_evidence(old.inputs[pointer], new.inputs[pointer])
        before, after = (definition(run.inputs[pointer], evidence=keeps) for run in (old, new))
        fields = [
            {"field": name, "before": before[name], "after": after[name]}
            for name in before
            if before[name] != after[name]
        ]
        return {"fields": fields} if fields else {}

    @invariant()
    def every_suggestion_is_kept_with_what_became_of_it(self) -> None:
        of_drafts_gone = [run.n for run in self.facts.gone.values() if run.is_draft]
        runs = [*self.facts.runs.values(), *(run for run in self.facts.gone.values() if run.n not in of_drafts_gone)]
        expected = {self.ids.rows[n]: one.status for run in runs for n, one in run.suggestions.items()}
        assert {row["id"]: row["status"] for row in self.stored.tables["pciv_suggestions"]} == expected

    @invariant()
    def the_events_rebuild_the_state(self) -> None:
        writers = {name: WRITER[kind] for name, kind in ACTORS.items()}
        replays = [Replay(id_, events, writers) for id_, events in self.stored.events.items()]
        for name, (first, *_, last) in COLUMNS.items():
            rebuilt = [row for replay in replays for row in replay.rows(name)]
            assert sorted(rebuilt, key=itemgetter(first, last)) == self.stored.tables[name], name

    @staticmethod
    def without_warnings(view: dict[str, Any]) -> dict[str, Any]:
        for one in view.get("suggestions", ()):
            one["sourceIds"].sort()  # a copy names them in the order of the run that it is of
        return {name: value for name, value in view.items() if name != "warnings"}


def test_after_any_calls_facts_are_what_their_definitions_say(engine: Engine, run_to_bound: BoundedRun) -> None:
    run_to_bound("context", partial(run_machine, ContextMachine, engine), STEPS)
