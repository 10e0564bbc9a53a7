"""Metadata that carries the structure of a theory is found; metadata that only sounds like it is not."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.purpose.metadata_structure import (
    NAME_CHARS_MAX,
    NAMES_SHOWN_MAX,
    find_structure,
    format_names,
    remove_structure,
)

ID = "0191f3a0-7c1e-7b52-9d4e-3f2a6c8b1d05"

LINKS: list[tuple[dict[str, Any], str]] = [
    ({"parent_id": "G1"}, "parent_id"),
    ({"parentId": 0}, "parentId"),
    ({"Parent-Node-ID": ID}, "Parent-Node-ID"),
    ({"parent": "G1"}, "parent"),
    ({"parent": [ID]}, "parent"),
    ({"parent": {"name": "Health"}}, "parent"),
    ({"parent": [{"name": "Health"}]}, "parent"),
    ({"parent_key": {"key": "G1"}}, "parent_key"),
    ({"child_ids": ["a", "b"]}, "child_ids"),
    ({"layout": [{"x": 1}, {"parent_ref": "OC1"}]}, "layout.parent_ref"),
]
TREES: list[tuple[dict[str, Any], str]] = [
    ({"children": [{"title": "a", "children": []}]}, "children"),
    ({"children": ["OC1", "OC2"]}, "children"),
    ({"children": {"OC1": 1}}, "children"),
    ({"tree": {"title": "Health"}}, "tree"),
    ({"tree": {"Health": {"children": {}}}}, "tree"),
    ({"subtree": [{"nodeType": "OUTPUT"}]}, "subtree"),
    ({"nested": [{"name": "Wells", "id": ID}]}, "nested"),
    ({"children": [{"name": "a"}]}, "children"),
    ({"tree": [{"species": "oak"}]}, "tree"),
    ({"path": "/G1/OC1/OP1"}, "path"),
    ({"path": "G1.OC1"}, "path"),
    ({"path": "G1 -> OC1 → OP12"}, "path"),
    ({"path": f"{ID}/{ID.replace('-', '')}"}, "path"),
    ({"path": [{"title": "Health"}, {"title": "Water"}]}, "path"),
    ({"ancestry": [{"name": "Health"}]}, "ancestry"),
    ({"treePath": ["G1", "OC1"]}, "treePath"),
    ({"ancestors": ["G1"]}, "ancestors"),
    ({"parents": ["OC1", "OC2"]}, "parents"),
    ({"a": {"b": [{"path": "/G1"}]}}, "a.b.path"),
]
FREE: list[Any] = [
    None,
    {},
    [1],
    "parent_id",
    {"path": "docs/plan.md"},
    {"path": "/var/log/AC1.txt"},
    {"path": ""},
    {"path": {"lat": 1.5, "lon": 2.5}},
    {"path": [[1.5, 2.5]]},
    {"children": 3},
    {"children": []},
    {"children": ["girls", "boys"]},
    {"children": {"girls": {"under_5": 3}, "boys": {"under_5": 4}}},
    {"tree": {"species": "oak", "height_m": 3}},
    {"tree": "oak"},
    {"parent": "Mrs Smith"},
    {"parent": "teachers and parents"},
    {"parent": 2},
    {"parent": {}},
    {"parents": 120},
    {"parent_id": None},
    {"parent": True},
    {"parent_company": "G1"},
    {"views": ["G1"], "related": ["OC1"], "note": "its parent_id was G1"},
]


@pytest.mark.parametrize(("metadata", "name"), LINKS)
def test_a_link_to_a_parent_or_child_is_found_by_its_name(metadata: dict[str, Any], name: str) -> None:
    assert find_structure(metadata) == ([name], [])


@pytest.mark.parametrize(("metadata", "name"), TREES)
def test_a_tree_or_path_is_found_by_its_name_and_what_it_holds(metadata: dict[str, Any], name: str) -> None:
    assert find_structure(metadata) == ([], [name])


@pytest.mark.parametrize("metadata", FREE)
def test_metadata_that_holds_no_nodes_is_free(metadata: Any) -> None:
    assert find_structure(metadata) == ([], [])


@pytest.mark.parametrize("metadata", [metadata for metadata, _ in (*LINKS, *TREES)])
def test_what_is_removed_is_the_structure_and_nothing_else(metadata: dict[str, Any]) -> None:
    removed = remove_structure({**metadata, "kept": [{"note": "x", **metadata}]})

    assert find_structure(removed) == ([], [])
    assert removed["kept"][0]["note"] == "x"


@pytest.mark.parametrize("metadata", FREE)
def test_of_free_metadata_nothing_is_removed(metadata: Any) -> None:
    assert remove_structure(metadata) == metadata


def test_a_message_names_a_limited_number_of_names() -> None:
    assert format_names(["a", "b"]) == "'a', 'b'"
    assert format_names(["x"] * (NAMES_SHOWN_MAX + 2)).endswith("'x' and more")


def test_long_names_are_shortened_and_the_inner_one_is_kept() -> None:
    ((name,), _) = find_structure({"k" * 1000: {"outer": {"parent_id": "G1"}}})

    assert len(name) <= NAME_CHARS_MAX
    assert name.endswith("….outer.parent_id")


def test_no_more_names_are_kept_than_a_message_needs() -> None:
    metadata = [{f"n{number}": {"parent_id": 1, "path": "G1"}} for number in range(1000)]

    assert [len(names) for names in find_structure(metadata)] == [NAMES_SHOWN_MAX + 1] * 2
