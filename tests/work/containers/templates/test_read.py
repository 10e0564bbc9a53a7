"""Templates are listed by name and read with their sections, those that come with Groundplan among them."""

from __future__ import annotations

from functools import partial

import pytest

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.output_gate import count_tokens, encode
from groundplan.work.containers.templates import get
from groundplan.work.containers.templates import list as listing
from groundplan.work.containers.templates.built_in import BUILT_IN, FEATURE, TASK
from tests.work.containers.templates.desk import NOWHERE, Templates, told
from tests.work.desk import refused

CAP = 4_000


def test_what_comes_with_groundplan_is_there_from_the_first_day_protected_and_enabled(desk: Templates) -> None:
    found = desk.run(listing.OPERATION)

    assert [one.name for one in found.templates] == sorted(one.name for one in BUILT_IN.values())
    assert {(one.is_built_in, one.is_protected, one.is_enabled) for one in found.templates} == {(True, True, True)}
    assert all("sections" not in one for one in told(found)["templates"])


def test_the_ids_of_what_comes_with_groundplan_are_uuids_and_its_sections_in_order() -> None:
    ids = [*BUILT_IN, *(section.id for one in BUILT_IN.values() for section in one.sections or ())]

    assert [parse_uuid(id_) for id_ in ids] == ids
    assert len(set(ids)) == len(ids)
    for one in BUILT_IN.values():
        assert [section.ordinal for section in one.sections or ()] == list(range(len(one.sections or ())))


def test_a_task_from_groundplan_has_the_section_that_knowledge_is_looked_up_by(desk: Templates) -> None:
    assert [one.title for one in desk.sections(TASK.name)] == [
        "Requirements",
        "Context Files",
        "Implementation Plan",
        "Verification",
    ]


def test_a_list_is_by_name_and_narrowed_by_all_that_is_given(desk: Templates) -> None:
    desk.create("Zebra", target="TASK", tags="a,b")
    desk.create("apple", target="TASK", tags="b")
    desk.create("Mango", target="FEATURE", tags="c")
    desk.create("Fig", target="PROJECT", isBuiltIn=True)
    desk.disable("apple")

    assert desk.own() == ["Fig", "Mango", "Zebra", "apple"]
    assert desk.own(targetEntityType="TASK") == ["Zebra", "apple"]
    assert desk.own(isEnabled=True) == ["Fig", "Mango", "Zebra"]
    assert desk.own(isEnabled=False) == ["apple"]
    assert desk.own(isBuiltIn=True) == ["Fig"]
    assert desk.own(isBuiltIn=False) == ["Mango", "Zebra", "apple"]
    assert desk.own(tags="a,c") == ["Mango", "Zebra"]
    assert desk.own(tags=["b"], isEnabled=True, targetEntityType="TASK") == ["Zebra"]
    assert desk.own(tags="nobody's") == []
    assert desk.names(isBuiltIn=True, targetEntityType="FEATURE") == [FEATURE.name]


def test_a_template_is_read_with_its_sections_where_they_are_wanted(desk: Templates) -> None:
    desk.create("Release")
    assert told(desk.get("Release", includeSections=True))["sections"] == []
    desk.add("Release", "Notes")

    assert "sections" not in told(desk.get("Release"))
    assert [one["title"] for one in told(desk.get("Release", includeSections=True))["sections"]] == ["Notes"]


@pytest.mark.parametrize("with_sections", [False, True])
def test_an_unknown_template_is_not_found(desk: Templates, with_sections: bool) -> None:
    for ref in (NOWHERE, "task to implement"):
        error = refused(partial(desk.get, ref, includeSections=with_sections))
        assert isinstance(error, NotFound)
        assert error.details.get("near", []) == ([] if ref == NOWHERE else [TASK.id])


def test_a_list_takes_no_word_for_a_target(desk: Templates) -> None:
    error = refused(lambda: desk.names(targetEntityType="EPIC"))

    assert isinstance(error, Invalid)
    assert error.details["allowed"] == ["PROJECT", "FEATURE", "TASK"]


def test_an_answer_that_would_be_too_long_leaves_whole_texts_out_and_says_so(desk: Templates) -> None:
    desk.create("Long", description="d" * 4096, tags=["x" * 100])
    for n in range(6):
        desk.add("Long", f"Section {n}", contentSample="s" * 3_000, usageDescription="u" * 1_000)
    whole = desk.get("Long", includeSections=True)

    answer = desk.capped(CAP).run(get.OPERATION, id=desk["Long"], includeSections=True)

    assert count_tokens(encode({"success": True, "data": answer})) <= CAP
    shown = told(answer)["template"]
    assert [one["title"] for one in shown["sections"]] == [one.title for one in whole.sections]
    for one, kept in zip(shown["sections"], told(whole)["sections"], strict=True):
        assert set(kept) - set(one) == set(one.get("left_out", {}))
    assert shown["sections"][0]["contentSample"] == "s" * 3_000
    assert shown["sections"][-1]["left_out"]["contentSample"] == 1
    assert shown["description"] == "d" * 4096


def test_what_was_left_out_of_one_answer_is_in_the_next(desk: Templates) -> None:
    before = told(desk.get(TASK.name, includeSections=True))

    shortened = told(desk.capped(300).get(TASK.name, includeSections=True))

    assert shortened["sections"][-1]["left_out"]
    assert told(desk.get(TASK.name, includeSections=True)) == before


def test_a_long_list_is_cut_and_says_how_many_are_missing(desk: Templates) -> None:
    for n in range(60):
        desk.create(f"Long {n}", description="d" * 400)

    answer = desk.capped(CAP).run(listing.OPERATION)

    assert count_tokens(encode({"success": True, "data": answer})) <= CAP
    assert answer.count == 60 + len(BUILT_IN)
    assert 0 < len(answer.templates) == answer.count - answer.left_out["templates"]
    assert {one.left_out["description"] for one in answer.templates} == {1}


def test_a_change_is_told_within_the_cap(desk: Templates) -> None:
    made = desk.capped(400).create("Long", description="d" * 4096)
    added = desk.capped(400).add("Long", "Notes", contentSample="s" * 30_000)

    assert (made.left_out, added.left_out) == ({"description": 1}, {"contentSample": 1})
    assert len(desk.sections("Long")[0].content_sample) == 30_000
