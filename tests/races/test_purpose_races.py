"""Many actors at one theory of change at once: published versions are final, and every rule holds.

GROUNDPLAN_PROOF_STEPS gives more rounds.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import partial
from graphlib import TopologicalSorter
from itertools import cycle, islice
from typing import Any

import pytest

from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.model import Content, compute_content_hash
from groundplan.purpose.versions.versions import NoDraft
from groundplan.session import Session
from tests.engines import Engine
from tests.proof import rounds
from tests.races.concurrent_calls import outcome_codes, run_together

pytestmark = [pytest.mark.proof, pytest.mark.slow]

ROUNDS = rounds(3)
RINGS = (2, 3, 4, 5, 8)
ADA = local_actor("ada")
VERSIONS = "SELECT id, version_number, status, content_hash, published_rev, context_run_id FROM toc_versions"

Op = dict[str, Any]

# A theory that passes gate A, with a row of each kind.
THEORY: list[Op] = [
    {"op": "add_node", "ref": "goal", "node_type": "GOAL", "title": "No boat is lost"},
    {"op": "add_node", "ref": "outcome", "node_type": "OUTCOME", "title": "Skippers stay in port"},
    {"op": "add_node", "ref": "output", "node_type": "OUTPUT", "title": "A forecast every hour"},
    {"op": "add_edge", "source": "outcome", "target": "goal"},
    {"op": "add_edge", "source": "output", "target": "outcome"},
    {"op": "add_assumption", "node": "outcome", "assumption_text": "They look at it"},
    {"op": "add_indicator", "node": "goal", "name": "Boats lost"},
]
# Edits that mark every table below a version, by actor; none of them fails the gate.
MARKS: dict[str, list[Op]] = {
    "ben": [{"op": "add_node", "node_type": "GOAL", "title": "ben"}],
    "cleo": [{"op": "update_node", "node": "OC1", "owner": "cleo"}],
    "dan": [
        {"op": "add_assumption", "source": "OC1", "target": "G1", "assumption_text": "dan"},
        {"op": "update_edge", "source": "OC1", "target": "G1", "mechanism": "dan"},
    ],
    "eve": [{"op": "add_indicator", "node": "G1", "name": "eve"}, {"op": "remove_assumption", "assumption": "AS1"}],
}
# The same as a document with a key far ahead and a foreign name.
DOCUMENT: dict[str, Any] = {
    "nodes": [
        {"key": "G1", "node_type": "GOAL", "title": "No boat is lost"},
        {"key": "OC40", "node_type": "OUTCOME", "title": "Skippers stay in port"},
        {"key": "forecast", "node_type": "OUTPUT", "title": "A forecast every hour"},
    ],
    "edges": [{"source": "OC40", "target": "G1"}, {"source": "forecast", "target": "OC40"}],
    "assumptions": [{"key": "AS1", "node": "OC40", "assumption_text": "They look at it"}],
    "indicators": [{"key": "IN1", "node": "G1", "name": "Boats lost"}],
}
# Edits that fail the gate.
BREAKING: list[Op] = [
    {"op": "add_node", "node_type": "OUTCOME", "title": "Leads nowhere"},
    {"op": "remove_edge", "source": "OC1", "target": "G1"},
    {"op": "remove_node", "node": "G1"},
    {"op": "update_assumption", "assumption": "AS1", "risk_level": "HIGH"},
]


class PurposeActors:
    """Persons at one project after another, each with its own store."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.project = ""
        self._at: dict[str, Session] = {}
        self._projects = 0

    def __getitem__(self, name: str) -> Session:
        if name not in self._at:
            self._at[name] = Session(self.engine.another_store(), local_actor(name))
        return self._at[name]

    def begin(self, *operations: Op, publish: bool = False) -> None:
        """Create a project with a draft of these operations, or with them as its first version."""
        self._projects += 1
        self.project = f"atlas {self._projects}"
        self["ada"].call("project.create", name=self.project)
        self.purpose("ada", "draft")
        if operations:
            self.edit("ada", *operations)
        if publish:
            self.purpose("ada", "publish")

    def purpose(self, name: str, verb: str, **given: Any) -> Any:
        return self[name].call(f"purpose.{verb}", project=self.project, **given)

    def edit(self, name: str, *operations: Op, **given: Any) -> Any:
        return self.purpose(name, "edit", operations=list(operations), **given)

    def import_document(self, name: str) -> Any:
        """Import the document, signed by the importer."""
        nodes = [{**one, "owner": name} for one in DOCUMENT["nodes"]]
        return self.purpose(name, "import", document={**DOCUMENT, "nodes": nodes})

    def importer_of(self, number: int) -> set[str | None]:
        """Return who imported the nodes of a version; an imported version has its whole document."""
        content = self.content(self.versions()[number][0])
        signed = {node.owner for node in content.nodes.values()}
        if signed != {None}:
            counts = [len(content.nodes), len(content.edges), len(content.assumptions), len(content.indicators)]
            assert counts == [len(DOCUMENT[part]) for part in ("nodes", "edges", "assumptions", "indicators")]
        return signed

    def versions(self) -> dict[int, tuple[Any, ...]]:
        """Return id, status, hash, publishing revision and run by number; assert that published content is final."""
        rows = self.engine.as_owner(
            f"{VERSIONS} WHERE project_id = (SELECT id FROM projects WHERE name = '{self.project}') ORDER BY 2"
        )
        for id_, _, status, hashed, *_ in rows:
            assert status == "DRAFT" or compute_content_hash(self.content(id_)) == hashed
        return {number: (id_, *others) for id_, number, *others in rows}

    def content(self, version_id: str) -> Content:
        def read(tx: Transaction) -> Content:
            return read_content(tx, version_id)

        return self.engine.store.read(ADA, read)

    def marks(self, number: int) -> set[str]:
        """Return who left a whole mark in a version; half a mark is an error."""
        content = self.content(self.versions()[number][0])
        texts = {one.assumption_text for one in content.assumptions.values()}
        halves = {
            "ben": {any(node.title == "ben" for node in content.nodes.values())},
            "cleo": {content.nodes["OC1"].owner == "cleo"},
            "dan": {"dan" in texts, any(edge.mechanism == "dan" for edge in content.edges)},
            "eve": {any(one.name == "eve" for one in content.indicators.values()), "AS1" not in content.assumptions},
        }
        assert all(len(one) == 1 for one in halves.values()), halves
        return {name for name, (is_there,) in halves.items() if is_there}


@pytest.fixture
def people(engine: Engine) -> PurposeActors:
    return PurposeActors(engine)


# --- Publishing ---


def test_a_published_version_holds_the_edits_that_were_answered_with_its_number_and_no_others(
    people: PurposeActors,
) -> None:
    """The draft is published and the next one begun during edits: each edit is in one of them, or in none."""

    def publish_and_go_on() -> Any:
        published = people.purpose("ada", "publish")
        people.purpose("ada", "draft")
        return published

    for _ in range(2 * ROUNDS):
        people.begin(*THEORY)

        published, *edits = run_together(
            publish_and_go_on, *(partial(people.edit, name, *operations) for name, operations in MARKS.items())
        )

        assert outcome_codes([published]) == ["ok"]
        assert set(outcome_codes(edits)) <= {"ok", "no_draft"}
        answered = {name: one.version for name, one in zip(MARKS, edits, strict=True) if outcome_codes([one]) == ["ok"]}
        assert set(answered.values()) <= {1, 2}
        assert people.marks(1) == {name for name, number in answered.items() if number == 1}
        assert people.marks(2) == answered.keys()
        versions = people.versions()
        assert versions[1][2] == published.version.content_hash == published.gates[0].content_hash
        assert [status for _, status, *_ in versions.values()] == ["PUBLISHED", "DRAFT"]


def test_a_draft_is_published_once(people: PurposeActors) -> None:
    for _ in range(ROUNDS):
        people.begin(*THEORY)

        answers = run_together(*(partial(people.purpose, name, "publish") for name in ("ada", "ben", "cleo")))

        assert sorted(outcome_codes(answers)) == ["no_draft", "no_draft", "ok"]
        assert people.versions().keys() == {1}


def test_no_version_is_published_that_does_not_pass_its_gate(people: PurposeActors) -> None:
    for breaking in islice(cycle(BREAKING), max(ROUNDS, len(BREAKING))):
        people.begin(*THEORY)

        broken, published = run_together(
            partial(people.edit, "ben", breaking), partial(people.purpose, "ada", "publish")
        )

        assert outcome_codes([broken, published]) in (["ok", "gate_failed"], ["no_draft", "ok"])
        assert people.purpose("cleo", "check", gate="A", version=1).passed == (outcome_codes([published]) == ["ok"])
        people.versions()


def test_what_is_observed_while_a_version_is_published_is_known_to_it_or_comes_after_it(people: PurposeActors) -> None:
    review = {"assumption": "AS1", "status": "refuted", "reason": "Nobody looks"}
    for _ in range(ROUNDS):
        people.begin(*THEORY)

        reviewed, published = run_together(
            partial(people.purpose, "ben", "record", reviews=[review]), partial(people.purpose, "ada", "publish")
        )

        assert outcome_codes([reviewed]) == ["ok"]
        ((rev,),) = people.engine.as_owner("SELECT max(rev) FROM toc_assumption_reviews")
        (_, status, _, published_rev, _) = people.versions()[1]
        assert outcome_codes([published]) == (["ok"] if status == "PUBLISHED" else ["gate_failed"])
        assert published_rev is None or published_rev < rev
        assert people.purpose("cleo", "check", gate="A", version=1).passed == (status == "PUBLISHED")


def test_a_version_is_published_as_its_publisher_saw_it(people: PurposeActors) -> None:
    for _ in range(ROUNDS):
        people.begin(*THEORY)

        edited, published = run_together(
            partial(people.edit, "ben", *MARKS["ben"]), partial(people.purpose, "ada", "publish", expected_rev=2)
        )

        assert outcome_codes([edited, published]) in (["ok", "stale_rev"], ["no_draft", "ok"])
        assert people.marks(1) == ({"ben"} if outcome_codes([edited]) == ["ok"] else set())


def test_facts_that_a_version_stands_on_are_not_taken_away_while_it_is_published(people: PurposeActors) -> None:
    for number in range(ROUNDS):
        people.begin(*THEORY)
        earlier, latest = (_committed(people) for _ in range(2))

        published, deleted = run_together(
            partial(people.purpose, "ada", "publish"), partial(people["ben"].call, "context.delete", runId=latest)
        )

        bound = people.versions()[1][4]
        assert outcome_codes([published]) == ["ok"]
        assert (outcome_codes([deleted]), bound) in ((["run_bound"], latest), (["ok"], earlier)), number
        assert published.version.context_run == bound
        gone = f"SELECT 1 FROM pciv_deleted_runs WHERE run_id = '{bound}'"
        assert people.engine.as_owner(gone) == []


def _committed(people: PurposeActors) -> str:
    run_id: str = people["ada"].call("context.create_draft", scopeId=people.project).run.id
    people["ada"].call("context.commit", runId=run_id)
    return run_id


# --- Drafts and numbers ---


def test_of_all_who_begin_a_draft_one_does(people: PurposeActors) -> None:
    for number in range(ROUNDS):
        people.begin(*THEORY, publish=True)
        if number % 2:  # there is no version
            people.project = f"empty {number}"
            people["ada"].call("project.create", name=people.project)

        answers = run_together(*(partial(people.purpose, name, "draft") for name in ("ada", "ben", "cleo", "dan")))

        assert sorted(outcome_codes(answers)) == ["draft_exists"] * 3 + ["ok"]
        assert [status for _, status, *_ in people.versions().values()].count("DRAFT") == 1


def test_of_all_who_take_a_theory_in_or_begin_a_draft_one_does_and_it_is_whole(people: PurposeActors) -> None:
    for number in range(ROUNDS):
        people.begin(*THEORY, publish=True)
        bringing = ("ada", "ben", "cleo") if number % 2 else ("ada", "ben")

        answers = run_together(
            *(partial(people.import_document, name) for name in bringing), partial(people.purpose, "dan", "draft")
        )

        assert sorted(outcome_codes(answers)) == ["draft_exists"] * len(bringing) + ["ok"]
        (winner,) = (name for name, code in zip((*bringing, None), outcome_codes(answers), strict=True) if code == "ok")
        assert people.importer_of(2) == {winner}
        assert [status for _, status, *_ in people.versions().values()] == ["PUBLISHED", "DRAFT"]


def test_a_theory_comes_in_behind_a_version_that_is_published_or_not_at_all(people: PurposeActors) -> None:
    for _ in range(ROUNDS):
        people.begin(*THEORY)

        taken, published = run_together(
            partial(people.import_document, "ben"), partial(people.purpose, "ada", "publish")
        )

        assert outcome_codes([published]) == ["ok"]
        assert people.importer_of(1) == {None}
        if outcome_codes([taken]) == ["ok"]:
            assert taken.version.number == 2
            assert people.importer_of(2) == {"ben"}
        else:
            assert outcome_codes([taken]) == ["draft_exists"]
            assert people.versions().keys() == {1}


def test_edits_are_of_a_theory_that_came_in_or_of_none_and_their_keys_are_behind_its_own(people: PurposeActors) -> None:
    outcome = {"op": "add_node", "node_type": "OUTCOME", "title": "Nets are mended"}
    for _ in range(ROUNDS):
        people.begin(*THEORY, publish=True)

        taken, *edits = run_together(
            partial(people.import_document, "ada"),
            *(partial(people.edit, name, outcome) for name in ("ben", "cleo", "dan")),
        )

        assert outcome_codes([taken]) == ["ok"]
        assert [(one.name, one.key) for one in taken.keys] == [("forecast", "OP2")]
        assert set(outcome_codes(edits)) <= {"ok", "no_draft"}
        given = [one.created[0].key for one in edits if outcome_codes([one]) == ["ok"]]
        assert sorted(given) == [f"OC{41 + place}" for place in range(len(given))]


def test_numbers_have_no_gaps_however_versions_come_and_go(people: PurposeActors) -> None:
    ways = {
        "ada": ("draft", "publish", "draft", "publish"),
        "ben": ("discard", "draft", "discard", "draft"),
        "cleo": ("publish", "draft", "publish", "discard"),
        "dan": ("draft", "discard", "publish", "draft"),
    }

    def go(name: str) -> list[Any]:
        """Return the results of one after the other."""
        ended: list[Any] = []
        for turn, verb in enumerate(ways[name]):
            if verb == "publish":  # only what has changed is published
                with suppress(NoDraft):
                    people.edit(name, {"op": "update_node", "node": "G1", "title": f"{name} in turn {turn}"})
            try:
                ended.append(people.purpose(name, verb))
            except GroundplanError as refused:
                ended.append(refused)
        return ended

    for _ in range(ROUNDS):
        people.begin(*THEORY, publish=True)

        answers = run_together(*(partial(go, name) for name in ways))

        for one in answers:
            assert not isinstance(one, Exception), one
            # Between an edit and its publication others may publish it, and begin the next draft.
            assert set(outcome_codes(one)) <= {"ok", "no_draft", "draft_exists", "nothing_changed"}
        versions = people.versions()
        assert list(versions) == list(range(1, len(versions) + 1))
        assert [status for _, status, *_ in versions.values()][:-1] == ["PUBLISHED"] * (len(versions) - 1)
        done = Counter(
            verb
            for name, one in zip(ways, answers, strict=True)
            for verb, code in zip(ways[name], outcome_codes(one), strict=True)
            if code == "ok"
        )
        assert len(versions) == 1 + done["draft"] - done["discard"]


def test_no_key_is_given_twice_even_when_its_draft_is_discarded(people: PurposeActors) -> None:
    people.begin(*THEORY, publish=True)
    given: list[str] = ["G1"]

    def begin_again() -> None:
        people.purpose("ada", "discard")
        people.purpose("ada", "draft")

    people.purpose("ada", "draft")
    for _ in range(ROUNDS):
        again, *edits = run_together(
            begin_again, *(partial(people.edit, name, *MARKS["ben"], *MARKS["ben"]) for name in ("ben", "cleo", "dan"))
        )

        assert outcome_codes([again]) == ["ok"]
        assert set(outcome_codes(edits)) <= {"ok", "no_draft"}
        given += [made.key for one in edits if outcome_codes([one]) == ["ok"] for made in one.created]
    assert len(set(given)) == len(given)


def test_of_edits_from_one_revision_one_wins(people: PurposeActors) -> None:
    people.begin(*THEORY)
    for rev in range(2, ROUNDS + 2):
        title = [{"op": "update_node", "node": "G1", "title": f"at {rev}"}]
        answers = run_together(
            *(partial(people.edit, name, *title, *MARKS["ben"], expected_rev=rev) for name in ("ben", "cleo", "dan"))
        )

        assert sorted(outcome_codes(answers)) == ["ok", "stale_rev", "stale_rev"]
        assert {one.details["current"] for one in answers if isinstance(one, GroundplanError)} == {rev + 1}


# --- The graph ---


@pytest.mark.parametrize("size", RINGS)
def test_edges_that_are_drawn_at_once_close_no_ring(people: PurposeActors, size: int) -> None:
    """Each actor draws one edge of a ring, or turns a feedback edge into a cause: the last one is refused."""
    hands = [f"hand {n}" for n in range(size)]
    nodes: list[Op] = [{"op": "add_node", "ref": f"n{n}", "node_type": "OUTCOME", "title": f"{n}"} for n in range(size)]
    for number in range(2 * ROUNDS // len(RINGS)):
        people.begin(*nodes)
        keys = [f"OC{n + 1}" for n in range(size)]
        ends = [{"source": source, "target": target} for source, target in zip(keys, keys[1:] + keys[:1], strict=True)]
        edits: list[Op] = [{"op": "add_edge", **one} for one in ends]
        if number % 2:
            people.edit("ada", *({"op": "add_edge", "edge_type": "FEEDBACK", **one} for one in ends))
            edits = [{"op": "update_edge", "new_edge_type": "CAUSES", **one} for one in ends]

        answers = run_together(*(partial(people.edit, hand, one) for hand, one in zip(hands, edits, strict=True)))

        assert sorted(outcome_codes(answers)) == ["dependency_cycle"] + ["ok"] * (size - 1)
        (refused,) = (one for one in answers if isinstance(one, GroundplanError))
        path = refused.details["path"]
        assert path[0] == path[-1]
        assert sorted(path[1:]) == sorted(keys)
        drawn = [edge for edge in people.content(people.versions()[1][0]).edges if edge.edge_type != "FEEDBACK"]
        assert len(drawn) == size - 1
        waits = TopologicalSorter[str]()
        for edge in drawn:
            waits.add(edge.target, edge.source)
        waits.prepare()  # raises if there is a cycle


def test_an_edge_and_the_types_of_its_ends_agree_whoever_came_first(people: PurposeActors) -> None:
    for _ in range(ROUNDS):
        people.begin(*THEORY, {"op": "add_node", "node_type": "OUTCOME", "title": "Somewhere else"})

        drawn, retyped = run_together(
            partial(people.edit, "ben", {"op": "add_edge", "source": "OP1", "target": "OC2"}),
            partial(people.edit, "cleo", {"op": "update_node", "node": "OC2", "node_type": "ACTIVITY"}),
        )

        assert sorted(outcome_codes([drawn, retyped])) == ["invalid_direction", "ok"]


def test_the_same_edge_is_drawn_once(people: PurposeActors) -> None:
    for _ in range(ROUNDS):
        people.begin(*THEORY)
        leap = {"op": "add_edge", "source": "OP1", "target": "G1"}

        answers = run_together(*(partial(people.edit, name, leap) for name in ("ada", "ben", "cleo")))

        assert sorted(outcome_codes(answers)) == ["duplicate_edge", "duplicate_edge", "ok"]


def test_what_is_hung_on_a_node_that_is_taken_away_goes_with_it_or_is_refused(people: PurposeActors) -> None:
    for _ in range(ROUNDS):
        people.begin(*THEORY)

        *hung, removed = run_together(
            partial(people.edit, "ben", {"op": "add_assumption", "node": "OC1", "assumption_text": "It holds"}),
            partial(people.edit, "cleo", {"op": "add_indicator", "node": "OC1", "name": "Boats in port"}),
            partial(people.edit, "dan", {"op": "add_edge", "source": "OC1", "target": "G1", "edge_type": "CAUSES"}),
            partial(people.edit, "ada", {"op": "remove_node", "node": "OC1"}),
        )

        assert outcome_codes([removed]) == ["ok"]
        assert set(outcome_codes(hung)) <= {"ok", "not_found"}
        content = people.content(people.versions()[1][0])
        assert content.nodes.keys() == {"G1", "OP1"}
        assert (content.edges, list(content.assumptions), list(content.indicators)) == ([], [], ["IN1"])
