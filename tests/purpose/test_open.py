"""Opening a theory: complete if small, in short if large, page by page if larger."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan.catalog import OPERATIONS
from groundplan.kernel.answers import ANSWER_TOKENS_MAX, count_tokens, encode
from groundplan.kernel.cursors import InvalidCursor
from groundplan.kernel.errors import Invalid, NotFound, StaleRevision
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.preferences import Preferences
from groundplan.purpose.open import ANSWER_TOKENS_AIM, OpenedPurpose
from groundplan.session import Session
from tests.purpose.client import PurposeClient, add_edge, add_node, op

LONG = "A sentence about it that somebody took the time to write down in full. "


def with_cap(client: PurposeClient, tokens_max: int = ANSWER_TOKENS_MAX) -> PurposeClient:
    """Return the same client with the answer limit of MCP."""
    preferences = Preferences(answer_tokens_max=tokens_max)
    return PurposeClient(Session(client.session.store, client.session.actor, preferences=preferences), client.project)


def add_outcomes(client: PurposeClient, nodes: int, *, text: str | None = None) -> None:
    """Add outcomes to one goal, each with an assumption and an indicator."""
    client.edit(add_node("GOAL", "Health", ref="g", description=text))
    for first in range(0, nodes - 1, 200):
        batch: list[Any] = []
        for number in range(first, min(first + 200, nodes - 1)):
            batch += [
                add_node("OUTCOME", f"Outcome number {number}", ref=f"o{number}", description=text, narrative=text),
                add_edge(f"o{number}", "G1", mechanism=text),
                op("add_assumption", node=f"o{number}", assumption_text="It holds"),
                op("add_indicator", node=f"o{number}", name="How much", method=text),
            ]
        client.edit(*batch)


def pages(client: PurposeClient, **given: Any) -> list[Any]:
    found = [client.open(**given)]
    while found[-1].next_cursor is not UNSET:
        found.append(client.open(**given, cursor=found[-1].next_cursor))
    return found


def node_count(opened: OpenedPurpose) -> int | None:
    return None if opened.version is None else opened.version.number


def test_a_project_without_a_version_says_so(client: PurposeClient) -> None:
    client.discard()

    opened = client.open()

    assert (opened.project, opened.rev, opened.version, opened.versions) == ("atlas", 0, None, [])
    assert (opened.counts.goal, opened.nodes, opened.edges, opened.indicators) == (0, [], [], [])
    assert opened.health.overall is None


def test_the_draft_is_opened_else_the_version_published_last_else_the_one_that_is_named(
    chain_client: PurposeClient,
) -> None:
    chain_client.publish()
    assert node_count(chain_client.open()) == 1
    chain_client.draft()
    chain_client.edit(op("update_node", node="G1", title="welfare"))

    assert (node_count(chain_client.open()), chain_client.nodes()["G1"].title) == (2, "welfare")
    for ref in (1, "published"):
        assert chain_client.nodes(version=ref)["G1"].title == "health"
    assert chain_client.nodes(version="draft")["G1"].title == "welfare"
    chain_client.publish()
    with pytest.raises(NotFound):
        chain_client.open(version="draft")
    with pytest.raises(NotFound):
        chain_client.open(version=9)


def test_a_summary_counts_and_lists_no_content(chain_client: PurposeClient) -> None:
    chain_client.edit(op("add_assumption", node="OC1", assumption_text="a"), op("add_indicator", node="OC1", name="i"))

    opened = chain_client.open(detail="summary")

    assert msgspec.to_builtins(opened.counts) == {
        "goal": 1,
        "outcome": 1,
        "output": 1,
        "activity": 1,
        "edges": 3,
        "assumptions": 1,
        "indicators": 1,
    }
    assert (opened.nodes, opened.edges, opened.indicators) == (UNSET, UNSET, UNSET)
    assert opened.health.bands["indicator_coverage"] == "green"


def test_the_same_content_gives_the_same_bytes(client: PurposeClient) -> None:
    add_outcomes(client, 20)

    assert encode(client.open()) == encode(client.open())


def test_keys_are_in_their_natural_order(client: PurposeClient) -> None:
    add_outcomes(client, 13)

    assert list(client.nodes()) == ["G1", *(f"OC{number}" for number in range(1, 13))]


def test_a_small_theory_is_opened_whole_under_a_cap_too(client: PurposeClient) -> None:
    add_outcomes(client, 5, text="In short.")

    assert encode(with_cap(client).open()) == encode(client.open())


@pytest.mark.parametrize("text", [None, LONG])
def test_thirty_nodes_take_no_more_than_3000_tokens_unless_all_is_asked_for(
    client: PurposeClient, text: str | None
) -> None:
    add_outcomes(client, 30, text=text)
    under_cap = with_cap(client)

    short, full = under_cap.open(), under_cap.open(detail="full")

    assert count_tokens(encode(short)) <= ANSWER_TOKENS_AIM == 3_000 < count_tokens(encode(full))
    assert [node.key for node in short.nodes or ()] == [node.key for node in full.nodes or ()]
    assert [(edge.mechanism, edge.confidence) for edge in short.edges or ()] == [
        (edge.mechanism, edge.confidence) for edge in full.edges or ()
    ]
    assert [one.assumption_text for node in short.nodes or () for one in node.assumptions or ()] == ["It holds"] * 29
    assert short.left_out
    assert short.left_out["nodes.id"] == sum(node.id is UNSET for node in short.nodes or ()) == 30
    assert encode(full) == encode(client.open())


def test_ids_go_first_then_long_descriptions_then_metadata_and_what_is_said_of_causes_stays(
    client: PurposeClient,
) -> None:
    client.edit(add_node("GOAL", "Health", ref="g"))
    for number in range(1, 30):
        client.edit(
            add_node("OUTCOME", f"Outcome number {number}", ref="o", metadata={"place": "north"}),
            op("update_node", node="o", description=("x" if number % 2 else "short ") * (161 if number % 2 else 10)),
            add_edge("o", "G1", mechanism=LONG, confidence="low"),
            op("add_assumption", source="o", target="G1", edge_type="CONTRIBUTES_TO", assumption_text="It holds"),
        )

    short = with_cap(client).open()

    assert count_tokens(encode(short)) <= 3_000
    descriptions = [node.description for node in (short.nodes or ())[1:]]
    assert descriptions == [None if number % 2 else "short " * 10 for number in range(1, 30)]
    assert (short.left_out or {})["nodes.description"] == 15
    assert all((edge.mechanism, edge.confidence) == (LONG, "low") for edge in short.edges or ())
    assert all(edge.assumptions for edge in short.edges or ())


def test_mechanisms_stay_where_they_take_more_than_is_aimed_at(client: PurposeClient) -> None:
    add_outcomes(client, 40, text=LONG * 6)

    short = with_cap(client).open()

    assert ANSWER_TOKENS_AIM < count_tokens(encode(short)) <= ANSWER_TOKENS_MAX
    assert short.next_cursor is UNSET
    assert all(edge.mechanism == LONG * 6 for edge in short.edges or ())
    assert not any(node.description for node in short.nodes or ())


def lean_json(client: PurposeClient, operation: str, /, **given: Any) -> Any:
    arguments = {"project": client.project, **given}
    return msgspec.json.decode(client.session.execute(OPERATIONS[operation], arguments).encoded or b"")


def find_empty(value: Any, path: str = "") -> list[str]:
    """Return the places of null or empty values and of row ids."""
    if isinstance(value, dict):
        found = [f"{path}.{name}" for name, one in value.items() if one in (None, [], {}, "") or name == "id"]
        return found + [place for name, one in value.items() for place in find_empty(one, f"{path}.{name}")]
    return [place for one in value for place in find_empty(one, path)] if isinstance(value, list) else []


def test_lean_answers_have_no_null_empty_or_bookkeeping_fields(
    client: PurposeClient, subtests: pytest.Subtests
) -> None:
    client.discard()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("purpose.open", {}),
        ("purpose.draft", {}),
        ("purpose.edit", {"operations": [add_node("GOAL", "Health", ref="g", metadata={"a": [None]})]}),
        ("purpose.edit", {"operations": [add_node("OUTCOME", "Water", ref="o"), add_edge("o", "G1")]}),
        ("purpose.edit", {"operations": [add_node("OUTPUT", "Wells", ref="w"), add_edge("w", "OC1")]}),
        ("purpose.open", {}),
        ("purpose.check", {}),
        ("purpose.check", {"gate": "health"}),
        ("purpose.check", {"gate": "analysis"}),
        ("purpose.check", {"gate": "compliance", "operation": {"kind": "publish"}}),
        ("purpose.publish", {}),
        ("purpose.draft", {}),
        ("purpose.diff", {"from": 1, "to": "draft"}),
        ("purpose.record", {"decisions": [{"text": "t", "rationale": "r"}]}),
        ("purpose.open", {"detail": "observations"}),
        ("purpose.discard", {}),
        ("purpose.versions", {}),
    ]
    for operation, given in calls:
        with subtests.test(f"{operation} {given}"):
            answer = lean_json(client, operation, lean=True, **given)
            # The id of a decision is its name, by which a later one supersedes it.
            allowed = ("metadata", ".facts", ".decisions.id")
            kept = [place for place in find_empty(answer) if not any(name in place for name in allowed)]
            assert kept == []
    opened = lean_json(client, "purpose.open", lean=True)
    assert [node.get("metadata") for node in opened["nodes"]] == [{"a": [None]}, None, None]
    assert "content_hash" not in opened["version"]


def test_a_session_can_ask_for_lean_answers_and_a_request_say_otherwise(chain_client: PurposeClient) -> None:
    session = Session(chain_client.session.store, chain_client.session.actor, preferences=Preferences(lean=True))
    asked = PurposeClient(session, chain_client.project)

    assert "id" not in lean_json(asked, "purpose.open")["nodes"][0]
    assert asked.open().nodes == chain_client.open().nodes  # in Python the answer is whole
    assert session.execute(OPERATIONS["purpose.open"], {"project": "atlas", "lean": False}).encoded is None


def test_a_lean_gate_lists_the_checks_that_did_not_pass_and_counts_the_others(chain_client: PurposeClient) -> None:
    whole = chain_client.session.call("purpose.check", project=chain_client.project, lean=True)  # in Python

    lean = lean_json(chain_client, "purpose.check", lean=True)

    results = {one.code: one.result for one in whole.checks}
    assert {"passed", "failed", "not_applicable"} == set(results.values())
    assert [one["code"] for one in lean["checks"]] == [code for code, result in results.items() if result == "failed"]
    assert sum(lean["counts"].values()) == len(results)


def test_a_lean_answer_comes_again_with_its_op_id(chain_client: PurposeClient) -> None:
    given = {"decisions": [{"text": "t", "rationale": "r"}], "lean": True, "op_id": "once"}
    edit = {"operations": [add_node("GOAL", "x")], "lean": True, "op_id": "twice"}
    for operation, arguments in (("purpose.record", given), ("purpose.edit", edit)):
        assert lean_json(chain_client, operation, **arguments) == lean_json(chain_client, operation, **arguments)


def test_an_optional_argument_that_is_null_is_not_given(chain_client: PurposeClient, subtests: pytest.Subtests) -> None:
    required = {"operations": [op("update_node", node="G1", title="x")], "from": "draft", "to": "draft"}
    for operation in OPERATIONS:
        if operation.tool is None or operation.tool.group is not Group.PURPOSE:
            continue
        fields = msgspec.structs.fields(operation.input)
        given = {"project": "atlas"} | {
            one.encode_name: required[one.encode_name] for one in fields if one.required and one.name != "project"
        }
        nulls = {one.encode_name: None for one in fields if not one.required}
        with subtests.test(operation.name):
            assert parse_request({**given, **nulls}, operation.input) == parse_request(given, operation.input)
    observed = {
        "measurements": [{"indicator": "IN1", "value": 1, "as_of": "2026-02-01", "source": None, "note": None}],
        "reviews": None,
        "waivers": None,
        "decisions": [{"text": "t", "rationale": "r", "about": None, "outcome": None}],
    }
    chain_client.edit(op("add_indicator", node="OC1", name="i", unit=None, baseline=None))
    assert chain_client.record(**observed).recorded == 2
    proposed = {"kind": "create_node", "node_type": "GOAL", "title": "x", "description": None, "version": None}
    assert chain_client.check("compliance", operation=proposed, version=None, profile=None).status == "APPROVED"


def test_pages_put_together_are_the_whole(client: PurposeClient, subtests: pytest.Subtests) -> None:
    add_outcomes(client, 60, text=LONG * 2)
    whole = client.open()
    for given, cap in (({}, 1_500), ({"detail": "full"}, 6_000)):
        with subtests.test(f"pages of {given}"):
            found = pages(with_cap(client, cap), **given)

            assert len(found) > 2
            assert all(count_tokens(encode(page)) <= cap for page in found)
            assert [node.key for page in found for node in page.nodes] == [node.key for node in whole.nodes or ()]
            assert [(edge.source, edge.target) for page in found for edge in page.edges] == [
                (edge.source, edge.target) for edge in whole.edges or ()
            ]
            assert sum(len(page.indicators) for page in found) == 59
            if given:
                assert [node for page in found for node in page.nodes] == whole.nodes
            left = found[0].left_out
            assert (left["nodes"] + len(found[0].nodes), left["edges"], left["indicators"]) == (60, 59, 59)


def test_a_page_of_a_draft_that_changed_meanwhile_is_refused(client: PurposeClient) -> None:
    add_outcomes(client, 60, text=LONG * 2)
    under_cap = with_cap(client, 1_500)
    first = under_cap.open()
    client.edit(add_node("GOAL", "Another"))

    with pytest.raises(StaleRevision):
        under_cap.open(cursor=first.next_cursor)
    with pytest.raises(InvalidCursor):
        under_cap.open(cursor=first.next_cursor, detail="full")
    with pytest.raises(InvalidCursor):
        under_cap.by("ben").open(cursor=first.next_cursor)


def test_observations_come_in_pages_too(client: PurposeClient) -> None:
    add_outcomes(client, 3)
    for ten in range(0, 60, 10):
        measured = {"indicator": "IN1", "as_of": "2026-01-01", "note": LONG * 5}
        client.record(
            measurements=[{**measured, "value": number} for number in range(ten, ten + 10)],
            decisions=[{"text": str(number), "rationale": LONG * 5} for number in range(ten, ten + 10)],
        )
    under_cap = with_cap(client, 3_000)

    found = [under_cap.call("purpose.open", detail="observations")]
    while found[-1].next_cursor is not UNSET:
        if len(found) == 1:
            client.record(measurements=[{"indicator": "IN1", "value": 60, "as_of": "2026-01-01"}])
        found.append(under_cap.call("purpose.open", detail="observations", cursor=found[-1].next_cursor))

    assert [one.value for page in found for one in page.measurements] == list(range(61))
    assert [one.text for page in found for one in page.decisions] == [str(number) for number in range(60)]


def test_a_day_is_a_day(client: PurposeClient, subtests: pytest.Subtests) -> None:
    for as_of in ("soon", "2026-13-01", "2026-01-01T10:00", ""):
        with subtests.test(as_of):
            with pytest.raises(Invalid) as error:
                client.open(as_of=as_of)

            assert error.value.code == "invalid_date"
