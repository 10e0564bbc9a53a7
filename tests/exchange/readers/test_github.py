"""Issues of GitHub become items, from `gh` and from the REST API, in the encodings that people have them in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.exchange import github
from groundplan.exchange.items import BadLineFound, SourcePlan, UnreadableSource
from groundplan.work.importing.items import SourceEvidence, SourceItem, SourceLink, SourceSection
from tests.proof import scaled

FROM_GH = {
    "number": 12,
    "title": "Prices are rounded twice",
    "body": "Steps:\r\n- [ ] open the cart",
    "state": "CLOSED",
    "stateReason": "COMPLETED",
    "labels": [{"id": "L1", "name": "bug", "color": "f00"}, {"name": " ui "}, {"name": "bug"}],
    "milestone": {"number": 1, "title": "Spring", "dueOn": "2026-03-01T00:00:00Z"},
    "assignees": [{"login": "ada"}, {"login": "ben"}],
    "author": {"login": "cleo"},
    "comments": [{"author": {"login": "ada"}, "body": "Seen.", "createdAt": "2026-01-02T03:04:05Z"}],
    "createdAt": "2026-01-01T00:00:00Z",
    "closedAt": "2026-01-03T00:00:00Z",
    "url": "https://github.example/shop/web/issues/12",
}
FROM_REST = {
    "number": 7,
    "title": "Split the page",
    "state": "open",
    "state_reason": None,
    "labels": ["later"],
    "comments": 3,
    "user": {"login": "ben"},
    "created_at": "2026-01-01T00:00:00Z",
    "html_url": "https://github.example/shop/web/issues/7",
    "url": "https://api.github.example/repos/shop/web/issues/7",
    "parent_issue_url": "https://api.github.example/repos/shop/web/issues/12",
    "issue_dependencies_summary": {"blocked_by": 2},
}


def read(tmp_path: Path, *entries: Any, skip_bad: bool = False, encoding: str = "utf-8") -> SourcePlan:
    path = tmp_path / "issues.json"
    path.write_bytes(json.dumps(list(entries), indent=1).encode(encoding))
    return github.read_github(path, skip_bad=skip_bad)


def items(plan: SourcePlan) -> dict[str, SourceItem]:
    return {item.source_id: item for item in plan.items}


def test_an_issue_of_gh_keeps_everything_that_has_a_place(tmp_path: Path) -> None:
    (item,) = read(tmp_path, FROM_GH).items

    assert (item.source_id, item.aliases, item.title) == ("#12", ["#12"], "Prices are rounded twice")
    assert (item.fate, item.source_status, item.tags) == ("done", "CLOSED", ["bug", "ui", "Spring"])
    assert item.sections == [SourceSection("body", "Steps:\n- [ ] open the cart")]
    assert item.evidence == [SourceEvidence("comment", "ada 2026-01-02T03:04:05Z: Seen.")]
    assert item.context_links == ["https://github.example/shop/web/issues/12"]
    assert item.properties == {
        "assignee": "ada, ben",
        "created_by": "cleo",
        "state_reason": "COMPLETED",
        "due": "2026-03-01T00:00:00Z",
        "source_created_at": "2026-01-01T00:00:00Z",
        "source_closed_at": "2026-01-03T00:00:00Z",
    }


def test_an_issue_of_the_api_has_its_parent_and_what_the_file_only_counts_is_named(tmp_path: Path) -> None:
    plan = read(tmp_path, FROM_REST, FROM_GH)

    item = items(plan)["#7"]
    assert (item.parent, item.fate, item.tags, item.depends_on) == ("#12", "open", ["later"], [])
    assert [(note.source_id, note.what) for note in plan.lost] == [("#7", "dependencies")]
    assert ["3 comments" in warning for warning in plan.warnings] == [True]
    (alone,) = (elsewhere := read(tmp_path, FROM_REST)).items
    assert alone.parent is None
    assert [note.what for note in elsewhere.lost] == ["parent", "dependencies"]


def test_dependencies_are_links_and_hold_nothing_back(tmp_path: Path) -> None:
    blocking = [{"url": FROM_GH["url"]}, {"url": "https://github.example/other/repo/issues/12"}]
    plan = read(tmp_path, {**FROM_REST, "blockedBy": blocking}, FROM_GH)

    item = items(plan)["#7"]
    assert (item.depends_on, item.links) == ([], [SourceLink("blocked_by", "#12")])
    assert "https://github.example/other/repo/issues/12" in item.context_links


@pytest.mark.parametrize(
    ("entry", "fate"),
    [
        ({}, "open"),
        ({"state": "OPEN"}, "open"),
        ({"state": "open", "state_reason": "reopened"}, "open"),
        ({"state": "closed", "state_reason": None}, "done"),
        ({"state": "CLOSED", "stateReason": ""}, "done"),
        ({"state": "CLOSED", "stateReason": "NOT_PLANNED"}, "dropped"),
        ({"state": "closed", "state_reason": "duplicate"}, "dropped"),
        ({"state": "parked"}, "held"),
    ],
)
def test_the_state_decides_the_fate(tmp_path: Path, entry: dict[str, Any], fate: str) -> None:
    (item,) = read(tmp_path, {"number": 1, "title": "x", **entry}).items

    assert item.fate == fate
    assert (item.hold_reason is not None) == (fate == "held")
    assert [one.type for one in item.evidence] == (["dropped"] if fate == "dropped" else [])


def test_pull_requests_are_counted_and_left_out(tmp_path: Path) -> None:
    plan = read(tmp_path, FROM_GH, *({"number": n, "title": "x", "pull_request": {"url": "u"}} for n in range(3)))

    assert (list(items(plan)), plan.left_out) == (["#12"], {"pull requests": 3})


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_redirect_of_a_shell_may_have_another_encoding(tmp_path: Path, encoding: str) -> None:
    (item,) = read(tmp_path, {"number": 1, "title": "Größe ��"}, encoding=encoding).items

    assert item.title == "Größe ��"


def test_a_list_without_titles_is_bad_and_names_the_line(tmp_path: Path) -> None:
    entries = [{"number": 1, "title": "x"}, {"number": 2, "state": "OPEN"}, {"number": 3, "title": " "}, 4]
    with pytest.raises(BadLineFound) as refused:
        read(tmp_path, *entries)
    assert refused.value.details["line"] == 6

    plan = read(tmp_path, *entries, skip_bad=True)
    assert [(bad.line, bad.source_id) for bad in plan.skipped] == [(6, "#2"), (10, "#3"), (14, None)]
    assert list(items(plan)) == ["#1"]


def test_wishes_without_a_number_are_known_by_their_titles(tmp_path: Path) -> None:
    wish = {"title": "Dark mode", "bodyFile": "dark.md", "labels": ["ui"]}

    plan = read(tmp_path, wish, wish)

    assert list(items(plan)) == ["Dark mode", "Dark mode~2"]
    assert [item.aliases for item in plan.items] == [[], []]
    assert [note.source_id for note in plan.placed] == ["Dark mode~2"]


def test_an_issue_that_is_there_twice_is_the_newer_one_and_another_of_that_number_is_another(tmp_path: Path) -> None:
    old = {"number": 1, "title": "old", "updatedAt": "2026-01-01", "url": "https://github.example/a/b/issues/1"}
    new = {**old, "title": "new", "updatedAt": "2026-01-02"}
    other = {"number": 1, "title": "other", "url": "https://github.example/c/d/issues/1"}

    for entries in ((old, new, other), (new, old, other)):
        plan = read(tmp_path, *entries)
        assert {key: item.title for key, item in items(plan).items()} == {"#1": "new", "#1~2": "other"}
        assert plan.left_out == {"issues that are there twice": 1}


def test_pages_one_after_the_other_are_one_list_and_none_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "issues.json"
    path.write_text('[{"number": 1, "title": "a"}]\n[{"number": 2, "title": "b"}]')
    assert list(items(github.read_github(path, skip_bad=False))) == ["#1", "#2"]
    path.write_text("[]")
    assert github.read_github(path, skip_bad=False).items == []


@pytest.mark.parametrize("text", ["[1 2]", '[{"number": 1, "title": "a"}', "[NaN]", "[" * 100_000, '[{"a": 1}, oops]'])
def test_a_damaged_list_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "issues.json"
    path.write_text("\n" + text)
    with pytest.raises((UnreadableSource, BadLineFound)) as refused:
        github.read_github(path, skip_bad=False)
    assert refused.value.details["line"] == 2


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_names = st.sampled_from(
    [*FROM_GH, *FROM_REST, "blockedBy", "parent", "issueType", "type", "pull_request", "dueOn", "login", "name"]
)


@settings(max_examples=scaled(100, 5000))
@given(st.lists(_json | st.dictionaries(_names, _json | st.dictionaries(_names, _json, max_size=3)), max_size=4))
def test_any_json_ends_in_items_or_bad_lines(tmp_path_factory: pytest.TempPathFactory, entries: list[Any]) -> None:
    plan = read(tmp_path_factory.getbasetemp(), *entries, skip_bad=True)

    ids = [item.source_id for item in plan.items]
    assert len(ids) == len(set(ids))
    assert len(ids) + len(plan.skipped) + plan.left_out.total() == len(entries)
