"""The sections of a container are listed in their order, all or some of them, and never more than fits."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.output_gate import count_tokens, encode
from tests.work.containers.sections.desk import NOWHERE, Sections, told
from tests.work.desk import refused

CAP = 20_000


def fits(answer: Any, cap: int = CAP) -> bool:
    return count_tokens(encode({"success": True, "data": answer})) <= cap


def test_sections_come_by_their_ordinals(desk: Sections) -> None:
    for title, ordinal in (("c", 5), ("a", 0), ("b", 2)):
        desk.add(title, ordinal=ordinal)

    answer = desk.listed()

    assert told(answer).keys() == {"sections", "count"}
    assert ([one.title for one in answer.sections], answer.count) == (["a", "b", "c"], 3)


def test_without_content_everything_else_is_told(three: Sections) -> None:
    whole, short = three.listed(), three.listed(includeContent=False)

    assert [told(one).keys() - {"content"} for one in whole.sections] == [told(one).keys() for one in short.sections]
    assert three.read("One").content == "of One"


def test_a_section_with_any_of_the_tags_is_meant(desk: Sections) -> None:
    desk.add("a", tags="x, y")
    desk.add("b", tags="Y")
    desk.add("c", tags=["z"])
    desk.add("d")

    assert desk.titles(tags="y,z") == ["a", "c"]
    assert desk.titles(tags=["Y"]) == ["b"]
    assert desk.titles(tags="none") == []
    assert desk.titles(tags="") == ["a", "b", "c", "d"]


def test_sections_are_asked_for_by_id(three: Sections) -> None:
    ids = [three["Three"], three["One"].replace("-", "")]

    assert three.titles(sectionIds=",".join(ids)) == ["One", "Three"]
    assert three.titles(sectionIds=ids, tags="x") == []


def test_a_section_that_is_not_of_the_container_is_not_found(three: Sections) -> None:
    three.add("Elsewhere", to="draw")

    for stranger in (NOWHERE, three["Elsewhere"]):
        error = refused(partial(three.titles, sectionIds=[three["One"], stranger]))
        assert (error.code, error.details["field"]) == ("not_found", "sectionIds[1]")
    assert refused(lambda: three.titles(sectionIds="x")).code == "invalid_id"


def test_a_container_without_sections_has_none(desk: Sections) -> None:
    assert told(desk.listed("coast")) == {"sections": [], "count": 0}


def test_the_last_sections_lose_their_content_where_all_would_be_too_long(desk: Sections) -> None:
    for place in range(6):
        desk.add(f"s{place}", content=f"{place}" * 20_000, tags="kept", usageDescription="kept")
    desk.add("short", content="kept")

    answer = desk.capped(CAP).listed()

    assert fits(answer)
    assert answer.count == len(answer.sections) == 7
    assert [one.left_out or {} for one in answer.sections] == [{}] * 3 + [{"content": 1}] * 4
    assert [bool(one.content) for one in answer.sections] == [True] * 3 + [False] * 4
    assert {(one.usage_description, *one.tags) for one in answer.sections[:6]} == {("kept", "kept")}
    rest = desk.capped(CAP).listed(sectionIds=[one.id for one in answer.sections if one.left_out])
    assert all(one.content for one in rest.sections)
    assert "left_out" not in json.dumps(told(rest))


def test_without_a_cap_nothing_is_left_out(desk: Sections) -> None:
    for place in range(6):
        desk.add(f"s{place}", content="x" * 32_768)

    assert [len(one.content) for one in desk.listed().sections] == [32_768] * 6


@pytest.mark.parametrize("include_content", [True, False])
def test_sections_that_are_still_too_long_lose_more_than_contents(desk: Sections, include_content: bool) -> None:
    tags = [f"{number:0100}" for number in range(50)]
    for batch in range(2):
        desk.bulk(*({"title": f"{batch}{n}", "usageDescription": "ü" * 2_048, "tags": tags} for n in range(20)))

    answer = desk.capped(CAP).listed(includeContent=include_content)

    assert fits(answer)
    assert answer.count == len(answer.sections) == 40
    assert answer.sections[-1].left_out == {"usageDescription": 1, "tags": 50}
    assert answer.sections[0].tags == sorted(tags)


def test_sections_that_are_too_many_are_counted(desk: Sections) -> None:
    for batch in range(2):
        desk.bulk(*({"title": f"{batch}{n}" * 80, "content": "x"} for n in range(50)))

    answer = desk.capped(6_000).listed()

    assert fits(answer, 6_000)
    assert 0 < len(answer.sections) == answer.count - answer.left_out["sections"]


def test_the_largest_section_can_be_added_and_changed_by_whoever_has_a_cap(desk: Sections) -> None:
    capped = desk.capped(CAP)
    largest: dict[str, Any] = {
        "content": '"' * 32_768,
        "usageDescription": '"' * 4_096,
        "tags": ['"' * 98 + f"{n:02}" for n in range(50)],
    }

    made = capped.add('"' * 255, **largest)
    changed = capped.update('"' * 255, **largest)

    for answer in (made, changed):
        assert fits(answer)
        assert told(answer)["left_out"] == {"content": 1}
    assert desk.listed().sections[0].content == largest["content"]


def test_many_long_sections_can_be_added_by_whoever_has_a_cap(desk: Sections) -> None:
    answer = desk.capped(CAP).bulk(*({"title": f"s{place}", "content": "x" * 20_000} for place in range(20)))

    assert fits(answer)
    assert len(answer.sections) == 20
    assert answer.sections[-1].left_out == {"content": 1}
    assert {len(one.content) for one in desk.listed().sections} == {20_000}
