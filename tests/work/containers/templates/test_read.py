"""Templates are listed by name and read with their sections; the built-in ones are included."""

from __future__ import annotations

from functools import partial

import pytest

from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.work.containers import templates
from groundplan.work.containers.built_in_templates import BUILT_IN, FEATURE, TASK
from tests.answers import to_json
from tests.errors import error_of
from tests.work.containers.templates.client import NOWHERE, TemplatesClient

CAP = 4_000


def test_what_comes_with_groundplan_is_there_from_the_first_day_protected_and_enabled(client: TemplatesClient) -> None:
    found = client.run(templates.LIST)

    assert [one.name for one in found.templates] == sorted(one.name for one in BUILT_IN.values())
    assert {(one.is_built_in, one.is_protected, one.is_enabled) for one in found.templates} == {(True, True, True)}
    assert all("sections" not in one for one in to_json(found)["templates"])


def test_the_ids_of_what_comes_with_groundplan_are_uuids_and_its_sections_in_order() -> None:
    ids = [*BUILT_IN, *(section.id for one in BUILT_IN.values() for section in one.sections or ())]

    assert [parse_uuid(id_) for id_ in ids] == ids
    assert len(set(ids)) == len(ids)
    for one in BUILT_IN.values():
        assert [section.ordinal for section in one.sections or ()] == list(range(len(one.sections or ())))


def test_a_task_from_groundplan_has_the_section_that_knowledge_is_looked_up_by(client: TemplatesClient) -> None:
    assert [one.title for one in client.sections(TASK.name)] == [
        "Requirements",
        "Context Files",
        "Implementation Plan",
        "Verification",
    ]


def test_a_list_is_by_name_and_narrowed_by_all_that_is_given(client: TemplatesClient) -> None:
    client.create("Zebra", target="TASK", tags="a,b")
    client.create("apple", target="TASK", tags="b")
    client.create("Mango", target="FEATURE", tags="c")
    client.create("Fig", target="PROJECT", isBuiltIn=True)
    client.disable("apple")

    assert client.own_names() == ["Fig", "Mango", "Zebra", "apple"]
    assert client.own_names(targetEntityType="TASK") == ["Zebra", "apple"]
    assert client.own_names(isEnabled=True) == ["Fig", "Mango", "Zebra"]
    assert client.own_names(isEnabled=False) == ["apple"]
    assert client.own_names(isBuiltIn=True) == ["Fig"]
    assert client.own_names(isBuiltIn=False) == ["Mango", "Zebra", "apple"]
    assert client.own_names(tags="a,c") == ["Mango", "Zebra"]
    assert client.own_names(tags=["b"], isEnabled=True, targetEntityType="TASK") == ["Zebra"]
    assert client.own_names(tags="nobody's") == []
    assert client.names(isBuiltIn=True, targetEntityType="FEATURE") == [FEATURE.name]


def test_a_template_is_read_with_its_sections_where_they_are_wanted(client: TemplatesClient) -> None:
    client.create("Release")
    assert to_json(client.get("Release", includeSections=True))["sections"] == []
    client.add("Release", "Notes")

    assert "sections" not in to_json(client.get("Release"))
    assert [one["title"] for one in to_json(client.get("Release", includeSections=True))["sections"]] == ["Notes"]


@pytest.mark.parametrize("with_sections", [False, True])
def test_an_unknown_template_is_not_found(client: TemplatesClient, with_sections: bool) -> None:
    for ref in (NOWHERE, "task to implement"):
        error = error_of(partial(client.get, ref, includeSections=with_sections))
        assert isinstance(error, NotFound)
        assert error.details.get("near", []) == ([] if ref == NOWHERE else [TASK.id])


def test_a_list_takes_no_word_for_a_target(client: TemplatesClient) -> None:
    error = error_of(lambda: client.names(targetEntityType="EPIC"))

    assert isinstance(error, Invalid)
    assert error.details["allowed"] == ["PROJECT", "FEATURE", "TASK"]


def test_an_answer_that_would_be_too_long_leaves_whole_texts_out_and_says_so(client: TemplatesClient) -> None:
    client.create("Long", description="d" * 4096, tags=["x" * 100])
    for n in range(6):
        client.add("Long", f"Section {n}", contentSample="s" * 3_000, usageDescription="u" * 1_000)
    whole = client.get("Long", includeSections=True)

    answer = client.with_cap(CAP).run(templates.GET, id=client["Long"], includeSections=True)

    assert count_tokens(encode({"success": True, "data": answer})) <= CAP
    shown = to_json(answer)["template"]
    assert [one["title"] for one in shown["sections"]] == [one.title for one in whole.sections]
    for one, kept in zip(shown["sections"], to_json(whole)["sections"], strict=True):
        assert set(kept) - set(one) == set(one.get("left_out", {}))
    assert shown["sections"][0]["contentSample"] == "s" * 3_000
    assert shown["sections"][-1]["left_out"]["contentSample"] == 1
    assert shown["description"] == "d" * 4096


def test_what_was_left_out_of_one_answer_is_in_the_next(client: TemplatesClient) -> None:
    before = to_json(client.get(TASK.name, includeSections=True))

    shortened = to_json(client.with_cap(300).get(TASK.name, includeSections=True))

    assert shortened["sections"][-1]["left_out"]
    assert to_json(client.get(TASK.name, includeSections=True)) == before


def test_a_long_list_is_cut_and_says_how_many_are_missing(client: TemplatesClient) -> None:
    for n in range(60):
        client.create(f"Long {n}", description="d" * 400)

    answer = client.with_cap(CAP).run(templates.LIST)

    assert count_tokens(encode({"success": True, "data": answer})) <= CAP
    assert answer.count == 60 + len(BUILT_IN)
    assert 0 < len(answer.templates) == answer.count - answer.left_out["templates"]
    assert {one.left_out["description"] for one in answer.templates} == {1}


def test_a_change_is_told_within_the_cap(client: TemplatesClient) -> None:
    made = client.with_cap(400).create("Long", description="d" * 4096)
    added = client.with_cap(400).add("Long", "Notes", contentSample="s" * 30_000)

    assert (made.left_out, added.left_out) == ({"description": 1}, {"contentSample": 1})
    assert len(client.sections("Long")[0].content_sample) == 30_000
