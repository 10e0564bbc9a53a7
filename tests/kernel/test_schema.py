"""The JSON Schema of an operation's arguments."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, field

from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.operations.schema import CollapsedInSchema, build_json_schema, build_merged_schema


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


class Node(Struct, forbid_unknown_fields=True, rename="camel"):
    summary: Annotated[str, MaxBytes(4096)]
    parent_ref: str | None = None


class Add(Struct, forbid_unknown_fields=True, tag_field="op", tag="add"):
    title: Name
    why: str


class Remove(Struct, forbid_unknown_fields=True, tag_field="op", tag="remove"):
    node: str
    why: str


class Tree(Struct, forbid_unknown_fields=True):
    children: list[Tree] = []


def schema_of(hint: Any, *, default: Any = None) -> Any:
    """Return the schema of one optional field of that type."""
    shape = defstruct("Shape", [("it", hint, default)], forbid_unknown_fields=True)
    return build_json_schema(shape)["properties"]["it"]


def test_a_struct_is_an_object_with_wire_names_and_required_fields_in_order() -> None:
    class Request(Struct, forbid_unknown_fields=True, rename="camel"):
        scope_id: str
        limit: int = 20
        is_ready: bool | None = None
        source: str = field(name="from", default="a")

    assert build_json_schema(Request) == {
        "type": "object",
        "properties": {
            "scopeId": {"type": "string"},
            "limit": {"type": "integer"},
            "isReady": {"type": "boolean"},
            "from": {"type": "string"},
        },
        "required": ["scopeId"],
    }


def test_required_follows_the_declaration() -> None:
    class Request(Struct, forbid_unknown_fields=True, kw_only=True):
        zulu: str
        middle: str = ""
        alpha: str

    assert build_json_schema(Request)["required"] == ["zulu", "alpha"]


def test_a_struct_that_requires_nothing_says_nothing_about_it() -> None:
    class Request(Struct, forbid_unknown_fields=True):
        limit: int | None = None

    assert "required" not in build_json_schema(Request)


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (str, {"type": "string"}),
        (float, {"type": "number"}),
        (Any, {}),
        (int | None, {"type": "integer"}),
        (int | UnsetType, {"type": "integer"}),
        (list[str] | None | UnsetType, {"type": "array", "items": {"type": "string"}}),
        (list[Any], {"type": "array"}),
        (list, {"type": "array"}),
        (dict[str, Any], {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (int | str, {"type": ["integer", "string"]}),
        (int | Literal["draft"], {"anyOf": [{"type": "integer"}, {"enum": ["draft"]}]}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (Literal["a", None], {"enum": ["a"]}),
        (Literal[1, 2], {"enum": [1, 2]}),
        (Literal[1, "a"], {"enum": [1, "a"]}),
        (Level, {"enum": ["low", "high"]}),
        (dt.date | None, {"type": "string"}),
    ],
)
def test_a_type_is_rendered_small(hint: Any, expected: Any) -> None:
    assert schema_of(hint) == expected


def test_values_of_a_choice_stay_in_their_order() -> None:
    assert schema_of(Literal["z", "a", "m"])["enum"] == ["z", "a", "m"]
    assert schema_of(Level | None)["enum"] == ["low", "high"]


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (Annotated[int, Meta(ge=1, le=100)], {"type": "integer"}),
        (Annotated[float, Meta(gt=0, lt=1)] | None, {"type": "number"}),
        (Annotated[str, Meta(min_length=1, max_length=9, pattern="^a")], {"type": "string"}),
        (
            Annotated[list[Annotated[str, Meta(max_length=5)]], Meta(min_length=1, max_length=50)],
            {"type": "array", "items": {"type": "string"}},
        ),
        (Name, {"type": "string"}),
        (Annotated[str, MaxBytes(4096)] | None, {"type": "string"}),
    ],
)
def test_limits_are_left_to_the_refusals_that_name_them(hint: Any, expected: Any) -> None:
    assert schema_of(hint) == expected


@pytest.mark.parametrize(
    "hint", [Annotated[Node, CollapsedInSchema()], Annotated[Node, CollapsedInSchema()] | None | UnsetType]
)
def test_a_brief_field_is_an_object_of_which_the_reference_tells_the_rest(hint: Any) -> None:
    assert schema_of(hint) == {"type": "object"}


@pytest.mark.parametrize(
    "hint",
    [
        Annotated[int, Meta(description="how many")] | None,
        Annotated[int | None, Meta(description="how many")],
    ],
)
def test_only_a_field_that_is_described_has_a_description(hint: Any) -> None:
    assert schema_of(hint) == {"type": "integer", "description": "how many"}


@pytest.mark.parametrize(
    ("hint", "default"), [(int | None, None), (int | UnsetType, UNSET), (int, 20), (Level, Level.LOW), (bool, False)]
)
def test_what_a_field_is_when_left_out_stands_in_the_reference(hint: Any, default: Any) -> None:
    assert "default" not in schema_of(hint, default=default)


def test_what_is_inside_is_inlined() -> None:
    class Request(Struct, forbid_unknown_fields=True):
        nodes: list[Node]

    assert build_json_schema(Request) == {
        "type": "object",
        "properties": {
            "nodes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "summary": {"type": "string"},
                        "parentRef": {"type": "string"},
                    },
                    "required": ["summary"],
                },
            }
        },
        "required": ["nodes"],
    }


def test_structs_told_apart_by_a_tag_are_one_object_that_requires_what_all_require() -> None:
    assert schema_of(list[Add | Remove]) == {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "op": {"enum": ["add", "remove"]},
                "title": {"type": "string"},
                "why": {"type": "string"},
                "node": {"type": "string"},
            },
            "required": ["op", "why"],
        },
    }


def test_a_struct_with_a_tag_alone_shows_it() -> None:
    assert schema_of(Remove)["properties"]["op"] == {"const": "remove"}


def test_a_field_that_means_two_things_beside_two_tags_is_refused_by_name() -> None:
    class Other(Struct, forbid_unknown_fields=True, tag_field="op", tag="other"):
        node: int

    with pytest.raises(ValueError, match="'node' of 'other'"):
        schema_of(Remove | Other)


def test_a_type_that_contains_itself_is_refused_because_nothing_is_referenced() -> None:
    with pytest.raises(ValueError, match="Tree"):
        build_json_schema(Tree)


class Draft(Struct, forbid_unknown_fields=True):
    project: str
    source: int | None = None


class Publish(Struct, forbid_unknown_fields=True):
    project: str
    label: str
    expected_rev: int | None = None


class Clash(Struct, forbid_unknown_fields=True):
    project: int


class Selected(Struct, forbid_unknown_fields=True):
    operation: str


def test_a_tool_of_several_operations_takes_the_union_and_requires_what_all_require() -> None:
    assert build_merged_schema({"publish": Publish, "draft": Draft}) == {
        "type": "object",
        "properties": {
            "operation": {"enum": ["publish", "draft"]},
            "project": {"type": "string"},
            "label": {"type": "string"},
            "expected_rev": {"type": "integer"},
            "source": {"type": "integer"},
        },
        "required": ["operation", "project"],
    }


def test_the_selector_may_have_another_name() -> None:
    assert build_merged_schema({"A": Draft}, selector="gate")["required"] == ["gate", "project"]


def test_an_argument_that_means_two_things_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'project' of 'clash'"):
        build_merged_schema({"draft": Draft, "clash": Clash})


def test_an_argument_with_the_name_of_the_selector_is_refused() -> None:
    with pytest.raises(ValueError, match="'operation'"):
        build_merged_schema({"selected": Selected})


def test_the_selector_is_required_once_even_if_an_operation_declares_the_same() -> None:
    class Discard(Struct, forbid_unknown_fields=True):
        operation: Literal["discard"]

    assert build_merged_schema({"discard": Discard})["required"] == ["operation"]


def test_every_call_gives_a_schema_of_its_own() -> None:
    build_json_schema(Draft)["properties"]["project"]["type"] = "number"

    assert build_json_schema(Draft)["properties"]["project"] == {"type": "string"}
