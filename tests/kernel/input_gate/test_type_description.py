"""What an annotation means, told once for all who read it."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Annotated, Any, Literal, NewType

import pytest
from msgspec import Meta, Struct, UnsetType

from groundplan.kernel.input_gate.types import TypeKind, describe_type


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


class Node(Struct):
    children: list[Node] = []


@pytest.mark.parametrize(
    ("hint", "kind"),
    [
        (Any, TypeKind.ANY),
        (None.__class__, TypeKind.NULL),
        (bool, TypeKind.BOOLEAN),
        (int, TypeKind.INTEGER),
        (float, TypeKind.NUMBER),
        (str, TypeKind.STRING),
        (NewType("Key", str), TypeKind.STRING),
        (Literal["a", None], TypeKind.CHOICE),
        (Level, TypeKind.CHOICE),
        (list, TypeKind.ARRAY),
        (dict, TypeKind.MAP),
        (Node, TypeKind.STRUCT),
        (int | str, TypeKind.UNION),
        (dt.date, TypeKind.OTHER),
    ],
)
def test_an_annotation_has_one_kind(hint: Any, kind: TypeKind) -> None:
    assert describe_type(hint).kind is kind


def test_metadata_stays_with_its_level_and_the_outermost_is_last() -> None:
    inner, outer, of_item = Meta(min_length=1), Meta(max_length=5), Meta(max_length=9)
    described = describe_type(Annotated[Annotated[list[Annotated[str, of_item]], inner], outer])

    assert described.extras == (inner, outer)
    assert described.item is not None
    assert described.item.extras == (of_item,)


def test_a_union_has_no_unset_among_its_options_and_can_be_read_without_null() -> None:
    described = describe_type(int | None | UnsetType)

    assert [option.kind for option in described.options] == [TypeKind.INTEGER, TypeKind.NULL]
    assert [option.kind for option in described.options_without_null] == [TypeKind.INTEGER]


def test_metadata_that_cannot_be_hashed_is_no_hindrance() -> None:
    described = describe_type(Annotated[str | int, Meta(extra_json_schema={"type": ["string"]})] | None)

    assert [option.kind for option in described.options] == [TypeKind.UNION, TypeKind.NULL]


def test_values_of_a_choice_keep_their_order() -> None:
    assert describe_type(Literal["z", "a"]).choices == ("z", "a")
    assert describe_type(Level).choices == ("low", "high")


@pytest.mark.parametrize("hint", [set[int], tuple[int, ...]])
def test_a_container_other_than_list_and_dict_is_refused(hint: Any) -> None:
    with pytest.raises(TypeError, match="use list or dict"):
        describe_type(hint)
