"""After every step of any run, on either store, the knowledge equals the oracle's, for every reader.

An ordinary run is short and always the same. GROUNDPLAN_PROOF_STEPS gives a longer one, new each time.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest
from hypothesis.stateful import invariant

from groundplan.kernel.errors import NotFound
from groundplan.knowledge.words import build_word_index
from tests.engines import Engine
from tests.machines.budget import BoundedRun, answer_invariant
from tests.machines.knowledge_calls import QUERIES
from tests.machines.knowledge_driver import KnowledgeDriver, run_machine
from tests.machines.knowledge_oracle import FILES, Entity, Kind
from tests.machines.knowledge_replay import Replay

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 120
REPLAY_STEPS = 120


class KnowledgeMachine(KnowledgeDriver):
    """Compares all stored rows and answers with the oracle after each step."""

    @invariant()
    def everything_is_stored_as_it_should_be(self) -> None:
        stamp, ids = self.clock.stamp, self.ids
        for id_, row in self.stored.entities.items():
            assert row.words == build_word_index(row.name, row.knowledge), id_
        assert set(self.stored.entities) == {ids.entities[n] for n in self.library.entities}
        assert self.stored.deleted == {(one.kind, ids.entities[n]) for n, one in self.library.gone.items()}
        everybody = {**self.library.entities, **self.library.gone}
        assert sorted(self.stored.entries) == sorted(
            (ids.entities[n], ids.tasks[entry.task], entry.summary, stamp(entry.at), entry.agent)
            for n, one in everybody.items()
            for entry in one.entries
        )
        assert self.stored.freshness == {
            (ids.entities[n], seen.state, seen.commit, stamp(seen.at), json.dumps(seen.files, separators=(",", ":")))
            for n, one in self.library.entities.items()
            if (seen := one.freshness)
        }
        assert self.stored.knowledge_revs == {
            ids.projects[project]: rev for project, rev in self.library.revisions.items() if rev
        }

    @invariant()
    def a_search_without_a_query_shows_everything_by_name(self) -> None:
        kinds: tuple[Kind, Kind] = ("atom", "molecule")
        for kind in kinds:
            everybody = self.by_name(self.library.of(self.project, kind))
            assert self.found(kind) == [self.shown(one.n) | {"changelog": self.changelog(one)} for one in everybody]
        orphans = [one for one in self.library.of(self.project, "atom") if one.molecule is None]
        assert self.ids_of(self.found("atom", orphansOnly=True)) == self.ids_in_order(orphans)

    @answer_invariant()
    def queries_find_what_has_their_words(self) -> None:
        kinds: tuple[Kind, Kind] = ("atom", "molecule")
        for place, kind in enumerate(kinds):
            query = QUERIES[(self.question_number + place) % len(QUERIES)]
            everybody = self.library.of(self.project, kind)
            begun = [one for one in everybody if self.has_words(one, query)]
            inside = [one for one in everybody if one not in begun and self.has_words(one, query, inside_from=4)]
            expected = [*self.ids_in_order(begun), *self.ids_in_order(inside)]
            assert self.ids_of(self.found(kind, query=query)) == expected, query

    @answer_invariant()
    def context_is_what_the_patterns_mean(self) -> None:
        shown = self.call(self.reader, "knowledge.context", projectId=self.names[self.project], paths=list(FILES))
        atoms = [one for one in self.by_name(self.library.of(self.project, "atom")) if self.library.matched(one)]
        molecules = self.by_name([self.library.entities[n] for n in {one.molecule for one in atoms} if n is not None])
        matched = {file for one in atoms for file in self.library.matched(one)}
        assert shown == {
            "molecules": [
                {
                    "id": self.ids.entities[molecule.n],
                    "name": molecule.name,
                    "version": molecule.version,
                    "updatedBy": molecule.updated_by,
                    "knowledge": self.knowledge(molecule.knowledge),
                    "relatedMolecules": self.relations(molecule),
                    "changelog": self.changelog(molecule),
                    "atoms": [self.matched(one) for one in atoms if one.molecule == molecule.n],
                }
                for molecule in molecules
            ],
            "orphanAtoms": [self.matched(one) for one in atoms if one.molecule is None],
            "unmatchedPaths": [file for file in FILES if file not in matched],
        }

    @answer_invariant()
    def the_list_has_every_atom_in_short(self) -> None:
        listed = self.call(self.reader, "knowledge.list", projectId=self.names[self.project])
        assert listed == {"atoms": [self.in_short(one) for one in self.by_name(self.library.of(self.project, "atom"))]}

    @answer_invariant()
    def whoever_was_touched_can_be_read_and_whoever_is_gone_cannot(self) -> None:
        for n in sorted(self.touched)[:2]:
            one = self.library.entities[n]
            expected: dict[str, Any] = {one.kind: self.shown(n), "changelog": self.changelog(one)}
            if one.kind == "molecule":
                expected["atoms"] = [self.shown(member.n) for member in self.by_name(self.library.members(n))]
            assert self.call(self.reader, "knowledge.get", entityType=one.kind, id=self.ids.entities[n]) == expected
        for n, one in list(self.library.gone.items())[-1:]:
            with pytest.raises(NotFound):
                self.call(self.reader, "knowledge.get", entityType=one.kind, id=self.ids.entities[n])

    # --- How the oracle's facts are shown ---

    def found(self, kind: Kind, **only: Any) -> list[dict[str, Any]]:
        answer = self.call(
            self.reader, "knowledge.search", entityType=kind, projectId=self.names[self.project], limit=100, **only
        )
        assert answer["count"] == len(answer["items"])
        items: list[dict[str, Any]] = answer["items"]
        return items

    def ids_of(self, items: list[dict[str, Any]]) -> list[str]:
        return [one["id"] for one in items]

    def ids_in_order(self, entities: list[Entity]) -> list[str]:
        return [self.ids.entities[one.n] for one in self.by_name(entities)]

    def has_words(self, one: Entity, query: str, *, inside_from: int = 100) -> bool:
        words = re.findall(r"[a-z]+", f"{one.name} {self.knowledge(one.knowledge)}".lower())
        return all(
            any(word.startswith(wanted) or (len(wanted) >= inside_from and wanted in word) for word in words)
            for wanted in query.lower().split()
        )

    def matched(self, one: Entity) -> dict[str, Any]:
        return {
            "id": self.ids.entities[one.n],
            "name": one.name,
            "version": one.version,
            "updatedBy": one.updated_by,
            "knowledge": self.knowledge(one.knowledge),
            "matchedPaths": self.library.matched(one),
            "relatedAtoms": self.relations(one),
            "changelog": self.changelog(one),
            **self.freshness(one),
        }

    def in_short(self, one: Entity) -> dict[str, Any]:
        told: dict[str, Any] = {
            "id": self.ids.entities[one.n],
            "name": one.name,
            "moleculeId": None if one.molecule is None else self.ids.entities[one.molecule],
            "paths": one.paths,
            "version": one.version,
        }
        if one.confirmed:
            commit, at = one.confirmed
            told |= {"confirmed": commit, "confirmedAt": self.clock.stamp(at)}
        return told | self.freshness(one)


class ReplayMachine(KnowledgeDriver):
    """Rebuilds the knowledge of both projects from their events after each step."""

    @invariant()
    def the_events_rebuild_the_state(self) -> None:
        replays = [Replay(events) for events in self.stored.events.values()]
        rebuilt = {id_: asdict(one) for replay in replays for id_, one in replay.entities.items()}
        for one in rebuilt.values():
            del one["entity_type"]
        rows = {id_: row._asdict() for id_, row in self.stored.entities.items()}
        for row in rows.values():
            del row["id"], row["project_id"], row["words"]
        assert rebuilt == rows
        assert set().union(*(replay.deleted for replay in replays)) == self.stored.deleted
        assert sorted(entry for replay in replays for entry in replay.entries) == sorted(self.stored.entries)


def test_after_any_calls_knowledge_is_what_its_definitions_say(engine: Engine, run_to_bound: BoundedRun) -> None:
    run_to_bound("knowledge", partial(run_machine, KnowledgeMachine, engine), STEPS)


def test_the_events_of_any_run_rebuild_the_knowledge(engine: Engine, run_to_bound: BoundedRun) -> None:
    run_to_bound("knowledge replay", partial(run_machine, ReplayMachine, engine), REPLAY_STEPS)
