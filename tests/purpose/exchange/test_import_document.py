"""Importing a theory as a new draft, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import hypothesis
import msgspec
import pytest

from groundplan.kernel.errors import Conflict, Forbidden, GroundplanError, Invalid, NotFound, RuleViolated
from groundplan.purpose.exchange.document import build_document
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.observing.records import Waiver
from tests.engines import Engine, person
from tests.purpose.client import PurposeClient, add_edge, add_node, failing, op
from tests.purpose.exchange.theory_strategies import any_theory, make_published, make_waiver, tries
from tests.purpose.theories import theory, whole_theory

Document = dict[str, Any]


def document(*lines: str, **given: Any) -> Document:
    """Return a document of a drawn theory, with some parts replaced."""
    parts: Document = msgspec.to_builtins(build_document(make_published(theory(*lines))))
    return parts | given


@pytest.fixture
def make_project(client: PurposeClient) -> Callable[[], PurposeClient]:
    """Create another project without a purpose at each call."""
    numbers = count()

    def made() -> PurposeClient:
        name = f"project {next(numbers)}"
        client.session.call("project.create", name=name)
        project = PurposeClient(client.session, name)
        project.allow("light")
        return project

    return made


def import_document(client: PurposeClient, document: Document, **given: Any) -> Any:
    return client.call("purpose.import", document=document, **given)


def new_keys(answer: Any) -> dict[str, str]:
    """Return the names that got other keys."""
    return {one.name: one.key for one in answer.keys}


def export_json(client: PurposeClient, **given: Any) -> str:
    text: str = client.call("purpose.export", format="json", **given).content
    return text


@pytest.mark.slow
@pytest.mark.proof
def test_a_native_file_comes_back_byte_for_byte(
    client: PurposeClient, make_project: Callable[[], PurposeClient]
) -> None:
    @tries(7)
    @hypothesis.given(any_theory())
    def holds(drawn: Theory) -> None:
        first, second = make_project(), make_project()
        import_document(
            first,
            _make_storable(msgspec.to_builtins(build_document(drawn._replace(waivers=_make_waivers(drawn))))),
        )

        text = export_json(first)
        assert text.count('"code"') == min(len(drawn.content.nodes), 1) + min(len(drawn.content.edges), 1)
        import_document(second, msgspec.json.decode(text))

        assert export_json(second) == text

    holds()


def _make_waivers(drawn: Theory) -> list[Waiver]:
    """Return waivers about a node and about an edge, if there are any, with the texts of the theory."""
    texts = [one.reason for one in drawn.waivers] or ["so be it"]
    nodes, edges = list(drawn.content.nodes)[:1], [str(one.name) for one in drawn.content.edges][:1]
    return [
        make_waiver(code, refs, reason=texts[0], due="2099-12-31")
        for code, refs in (("GA_ORPHANS", nodes), ("GA_ASSUMPTIONS", edges))
        if refs
    ]


def _make_storable(document: Document) -> Document:
    """Return a document that the input gate accepts: no integers beyond the precision of a float."""
    for one in document["indicators"]:
        one |= {name: float(one[name]) for name in ("baseline", "target") if name in one}
    for one in document["nodes"]:
        values = one.get("metadata", {})
        values |= {name: float(value) for name, value in values.items() if type(value) is int}
    return document


def test_what_was_published_comes_back_as_a_draft_of_its_own_project_with_the_same_keys(
    chain_client: PurposeClient,
) -> None:
    chain_client.record(
        waivers=[{"code": "GA_LEAP", "refs": ["OC1"], "reason": "so be it", "owner": "ada", "due": "2030-01-01"}]
    )
    chain_client.publish()
    text = export_json(chain_client)

    answer = import_document(chain_client, msgspec.json.decode(text))

    assert (answer.version.number, answer.version.status, answer.keys) == (2, "DRAFT", [])
    assert [(one.what, one.why, one.count) for one in answer.skipped] == [("waiver", "already in force here", 1)]
    assert export_json(chain_client, version="draft") == text
    assert chain_client.diff(1, 2).nodes.changed == []


def test_waivers_come_with_the_theory_and_count_here(
    client: PurposeClient, make_project: Callable[[], PurposeClient]
) -> None:
    client.draw("well -> water -> health")
    client.record(
        waivers=[
            {"code": "GA_OUTCOME_COVERAGE", "refs": ["OC1"], "reason": "later", "owner": "ben", "due": "2030-01-01"}
        ]
    )
    there = make_project()

    answer = import_document(there, msgspec.json.decode(export_json(client)))

    assert answer.counts.waivers == 1
    assert [(one.code, one.refs, one.owner) for one in there.open().waivers or ()] == [
        ("GA_OUTCOME_COVERAGE", ["OC1"], "ben")
    ]
    assert export_json(there) == export_json(client)


def test_a_waiver_past_its_day_is_left_out_and_counted(make_project: Callable[[], PurposeClient]) -> None:
    old = {"code": "GA_LEAP", "refs": [], "reason": "then", "owner": "ada", "due": "2001-01-01"}

    answer = import_document(make_project(), document("OC1 -> G1", waivers=[old]))

    assert answer.counts.waivers == 0
    assert [(one.what, one.why) for one in answer.skipped] == [("waiver", "expired")]


def test_a_waiver_of_a_document_follows_the_keys_that_its_nodes_get(make_project: Callable[[], PurposeClient]) -> None:
    there = make_project()
    renamed = document("OC1 -> G1")
    renamed["nodes"] = [{**one, "key": f"n-{one['key']}"} for one in renamed["nodes"]]
    renamed["edges"] = [{"source": "n-OC1", "target": "n-G1"}]
    said = {"code": "GA_ASSUMPTIONS", "reason": "so", "owner": "ada", "due": "2030-01-01"}

    import_document(there, {**renamed, "waivers": [{**said, "refs": ["n-OC1->n-G1", "n-OC1"]}]})

    assert [one.refs for one in there.open().waivers or ()] == [["OC1->G1", "OC1"]]


def test_cycles_several_causes_and_edges_that_lead_down_come_in_and_the_gate_names_them(client: PurposeClient) -> None:
    client.discard()

    import_document(client, document("AC1 -> OP1 -> OC1 -> G1", "OC1 -> OC2 -> OC1", "G1 -> AC1", "AC1 -> OC1"))

    named = failing(client.check())
    assert {"GA_CYCLE", "GA_TYPE_CHAIN", "GA_LEAP"} <= named.keys()
    assert named["GA_TYPE_CHAIN"] == ["G1->AC1"]


def test_a_node_without_a_title_comes_in_and_the_gate_says_so(client: PurposeClient) -> None:
    client.discard()

    import_document(client, {"nodes": [{"key": "x", "node_type": "GOAL", "title": " "}]})

    assert failing(client.check())["GA_TITLE"] == ["G1"]
    assert client.nodes()["G1"].title == ""


def test_keys_of_ours_are_kept_and_other_names_get_fresh_ones_behind_them(client: PurposeClient) -> None:
    client.discard()
    nodes = [
        {"key": name, "node_type": node_type, "title": name}
        for name, node_type in (
            ("OC7", "OUTCOME"),
            ("a1b2", "OUTCOME"),
            ("G3", "OUTPUT"),
            ("oc9", "GOAL"),
            ("OC0", "GOAL"),
        )
    ]
    edges = [{"source": "a1b2", "target": "oc9"}, {"source": "OC7", "target": "OC0", "edge_type": "CAUSES"}]
    assumed = [{"key": "why", "source": "OC7", "target": "OC0", "edge_type": "CAUSES", "assumption_text": "It holds"}]
    measured = [{"key": "IN4", "node": "a1b2", "name": "How many"}, {"key": "how", "node": "OC7", "name": "How much"}]

    answer = import_document(client, {"nodes": nodes, "edges": edges, "assumptions": assumed, "indicators": measured})

    assert new_keys(answer) == {"a1b2": "OC8", "oc9": "G4", "OC0": "G5", "why": "AS1", "how": "IN5"}
    assert client.nodes().keys() == {"OC7", "OC8", "G3", "G4", "G5"}
    assert set(client.edges()) == {("OC8", "G4", "CONTRIBUTES_TO"), ("OC7", "G5", "CAUSES")}
    assert [one.key for one in client.edit(add_node("OUTCOME", "next")).created] == ["OC9"]


def test_no_key_that_was_given_before_is_given_to_something_else(client: PurposeClient) -> None:
    client.edit(*(add_node("GOAL", f"goal {number}") for number in range(5)))
    client.discard()

    with pytest.raises(Conflict) as refused:
        import_document(client, {"nodes": [{"key": "G2", "node_type": "GOAL", "title": "another"}]})
    assert refused.value.code == "keys_of_another_theory"
    assert new_keys(import_document(client, {"nodes": [{"key": "x", "node_type": "GOAL", "title": "x"}]})) == {
        "x": "G6"
    }


def test_a_draft_that_was_discarded_comes_back_under_its_own_keys(chain_client: PurposeClient) -> None:
    chain_client.edit(
        op("add_assumption", node="G1", assumption_text="it rains"), op("add_indicator", node="G1", name="days")
    )
    text = export_json(chain_client)
    chain_client.record(measurements=[{"indicator": "IN1", "value": 3, "as_of": "2026-01-01"}])
    chain_client.discard()

    assert import_document(chain_client, msgspec.json.decode(text)).keys == []
    assert export_json(chain_client) == text
    assert chain_client.indicators()["IN1"].latest.value == 3


def test_what_was_observed_of_a_draft_that_is_gone_does_not_pass_to_another_theory(client: PurposeClient) -> None:
    client.draw("well -> water -> health")
    client.edit(
        op("add_assumption", node="G1", assumption_text="it rains"), op("add_indicator", node="G1", name="days")
    )
    client.record(
        measurements=[{"indicator": "IN1", "value": 77, "as_of": "2026-01-01"}],
        reviews=[{"assumption": "AS1", "status": "refuted", "reason": "it did not"}],
    )
    client.discard()
    other = {
        "nodes": [{"key": "n1", "node_type": "GOAL", "title": "Every school has a library"}],
        "assumptions": [{"key": "AS1", "node": "n1", "assumption_text": "Children read"}],
        "indicators": [{"key": "IN1", "node": "n1", "name": "Books lent"}],
    }

    with pytest.raises(Conflict) as refused:
        import_document(client, other)
    assert refused.value.details["keys"] == ["AS1", "IN1"]
    assert new_keys(import_document(client, other, keys="new")) == {"n1": "G2", "AS1": "AS2", "IN1": "IN2"}
    assert client.assumptions()["AS2"].status == "untested"


def test_what_was_observed_never_passes_to_something_of_another_name(client: PurposeClient) -> None:
    client.draw("well -> water -> health")
    client.edit(
        op("add_indicator", node="OC1", name="Litres a day"),
        op("add_indicator", node="OC1", name="Days"),
        op("add_assumption", node="OC1", assumption_text="Pumps last ten years"),
    )
    text = export_json(client)
    client.publish()
    client.record(measurements=[{"indicator": "IN1", "value": 4000, "as_of": "2026-01-01"}])
    edited = msgspec.json.decode(text)
    edited["indicators"][0]["name"] = "Children who died"
    edited["indicators"][1]["name"] = "Weeks"

    with pytest.raises(Conflict) as refused:
        import_document(client, edited)
    assert refused.value.details["keys"] == ["IN1"]
    assert import_document(client, edited, keys="same").renamed == ["IN1", "IN2"]


def test_keys_that_are_called_otherwise_now_are_told(chain_client: PurposeClient) -> None:
    text = export_json(chain_client)
    chain_client.discard()
    edited = msgspec.json.decode(text)
    edited["nodes"][1]["title"] = "Roofs"

    assert import_document(chain_client, edited).renamed == ["OC1"]


def test_many_waivers_about_many_edges_take_no_longer_than_they_are_many(client: PurposeClient) -> None:
    client.discard()
    lines = [f"OP{one} -> OC{other}" for one in range(1, 21) for other in range(1, 21)]
    said = {"code": "GA_ASSUMPTIONS", "reason": "so", "owner": "ada", "due": "2030-01-01"}
    refs = [line.replace(" ", "") for line in lines[-100:]]
    many = document(*lines, waivers=[{**said, "refs": refs, "reason": f"so {number}"} for number in range(20)])

    assert import_document(client, many).counts.waivers == 20


def test_one_name_may_be_that_of_a_node_an_assumption_and_an_indicator(client: PurposeClient) -> None:
    client.discard()

    answer = import_document(
        client,
        {
            "nodes": [{"key": "1", "node_type": "GOAL", "title": "a"}],
            "assumptions": [{"key": "1", "node": "1", "assumption_text": "b"}],
            "indicators": [{"key": "1", "node": "1", "name": "c"}],
        },
    )

    assert [(one.name, one.key) for one in answer.keys] == [("1", "G1"), ("1", "AS1"), ("1", "IN1")]


def test_a_title_with_other_spaces_or_letters_composed_otherwise_is_the_same(client: PurposeClient) -> None:
    client.edit(add_node("GOAL", "caf\u00e9  du port"))
    client.discard()

    assert (
        import_document(client, {"nodes": [{"key": "G1", "node_type": "GOAL", "title": " Cafe\u0301 du port "}]}).keys
        == []
    )


def test_a_waiver_of_a_document_is_never_about_something_else_of_the_project(chain_client: PurposeClient) -> None:
    chain_client.publish()
    said = {"code": "GA_OUTCOME_COVERAGE", "reason": "so", "owner": "ada", "due": "2030-01-01"}
    other = document("OC9 -> G9", waivers=[{**said, "refs": ["OC1"]}])

    with pytest.raises(NotFound) as refused:
        import_document(chain_client, other)

    assert refused.value.details["field"] == "document.waivers[0].refs[0]"
    assert chain_client.open().waivers is msgspec.UNSET


def test_a_file_that_says_no_profile_keeps_that_of_the_version_published_last(client: PurposeClient) -> None:
    client.discard()
    client.allow("light")
    client.draft(profile="light")
    client.draw("well -> water -> health")
    client.publish()
    plain = document("OC5 -> G5")
    del plain["profile"]

    assert import_document(client, plain).version.profile == "light"


def test_a_key_with_a_number_out_of_reach_is_a_name_like_any_other(client: PurposeClient) -> None:
    client.discard()

    answer = import_document(client, {"nodes": [{"key": "G99999999999", "node_type": "GOAL", "title": "far"}]})

    assert new_keys(answer) == {"G99999999999": "G1"}


def test_a_theory_of_another_project_is_not_taken_for_this_one(chain_client: PurposeClient) -> None:
    chain_client.publish()
    other = document("AC1 -> OP1 -> OC1 -> G1")

    with pytest.raises(Conflict) as refused:
        import_document(chain_client, other)
    assert refused.value.code == "keys_of_another_theory"
    assert set(refused.value.details["keys"]) == {"AC1", "OP1", "OC1", "G1"}

    assert new_keys(import_document(chain_client, other, keys="new")) == {
        "AC1": "AC2",
        "OP1": "OP2",
        "OC1": "OC2",
        "G1": "G2",
    }
    chain_client.discard()
    assert new_keys(import_document(chain_client, other, keys="same")) == {}


def test_a_theory_of_which_some_titles_changed_is_still_the_same(chain_client: PurposeClient) -> None:
    chain_client.publish()
    edited = msgspec.json.decode(export_json(chain_client))
    edited["nodes"][0]["title"] = "healthier"
    edited["nodes"][1]["title"] = "WATER"

    import_document(chain_client, edited)

    assert [one.key for one in chain_client.diff(1, 2).nodes.changed] == ["G1", "OC1"]


GOAL = {"key": "G1", "node_type": "GOAL", "title": "a"}
ON = {"key": "AS1", "assumption_text": "x"}
WAIVED = {"code": "GA_LEAP", "refs": [], "reason": "x", "owner": "y", "due": "2030-01-01"}
MISTAKES: list[tuple[Document, type[GroundplanError], str]] = [
    ({"edges": [{"source": "OC1", "target": "OC1"}]}, RuleViolated, "self_edge"),
    ({"edges": [{"source": "OC1", "target": "G1"}] * 2}, Conflict, "duplicate_edge"),
    ({"edges": [{"source": "OC1", "target": "G9"}]}, NotFound, "not_found"),
    ({"nodes": [GOAL] * 2, "edges": []}, Invalid, "duplicate_key"),
    ({"assumptions": [ON]}, Invalid, "invalid_argument"),
    ({"assumptions": [{**ON, "node": "G1", "source": "OC1", "target": "G1"}]}, Invalid, "invalid_argument"),
    ({"assumptions": [{**ON, "source": "G1", "target": "OC1"}]}, NotFound, "not_found"),
    ({"assumptions": [{**ON, "node": "G1", "edge_type": "CAUSES"}]}, Invalid, "invalid_argument"),
    ({"assumptions": [{**ON, "node": "G1", "review_by": "soon"}]}, Invalid, "invalid_date"),
    ({"assumptions": [{**ON, "node": "G1", "assumption_text": " "}]}, Invalid, "invalid_argument"),
    ({"indicators": [{"key": "IN1", "node": "G2", "name": "x"}]}, NotFound, "not_found"),
    ({"waivers": [{**WAIVED, "code": "GA_CYCLES"}]}, Invalid, "invalid_argument"),
    ({"waivers": [{**WAIVED, "refs": ["G8"]}]}, NotFound, "not_found"),
    ({"waivers": [{**WAIVED, "due": "1 March 2031"}]}, Invalid, "invalid_date"),
    ({"waivers": [{**WAIVED, "due": ""}]}, Invalid, "invalid_date"),
    ({"waivers": [{**WAIVED, "code": "NONE", "due": "2001-01-01"}]}, Invalid, "invalid_argument"),
    ({"waivers": [{**WAIVED, "code": "GA_SELF_EDGE"}]}, RuleViolated, "not_waivable"),
    ({"nodes": [{**GOAL, "title": "x" * 501}], "edges": []}, Invalid, "too_long"),
    ({"nodes": [{**GOAL, "metadata": {"a": "x" * 17_000}}], "edges": []}, Invalid, "too_long"),
    ({"format": 2}, Invalid, "invalid_argument"),
    ({"versions": []}, Invalid, "unknown_argument"),
]


def test_a_document_with_a_mistake_is_refused_whole(
    engine: Engine, client: PurposeClient, subtests: pytest.Subtests
) -> None:
    client.discard()
    given_out = engine.as_owner("SELECT * FROM toc_keys")

    for wrong, kind, code in MISTAKES:
        with subtests.test(f"{wrong}"[:200]):
            with pytest.raises(kind) as refused:
                import_document(client, document("OC1 -> G1") | wrong)

            assert refused.value.code == code
            assert client.versions() == []
            assert engine.as_owner("SELECT * FROM toc_keys") == given_out  # not even a key is reserved
    assert new_keys(import_document(client, document("OC1 -> G1"), keys="new")) == {}


def test_a_project_that_has_a_draft_takes_nothing_in(client: PurposeClient) -> None:
    with pytest.raises(Conflict) as refused:
        import_document(client, document("OC1 -> G1"))

    assert refused.value.code == "draft_exists"


def test_an_import_that_is_sent_again_has_no_second_effect(client: PurposeClient) -> None:
    client.discard()

    first = import_document(client, document("OC1 -> G1"), op_id="once")
    again = import_document(client, document("OC1 -> G1"), op_id="once")

    assert again == first


def test_the_profile_of_a_document_is_that_of_the_draft(make_project: Callable[[], PurposeClient]) -> None:
    assert import_document(make_project(), document("OC1 -> G1", profile="strict")).version.profile == "strict"


def test_in_a_draft_that_came_in_new_edges_must_go_up_all_the_same(client: PurposeClient) -> None:
    client.discard()
    import_document(client, document("AC1 -> OP1", "OP1 -> AC1"))

    with pytest.raises(RuleViolated) as refused:
        client.edit(add_node("GOAL", "g", ref="g"), add_edge("g", "OP1"))

    assert refused.value.code == "invalid_direction"


def test_only_an_owner_takes_waivers_in_and_an_editor_may_without(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ben = PurposeClient(engine.session(person("ben")))
    said = {"code": "GA_LEAP", "refs": [], "reason": "x", "owner": "ben", "due": "2099-01-01"}
    waived = document("OC1 -> G1", waivers=[said])

    with pytest.raises(Forbidden):
        import_document(ben, waived)
    assert import_document(ben, {**waived, "waivers": []}).counts.nodes == 2
    PurposeClient(ada).discard()
    assert import_document(PurposeClient(ada), waived).counts.waivers == 1


def test_everything_that_came_in_is_told_by_events(client: PurposeClient, engine: Engine) -> None:
    client.discard()

    import_document(client, msgspec.to_builtins(build_document(make_published(whole_theory()))))

    told = engine.as_owner("SELECT op, subject FROM events WHERE op LIKE 'purpose.%' ORDER BY rev, n")
    assert [tuple(one) for one in told][2:] == [
        ("purpose.draft_created", "v1"),
        *(("purpose.node_added", key) for key in ("G1", "OC1", "OP1", "AC1")),
        *(("purpose.edge_added", name) for name in ("OC1->G1", "OP1->OC1", "AC1->OP1")),
        *(("purpose.assumption_added", key) for key in ("AS1", "AS2")),
        *(("purpose.indicator_added", key) for key in ("IN1", "IN2")),
    ]
