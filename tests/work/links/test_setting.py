"""What work is for: nodes serve purpose nodes and rest on facts, set as lists."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.links import LINKS_MAX
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.engines import person
from tests.errors import error_of
from tests.purpose.client import PurposeClient, op
from tests.work.client import WorkClient
from tests.work.links.conftest import OWNER, SIZE, SLOPE
from tests.work.links.shown import dangling, inherited, last_changes, links


def test_a_plan_says_what_its_nodes_are_for(work: WorkClient) -> None:
    work.plan("d\n  e", each={"d": {"serves": ["OC1", "G1", "OC1"]}, "e": {"rests_on": [SIZE]}})

    assert links(work, "d") == {"serves": ["G1", "OC1"]}
    assert links(work, "e") == {"rests_on": [SIZE]}
    assert last_changes(work, "d")[-1] == ("serves", None, ["G1", "OC1"])


def test_an_update_replaces_the_links_of_a_node_and_an_empty_list_clears_them(work: WorkClient) -> None:
    work.update("a", serves=["OC1"], rests_on=[SIZE, OWNER])
    assert links(work, "a") == {"serves": ["OC1"], "rests_on": [OWNER, SIZE]}

    work.update("a", serves=["OP1", "OC2"])
    assert links(work, "a") == {"serves": ["OC2", "OP1"], "rests_on": [OWNER, SIZE]}
    assert last_changes(work, "a") == [("serves", ["OC1"], ["OC2", "OP1"])]

    work.update("a", serves=[], rests_on=[])
    assert links(work, "a") == {}


def test_a_fact_of_a_draft_and_a_key_of_a_draft_can_be_linked(work: WorkClient) -> None:
    work.update("a", serves=["OC2"], rests_on=[SLOPE])

    assert (links(work, "a"), dangling(work, "a")) == ({"serves": ["OC2"], "rests_on": [SLOPE]}, [])


def test_a_link_is_shown_with_the_title_of_its_target(work: WorkClient) -> None:
    work.update("a", serves=["OC1"], rests_on=[SIZE])
    node = work.node("a")

    assert [(one.to, one.title) for one in (*node.serves, *node.rests_on)] == [("OC1", "water"), (SIZE, SIZE)]


def test_the_title_is_that_of_the_published_version_while_there_is_one(
    work: WorkClient, purpose: PurposeClient
) -> None:
    work.update("a", serves=["OC1", "OC2"])

    purpose.edit(*(op("update_node", node=key, title="as drafted") for key in ("OC1", "OC2")))

    assert [one.title for one in work.node("a").serves] == ["water", "as drafted"]


def test_a_change_of_links_gives_the_node_a_new_revision_and_no_change_gives_none(work: WorkClient) -> None:
    before = work.node("a").rev

    (changed,) = work.update("a", serves=["OC1"]).updated
    (same,) = work.update("a", serves=["OC1"], expected_rev=changed.rev).updated

    assert (changed.rev, same.rev) == (before + 1, before + 1)
    assert work.actions("a") == ["created", "updated"]
    assert error_of(lambda: work.update("a", serves=[], expected_rev=before)).code == "stale_rev"


def test_the_same_op_id_sets_links_once(work: WorkClient) -> None:
    first = work.update("a", serves=["OC1"], op_id="once")
    work.update("a", serves=["G1"])

    assert work.update("a", serves=["OC1"], op_id="once").updated == first.updated
    assert links(work, "a") == {"serves": ["G1"]}


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str, str]] = {
    "an unknown key": ({"serves": ["OC9"]}, NotFound, "unknown_key", "OC9"),
    "a key in lower case": ({"serves": ["oc1"]}, NotFound, "unknown_key", "oc1"),
    "a pointer as a key": ({"serves": [SIZE]}, NotFound, "unknown_key", SIZE),
    "an unknown pointer": ({"rests_on": ["/site/siez"]}, NotFound, "unknown_pointer", "/site/siez"),
    "a key as a pointer": ({"rests_on": ["OC1"]}, NotFound, "unknown_pointer", "OC1"),
    "an assumption": ({"serves": ["AS1"]}, Invalid, "wrong_link_kind", "AS1"),
    "a NUL in disguise": ({"serves": ["OC1%00"]}, NotFound, "unknown_key", "OC1%00"),
}


def test_a_refusal_names_all_that_a_node_cannot_rest_on_and_how_a_fact_is_named(work: WorkClient) -> None:
    facts = error_of(lambda: work.update("a", rests_on=["AS1", SIZE, "budget"]))
    keys = error_of(lambda: work.update("a", serves=["OC8", "G1", "OC9"]))

    assert facts.details["refs"] == ["AS1", "budget"]
    assert "'AS1' or 'budget'" in str(facts)
    assert "its pointer, such as /site/size" in str(facts)
    assert keys.details["refs"] == ["OC8", "OC9"]


@pytest.mark.parametrize("wrong", REFUSED)
def test_a_link_that_leads_nowhere_is_refused_and_nothing_of_its_batch_is_done(work: WorkClient, wrong: str) -> None:
    given, family, code, ref = REFUSED[wrong]
    updates = [{"node_id": "b", "serves": ["G1"]}, {"node_id": "a", **given}]

    planned = error_of(lambda: work.plan("d\ne", each={"d": {"serves": ["G1"]}, "e": given}))
    updated = error_of(lambda: work.updates(*updates))

    for error in (planned, updated):
        assert (isinstance(error, family), error.code, error.details["ref"]) == (True, code, ref)
    (field,) = given
    assert updated.details["field"] == f"updates[1].{field}"
    assert planned.details["field"] == f"nodes[1].{field}"
    assert (links(work, "b"), work.query(text="d")) == ({}, [])


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ({"serves": ["OC9"]}, ["OC2", "OC1"]),
        ({"serves": ["oc1"]}, ["OC1", "OC2", "AC1"]),
        ({"rests_on": ["/site/siez"]}, [SIZE]),
        ({"rests_on": ["/Site/Size/"]}, [SIZE]),
        ({"rests_on": ["/place/owner"]}, [OWNER]),
    ],
)
def test_an_unknown_target_comes_with_what_was_probably_meant(
    work: WorkClient, given: dict[str, Any], near: list[str]
) -> None:
    error = error_of(lambda: work.update("a", **given))

    assert error.details["near"] == near
    assert {step.operation for step in error.next_steps} <= {"purpose.open", "context.view"}


def test_a_key_of_another_project_is_as_unknown_as_any(work: WorkClient) -> None:
    elsewhere = PurposeClient(work.session, "borealis")
    work.call("work.open", project="borealis")
    elsewhere.draft()
    elsewhere.draw("a -> b -> c -> d")
    elsewhere.draw("e -> f -> g -> h")
    elsewhere.draw("i -> j -> k -> l")

    there, nowhere = (
        error_of(lambda: work.update("a", serves=["G3"])),
        error_of(lambda: work.update("a", serves=["G4"])),
    )

    assert (there.code, there.details["near"]) == (nowhere.code, nowhere.details["near"]) == ("unknown_key", ["G1"])


def test_a_project_without_a_purpose_has_no_keys(work: WorkClient) -> None:
    root = work.call("work.open", project="borealis").root.id

    errors = [
        error_of(lambda: work.update(root, serves=["G1"])),
        error_of(lambda: work.update(root, rests_on=[SIZE])),
    ]

    assert [(error.code, error.details.get("near")) for error in errors] == [
        ("unknown_key", None),
        ("unknown_pointer", None),
    ]


def test_a_node_has_at_most_500_links_of_a_type_and_the_refusal_says_so(work: WorkClient) -> None:
    error = error_of(lambda: work.update("a", serves=[f"OC{n}" for n in range(LINKS_MAX + 1)]))

    assert (isinstance(error, Invalid), str(LINKS_MAX) in error.message) == (True, True)


def test_a_node_can_serve_500_outcomes(work: WorkClient, purpose: PurposeClient) -> None:
    nodes = [op("add_node", node_type="OUTCOME", title=f"outcome {n}") for n in range(LINKS_MAX)]
    made = [one.key for part in range(0, LINKS_MAX, 50) for one in purpose.edit(*nodes[part : part + 50]).created]

    work.update("a", serves=made)

    assert links(work, "a") == {"serves": sorted(made)}
    (rejected,) = work.call("work.connect", edges=[{"from": work["a"], "to": "G1", "type": "serves"}]).rejected
    assert rejected.reason == "too_many_links"


def test_links_are_inherited_down_the_tree_until_a_node_has_its_own_of_the_type(work: WorkClient) -> None:
    work.update("root", serves=["G1"])
    work.update("phase", serves=["OC1"], rests_on=[SIZE])
    work.update("b", serves=["OP1"])

    assert inherited(work, "a") == {"serves": [("OC1", "phase")], "rests_on": [(SIZE, "phase")]}
    assert (links(work, "b"), inherited(work, "b")) == ({"serves": ["OP1"]}, {"rests_on": [(SIZE, "phase")]})
    assert inherited(work, "c") == {"serves": [("G1", "root")]}


def test_a_moved_node_keeps_its_own_links_and_inherits_from_its_new_ancestors(work: WorkClient) -> None:
    work.update("phase", serves=["OC1"])
    work.update("a", rests_on=[SIZE])
    work.update("c", serves=["G1"])

    work.move("a", under="c")

    assert (links(work, "a"), inherited(work, "a")) == ({"rests_on": [SIZE]}, {"serves": [("G1", "c")]})


def test_a_dropped_node_keeps_its_links(work: WorkClient) -> None:
    work.update("a", serves=["OC1"])

    work.drop("a")

    assert links(work, "a") == {"serves": ["OC1"]}


def test_a_link_outlives_the_version_that_loses_its_key_and_is_shown_as_dangling(
    work: WorkClient, purpose: PurposeClient
) -> None:
    work.update("a", serves=["OC1", "OC2"])
    assert dangling(work, "a") == []

    purpose.discard()
    assert (dangling(work, "a"), links(work, "a")) == (["OC2"], {"serves": ["OC1", "OC2"]})

    work.update("a", serves=["OC1", "OC2", "G1"])  # what is gone may be sent back
    assert dangling(work, "a") == ["OC2"]
    assert error_of(lambda: work.update("b", serves=["OC2"])).code == "unknown_key"


def test_a_node_without_links_is_shown_without_their_fields(work: WorkClient) -> None:
    work.update("a", serves=["OC1"])
    node = work.node("c")

    assert {node.serves, node.rests_on, node.supports, node.refutes} == {UNSET}


def test_what_serves_is_offered_by_next_exactly_as_before(work: WorkClient) -> None:
    before = work.offers(count=1)
    work.update("c", serves=["OC1"])
    work.update("c", serves=[])

    assert [one.node.serves for one in work.offers(count=1)] == [UNSET]
    assert [one.node.id for one in work.offers(count=1)] == [one.node.id for one in before]


def test_a_viewer_reads_links_and_does_not_set_them(work: WorkClient) -> None:
    work.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    work.update("a", serves=["OC1"])
    cleo = work.by(person("cleo"))

    assert links(cleo, "a") == {"serves": ["OC1"]}
    assert error_of(lambda: cleo.update("a", serves=[])).code == "forbidden"


def test_many_links_stay_within_the_cap_of_an_answer_and_are_counted(work: WorkClient, purpose: PurposeClient) -> None:
    nodes = [op("add_node", node_type="OUTCOME", title=f"outcome {n} " + "x" * 80) for n in range(100)]
    made = [one.key for part in range(0, 100, 50) for one in purpose.edit(*nodes[part : part + 50]).created]
    work.update("c", serves=made)
    capped = Session(work.session.store, work.session.actor, preferences=Preferences(answer_tokens_max=1_000))

    graph = capped.call("work.context", node_id=work["c"])
    container = capped.call("container.get", containerType="task", id=work["c"])

    assert 0 < len(graph.node.serves) < 100
    assert graph.left_out["node.serves"] == 100 - len(graph.node.serves)
    assert 0 < len(container.task.serves) < 100
    assert container.task.left_out["serves"] == 100 - len(container.task.serves)
    assert len(msgspec.json.encode(graph)) <= 4_000
    assert len(msgspec.json.encode(container)) <= 4_000
