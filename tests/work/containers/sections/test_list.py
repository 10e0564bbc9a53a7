"""The sections of a container are listed in order, all or some, within the answer budget."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.answers import count_tokens, encode
from tests.answers import to_json
from tests.errors import error_of
from tests.work.containers.sections.client import NOWHERE, SectionsClient

CAP = 20_000


def fits(answer: Any, cap: int = CAP) -> bool:
    return count_tokens(encode({"success": True, "data": answer})) <= cap


def test_sections_come_by_their_ordinals(client: SectionsClient) -> None:
    for title, ordinal in (("c", 5), ("a", 0), ("b", 2)):
        client.add(title, ordinal=ordinal)

    answer = client.list_sections()

    assert to_json(answer).keys() == {"sections", "count"}
    assert ([one.title for one in answer.sections], answer.count) == (["a", "b", "c"], 3)


def test_without_content_everything_else_is_told(three_sections: SectionsClient) -> None:
    whole, short = three_sections.list_sections(), three_sections.list_sections(includeContent=False)

    assert [to_json(one).keys() - {"content"} for one in whole.sections] == [
        to_json(one).keys() for one in short.sections
    ]
    assert three_sections.read("One").content == "of One"


def test_a_section_with_any_of_the_tags_is_meant(client: SectionsClient) -> None:
    client.add("a", tags="x, y")
    client.add("b", tags="Y")
    client.add("c", tags=["z"])
    client.add("d")

    assert client.titles(tags="y,z") == ["a", "c"]
    assert client.titles(tags=["Y"]) == ["b"]
    assert client.titles(tags="none") == []
    assert client.titles(tags="") == ["a", "b", "c", "d"]


def test_sections_are_asked_for_by_id(three_sections: SectionsClient) -> None:
    ids = [three_sections["Three"], three_sections["One"].replace("-", "")]

    assert three_sections.titles(sectionIds=",".join(ids)) == ["One", "Three"]
    assert three_sections.titles(sectionIds=ids, tags="x") == []


def test_a_section_that_is_not_of_the_container_is_not_found(three_sections: SectionsClient) -> None:
    three_sections.add("Elsewhere", to="draw")

    for stranger in (NOWHERE, three_sections["Elsewhere"]):
        error = error_of(partial(three_sections.titles, sectionIds=[three_sections["One"], stranger]))
        assert (error.code, error.details["field"]) == ("not_found", "sectionIds[1]")
    assert error_of(lambda: three_sections.titles(sectionIds="x")).code == "invalid_id"


def test_a_container_without_sections_has_none(client: SectionsClient) -> None:
    assert to_json(client.list_sections("coast")) == {"sections": [], "count": 0}


def test_the_last_sections_lose_their_content_where_all_would_be_too_long(client: SectionsClient) -> None:
    for place in range(6):
        client.add(f"s{place}", content=f"{place}" * 20_000, tags="kept", usageDescription="kept")
    client.add("short", content="kept")

    answer = client.with_cap(CAP).list_sections()

    assert fits(answer)
    assert answer.count == len(answer.sections) == 7
    assert [one.left_out or {} for one in answer.sections] == [{}] * 3 + [{"content": 1}] * 4
    assert [bool(one.content) for one in answer.sections] == [True] * 3 + [False] * 4
    assert {(one.usage_description, *one.tags) for one in answer.sections[:6]} == {("kept", "kept")}
    rest = client.with_cap(CAP).list_sections(sectionIds=[one.id for one in answer.sections if one.left_out])
    assert all(one.content for one in rest.sections)
    assert "left_out" not in json.dumps(to_json(rest))


def test_without_a_cap_nothing_is_left_out(client: SectionsClient) -> None:
    for place in range(6):
        client.add(f"s{place}", content="x" * 32_768)

    assert [len(one.content) for one in client.list_sections().sections] == [32_768] * 6


@pytest.mark.parametrize("include_content", [True, False])
def test_sections_that_are_still_too_long_lose_more_than_contents(
    client: SectionsClient, include_content: bool
) -> None:
    tags = [f"{number:0100}" for number in range(50)]
    for batch in range(2):
        client.bulk(*({"title": f"{batch}{n}", "usageDescription": "ü" * 2_048, "tags": tags} for n in range(20)))

    answer = client.with_cap(CAP).list_sections(includeContent=include_content)

    assert fits(answer)
    assert answer.count == len(answer.sections) == 40
    assert answer.sections[-1].left_out == {"usageDescription": 1, "tags": 50}
    assert answer.sections[0].tags == sorted(tags)


def test_sections_that_are_too_many_are_counted(client: SectionsClient) -> None:
    for batch in range(2):
        client.bulk(*({"title": f"{batch}{n}" * 80, "content": "x"} for n in range(50)))

    answer = client.with_cap(6_000).list_sections()

    assert fits(answer, 6_000)
    assert 0 < len(answer.sections) == answer.count - answer.left_out["sections"]


def test_the_largest_section_can_be_added_and_changed_by_whoever_has_a_cap(client: SectionsClient) -> None:
    capped = client.with_cap(CAP)
    largest: dict[str, Any] = {
        "content": '"' * 32_768,
        "usageDescription": '"' * 4_096,
        "tags": ['"' * 98 + f"{n:02}" for n in range(50)],
    }

    made = capped.add('"' * 255, **largest)
    changed = capped.update('"' * 255, **largest)

    for answer in (made, changed):
        assert fits(answer)
        assert to_json(answer)["left_out"] == {"content": 1}
    assert client.list_sections().sections[0].content == largest["content"]


def test_many_long_sections_can_be_added_by_whoever_has_a_cap(client: SectionsClient) -> None:
    answer = client.with_cap(CAP).bulk(*({"title": f"s{place}", "content": "x" * 20_000} for place in range(20)))

    assert fits(answer)
    assert len(answer.sections) == 20
    assert answer.sections[-1].left_out == {"content": 1}
    assert {len(one.content) for one in client.list_sections().sections} == {20_000}
