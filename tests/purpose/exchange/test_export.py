"""Exporting versions from the store."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.purpose.exchange.formats import FORMATS, WRITABLE
from groundplan.purpose.picture import layout, svg
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_edge, add_node, op


def test_the_version_published_last_is_written_out_else_the_draft_or_the_one_that_is_named(
    chain_client: PurposeClient,
) -> None:
    chain_client.edit(op("update_node", node="AC1", title="drill"))
    assert (
        chain_client.call("purpose.export", format="json").version == chain_client.call("purpose.render").version == 1
    )
    chain_client.publish()
    chain_client.draft()
    chain_client.edit(op("update_node", node="G1", title="better health"))

    def title(**given: object) -> tuple[int, str]:
        answer = chain_client.call("purpose.export", format="json", **given)
        return answer.version, msgspec.json.decode(answer.content)["nodes"][0]["title"]

    assert title(version="draft") == title(version=2) == (2, "better health")
    assert title() == title(version=1) == title(version="published") == title(version=None) == (1, "health")
    assert (
        chain_client.call("purpose.render").version,
        chain_client.call("purpose.render", version="draft").version,
    ) == (1, 2)
    chain_client.discard()
    assert title() == (1, "health")


def test_an_iati_file_names_the_nodes_that_are_not_in_it(chain_client: PurposeClient) -> None:
    chain_client.edit(op("add_indicator", node="OC1", name="litres"))

    (warning,) = chain_client.call("purpose.export", format="iati").warnings

    assert warning.endswith(": G1, OP1, AC1")
    chain_client.edit(*(op("add_indicator", node=key, name="How many") for key in ("G1", "OP1", "AC1")))
    assert chain_client.call("purpose.export", format="iati").warnings is msgspec.UNSET
    assert chain_client.call("purpose.export", format="json").warnings is msgspec.UNSET


def test_every_format_tells_of_every_node(chain_client: PurposeClient, subtests: pytest.Subtests) -> None:
    for key in ("AC1", "OP1", "OC1", "G1"):
        chain_client.edit(op("add_indicator", node=key, name="How many", target=3))

    for format_ in WRITABLE:
        with subtests.test(str(format_)):
            content = chain_client.call("purpose.export", format=format_).content

            assert all(title in content for title in ("dig", "well", "water", "health"))
            assert content.endswith("\n")


def test_a_waiver_in_force_stands_in_every_format_that_carries_text(
    client: PurposeClient, clock: ManualClock, subtests: pytest.Subtests
) -> None:
    client.draw("well -> water -> health")
    waiver = {
        "code": "GA_OUTCOME_COVERAGE",
        "refs": ["OC1"],
        "reason": "next spring",
        "owner": "ben",
        "due": "2099-12-31",
    }
    client.record(waivers=[waiver, {**waiver, "code": "GA_LEAP", "refs": ["OP1->OC1"], "due": "2026-03-01"}])
    clock.move(days=1)

    for format_ in ("json", "logframe", "svg", "mermaid", "dot", "graphml"):
        with subtests.test(str(format_)):
            content = client.call("purpose.export", format=format_).content

            # A picture is for readers who know no codes.
            named = "every outcome has an indicator" if format_ == "svg" else "GA_OUTCOME_COVERAGE"
            assert all(word in content for word in (named, "next spring", "ben", "2099-12-31"))
            assert "GA_LEAP" not in content


def test_a_waiver_about_what_the_version_does_not_have_is_not_in_its_file(client: PurposeClient) -> None:
    _, outcome, _ = client.draw("well -> water -> health")
    client.edit(add_node("OUTCOME", "other"), add_edge("OC2", "G1"))
    waiver = {"code": "GA_OUTCOME_COVERAGE", "reason": "later", "owner": "ben", "due": "2099-12-31"}
    client.record(waivers=[{**waiver, "refs": ["OC2"]}, {**waiver, "refs": [outcome, "OC2"], "reason": "both"}])
    client.edit(op("remove_node", node="OC2"))

    waivers = msgspec.json.decode(client.call("purpose.export", format="json").content)["waivers"]

    assert [(one["refs"], one["reason"]) for one in waivers] == [([outcome], "both")]


def test_there_must_be_a_version(client: PurposeClient) -> None:
    client.discard()
    for operation, given in (("purpose.export", {"format": "json"}), ("purpose.render", {})):
        with pytest.raises(NotFound):
            client.call(operation, **given)
        with pytest.raises(NotFound):
            client.call(operation, version=3, **given)


def test_a_picture_shows_the_ways_through_a_node_or_what_changed(chain_client: PurposeClient) -> None:
    chain_client.publish()
    chain_client.draft()
    chain_client.edit(add_node("ACTIVITY", "train"), add_edge("AC2", "OP1"))

    def render(**given: Any) -> Any:
        return chain_client.call("purpose.render", version="draft", **given)

    plain = render()
    assert plain.svg == chain_client.call("purpose.export", format="svg", version="draft").content
    assert f'width="{plain.width}" height="{plain.height}"' in plain.svg
    assert "what leads to OP1" in render(pathway="OP1").svg
    assert "nodes 1 added" in render(compare="published").svg
    assert render(theme="dark").svg != plain.svg == render(theme=None).svg


@pytest.mark.parametrize(("operation", "given"), [("purpose.render", {}), ("purpose.export", {"format": "svg"})])
def test_a_picture_is_drawn_when_its_transaction_has_ended(
    client: PurposeClient, monkeypatch: pytest.MonkeyPatch, operation: str, given: dict[str, Any]
) -> None:
    client.draw("well -> water -> health")
    read, lay_out = client.session.store.read, layout.compute_layout
    steps: list[str] = []

    def watched_read(*arguments: Any, **options: Any) -> Any:
        steps.append("transaction begins")
        answer = read(*arguments, **options)
        steps.append("transaction ends")
        return answer

    def watched_layout(*arguments: Any) -> Any:
        steps.append("drawing begins")
        return lay_out(*arguments)

    monkeypatch.setattr(client.session.store, "read", watched_read)
    monkeypatch.setattr(svg, "compute_layout", watched_layout)
    client.call(operation, **given)

    assert steps == ["transaction begins", "transaction ends", "drawing begins"]


def test_a_picture_is_of_one_thing_and_of_a_node_that_is_there(client: PurposeClient) -> None:
    client.draw("well -> water -> health")

    with pytest.raises(Invalid):
        client.call("purpose.render", pathway="G1", compare="draft")
    with pytest.raises(NotFound):
        client.call("purpose.render", pathway="G9")
    with pytest.raises(NotFound):
        client.call("purpose.render", compare="published")


def test_the_table_of_formats_says_of_each_what_it_keeps_and_loses() -> None:
    assert all(about.keeps and about.loses and about.description for about in FORMATS.values())
    assert len({about.suffix for about in FORMATS.values()}) == len(FORMATS)
