"""parse_request: how arguments become an operation's input, and the errors for wrong ones."""

from __future__ import annotations

import datetime as dt
import json
from enum import StrEnum
from typing import Annotated, Any, Literal, NewType

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.strict_json import DEPTH_MAX
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name

NodeId = NewType("NodeId", str)


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


class Node(Struct, forbid_unknown_fields=True, frozen=True):
    summary: Annotated[str, MaxBytes(40)]
    priority: Annotated[int, Meta(ge=1, le=5)] | None = None
    tags: Annotated[list[Annotated[str, Meta(min_length=1, max_length=4)]], Meta(max_length=3)] = []
    children: list[Node] = []


class Add(Struct, forbid_unknown_fields=True, tag_field="op", tag="add"):
    title: Name
    weight: float = 1.0


class Remove(Struct, forbid_unknown_fields=True, tag_field="op", tag="remove"):
    node: NodeId


class Request(Struct, forbid_unknown_fields=True, rename="camel"):
    project: Name
    nodes: list[Node] = []
    edits: list[Add | Remove] = []
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    ratio: Annotated[float, Meta(gt=0, lt=1)] | None = None
    is_ready: bool | None = None
    level: Level | None = None
    version: int | Literal["draft", "published"] | None = None
    size: Literal[1, 2, 3] = 1
    properties: dict[str, Any] = {}
    counts: dict[str, int] = {}
    labels: dict[str, Name] = {}
    value: Any = None
    note: str | UnsetType = UNSET
    count: int | UnsetType = UNSET
    amount: int | float | None = None
    either: str | list[str] | None = None
    code: Annotated[str, Meta(pattern="^[a-z]+$", max_length=8)] | None = None
    review_by: dt.date | None = None
    source_id: str | None = field(name="from", default=None)


class Open(Struct):
    a: int = 0


class HoldsOpen(Struct, forbid_unknown_fields=True):
    inner: Open | None = None


def request(**arguments: Any) -> Request:
    return parse_request({"project": "Apollo", **arguments}, Request)


def error_of(**arguments: Any) -> Invalid:
    with pytest.raises(Invalid) as caught:
        request(**arguments)
    return caught.value


def parse_error(arguments: Any) -> Invalid:
    with pytest.raises(Invalid) as caught:
        parse_request(arguments, Request)
    return caught.value


def test_plain_arguments_become_the_input_with_its_defaults() -> None:
    admitted = request(nodes=[{"summary": "Dig"}], isReady=False, **{"from": "n1"})

    assert admitted == Request(project="Apollo", nodes=[Node(summary="Dig")], is_ready=False, source_id="n1")


@pytest.mark.parametrize(
    ("name", "wrapped", "plain"),
    [
        ("limit", "3", 3),
        ("limit", " 3 ", 3),
        ("limit", "3.0", 3),
        ("ratio", "0.5", 0.5),
        ("isReady", "true", True),
        ("isReady", "false", False),
        ("isReady", "null", None),
        ("level", "null", None),
        ("version", "7", 7),
        ("version", "draft", "draft"),
        ("size", "2", 2),
        ("count", "-4", -4),
        ("amount", "1.5", 1.5),
        ("amount", "2", 2),
        ("nodes", '[{"summary": "Dig"}]', [{"summary": "Dig"}]),
        ("nodes", ['{"summary": "Dig", "priority": "2"}'], [{"summary": "Dig", "priority": 2}]),
        ("nodes", [{"summary": "Dig", "tags": '["a"]'}], [{"summary": "Dig", "tags": ["a"]}]),
        ("edits", '[{"op": "add", "title": "T", "weight": "2"}]', [{"op": "add", "title": "T", "weight": 2}]),
        ("properties", '{"a": "1"}', {"a": "1"}),
        ("counts", {"a": "1"}, {"a": 1}),
    ],
)
def test_what_a_client_sent_as_a_string_is_unwrapped(name: str, wrapped: Any, plain: Any) -> None:
    assert request(**{name: wrapped}) == request(**{name: plain})


@pytest.mark.parametrize("text", ["3", "true", "null", "[1]", '{"a": 1}', "NaN"])
def test_a_string_where_a_string_may_stand_is_never_touched(text: str) -> None:
    admitted = request(note=text, value=text, either=text, properties={"a": text}, nodes='[{"summary": "x"}]')

    assert (admitted.note, admitted.value, admitted.either, admitted.properties) == (
        text,
        text,
        text,
        {"a": text},
    )


def test_all_arguments_may_come_as_one_string() -> None:
    assert parse_request('{"project": "Apollo"}', Request) == request()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ('{"a": NaN}', "invalid_number"),
        ('{"a": 9007199254740993}', "invalid_number"),
        ('{"a": "\\u0000"}', "control_character"),
        ('{"a": "\\ud800"}', "invalid_text"),
        ("[" * 500_000, "too_deep"),
    ],
)
def test_a_string_is_unwrapped_by_the_rules_for_documents(text: str, code: str) -> None:
    refusal = error_of(properties=text)

    assert (refusal.code, refusal.details["field"]) == (code, "properties")


def test_what_was_wrapped_counts_towards_the_depth_of_the_request() -> None:
    def wrap(levels: int) -> dict[str, Any]:
        # The request and its properties take one level each, so two fewer are left inside.
        return {"properties": json.dumps({"deep": json.loads("[" * (levels - 2) + "]" * (levels - 2))})}

    request(**wrap(DEPTH_MAX - 1))
    request(**wrap(DEPTH_MAX))

    assert error_of(**wrap(DEPTH_MAX + 1)).code == "too_deep"


def test_an_unknown_argument_is_refused_with_the_nearest_known_name() -> None:
    refusal = parse_error({"projct": "Apollo"})

    assert refusal.code == "unknown_argument"
    assert refusal.message == "unknown argument 'projct'; did you mean 'project'?"
    assert refusal.details == {"field": "projct", "near": "project"}


def test_an_unknown_argument_is_refused_at_any_depth_and_inside_strings() -> None:
    nodes = [{"summary": "a"}, {"summary": "b"}, {"sumary": "c"}]
    expected = {"field": "nodes[2].sumary", "near": "summary"}

    assert error_of(nodes=nodes).details == expected
    assert error_of(nodes=json.dumps(nodes)).details == expected
    assert error_of(edits=[{"op": "add", "tite": "x"}]).details == {"field": "edits[0].tite", "near": "title"}


@pytest.mark.parametrize(("given_name", "near"), [("is_ready", "isReady"), ("IsReady", "isReady"), ("source_id", None)])
def test_names_are_the_ones_on_the_wire(given_name: str, near: str | None) -> None:
    refusal = error_of(**{given_name: None})

    assert (refusal.code, refusal.details.get("near")) == ("unknown_argument", near)


def test_an_unknown_argument_that_resembles_nothing_is_answered_with_all_names() -> None:
    refusal = error_of(zzz=1)

    assert "near" not in refusal.details
    assert "project" in refusal.message
    assert "reviewBy" in refusal.message


def test_a_missing_argument_is_named_with_its_place() -> None:
    assert parse_error({}).to_dict() == {
        "code": "missing_argument",
        "message": "project is missing; it must be a string",
        "details": {"field": "project"},
    }
    nested = error_of(nodes=[{"summary": "a", "children": [{}]}])
    assert (nested.code, nested.details["field"]) == ("missing_argument", "nodes[0].children[0].summary")


@pytest.mark.parametrize(
    ("name", "value", "place", "said"),
    [
        ("project", 3, "project", "a string"),
        ("limit", "many", "limit", "a whole number, at least 1 and at most 100"),
        ("limit", "", "limit", "a whole number"),
        ("limit", True, "limit", "not true"),
        ("limit", "true", "limit", "not the string 'true'"),
        ("limit", 3.5, "limit", "a whole number"),
        ("limit", "3.5", "limit", "a whole number"),
        ("count", 1e300, "count", "a whole number"),
        ("limit", 0, "limit", "at least 1"),
        ("limit", "101", "limit", "at most 100"),
        ("ratio", 1, "ratio", "less than 1"),
        ("ratio", True, "ratio", "a number"),
        ("isReady", 1, "isReady", "true or false"),
        ("isReady", "True", "isReady", "true or false"),
        ("level", "hihg", "level", "did you mean 'high'?"),
        ("level", "NaN", "level", "'low' or 'high'"),
        ("level", 3, "level", "'low' or 'high'"),
        ("version", "latest", "version", "a whole number, 'draft' or 'published'"),
        ("version", 1.5, "version", "a whole number"),
        ("size", 4, "size", "1, 2 or 3"),
        ("size", True, "size", "1, 2 or 3"),
        ("nodes", {}, "nodes", "an array"),
        ("nodes", "Dig", "nodes", "an array, not the string 'Dig'"),
        ("nodes", [[]], "nodes[0]", "an object"),
        ("nodes", [{"summary": None}], "nodes[0].summary", "a string, not null"),
        ("nodes", [{"summary": "a", "priority": 6}], "nodes[0].priority", "at most 5"),
        ("nodes", [{"summary": "a", "tags": ["a", ""]}], "nodes[0].tags[1]", "is empty"),
        ("nodes", [{"summary": "a", "tags": list("abcd")}], "nodes[0].tags", "at most 3 items, not 4"),
        ("edits", [{"op": "ad"}], "edits[0].op", "did you mean 'add'?"),
        ("edits", [{"op": 1}], "edits[0].op", "'add' or 'remove'"),
        ("edits", [1], "edits[0]", "an object with 'op' 'add' or 'remove'"),
        ("properties", [], "properties", "an object"),
        ("counts", {"a": "x"}, "counts.a", "a whole number"),
        ("labels", {"a": 1}, "labels.a", "a string"),
        ("either", 3, "either", "a string, an array or null"),
        ("code", "ABC", "code", "^[a-z]+$"),
        ("reviewBy", "soon", "reviewBy", "date"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place_and_what_is_allowed(
    name: str, value: Any, place: str, said: str
) -> None:
    refusal = error_of(**{name: value})

    assert (refusal.code, refusal.details["field"]) == ("invalid_argument", place)
    assert said in refusal.message


def test_a_tagged_object_without_its_tag_is_told_the_tags() -> None:
    refusal = error_of(edits=[{"title": "x"}])

    assert (refusal.code, refusal.details["field"]) == ("missing_argument", "edits[0].op")
    assert "'add' or 'remove'" in refusal.message


@pytest.mark.parametrize("arguments", [None, [], 3, "Apollo", "[]"])
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    refusal = parse_error(arguments)

    assert (refusal.code, refusal.details["field"]) == ("invalid_argument", "arguments")


def test_a_float_without_a_fraction_is_an_integer() -> None:
    admitted = request(limit=3.0, size=2.0, version=4.0)

    assert repr((admitted.limit, admitted.size, admitted.version)) == "(3, 2, 4)"


def test_allowed_values_and_limits_stand_in_the_details_too() -> None:
    assert error_of(level="x").details["allowed"] == ["low", "high"]
    assert error_of(limit=0).details["limit"] == 1
    assert error_of(limit=101).details["limit"] == 100


def test_an_input_type_that_would_drop_unknown_arguments_is_a_defect() -> None:
    for shape in (Open, HoldsOpen):
        with pytest.raises(TypeError, match="forbid_unknown_fields"):
            parse_request({}, shape)


def test_an_input_type_whose_markers_could_not_be_applied_is_a_defect() -> None:
    class Tuples(Struct, forbid_unknown_fields=True):
        names: tuple[Name, ...] = ()

    with pytest.raises(TypeError, match="use list"):
        parse_request({}, Tuples)


def test_text_that_was_never_inspected_is_still_refused_as_invalid() -> None:
    assert parse_error({"\ud800": 1}).code == "invalid_text"
    assert error_of(limit="\ud800").code == "invalid_text"


def test_a_long_or_odd_argument_is_not_echoed_whole() -> None:
    for refusal in (
        error_of(**{"x" * 10_000: 1}),
        error_of(limit="\u2028" * 10_000),
        error_of(level="y" * 10_000),
    ):
        assert len(json.dumps(refusal.to_dict())) < 1_500
        assert "\u2028" not in refusal.message


SCALARS = (
    st.none() | st.booleans() | st.integers(-9, 200) | st.floats(-2, 9) | st.text('adlow\u0301 \n[{3"}', max_size=6)
)
WIRE_NAMES = st.sampled_from(
    [*Request.__struct_encode_fields__, *Node.__struct_encode_fields__, "op", "title", "weight", "node", "x"]
)
JSON = st.recursive(
    SCALARS | st.sampled_from(["add", "remove", "draft", "low", "3", "null", "true", "[]", "{}", '["a"]']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WIRE_NAMES, inner, max_size=4),
    max_leaves=12,
)


def outcome(arguments: Any) -> Any:
    """Return the parsed input, or the code and the field of the error."""
    try:
        return parse_request(arguments, Request)
    except Invalid as refusal:
        encode(refusal.to_dict())
        return refusal.code, refusal.details["field"]


@given(JSON | st.dictionaries(WIRE_NAMES, JSON, max_size=6).map(lambda found: {"project": "Apollo", **found}))
def test_arbitrary_json_is_admitted_or_refused_and_nothing_else(arguments: Any) -> None:
    assert isinstance(outcome(arguments), Request | tuple)


NODES: st.SearchStrategy[dict[str, Any]] = st.deferred(
    lambda: st.fixed_dictionaries(
        {"summary": st.text("aä", max_size=25)},
        optional={
            "priority": st.integers(0, 6) | st.none(),
            "tags": st.lists(st.text("bö", max_size=5), max_size=4),
            "children": st.lists(NODES, max_size=2),
        },
    )
)
REQUESTS = st.fixed_dictionaries(
    {"project": st.text("xe\u0301 ", max_size=5)},
    optional={
        "nodes": st.lists(NODES, max_size=3),
        "limit": st.integers(0, 101) | st.sampled_from([2.0, 2.5]),
        "ratio": st.floats(0, 1) | st.none(),
        "isReady": st.booleans() | st.none(),
        "version": st.integers(0, 9) | st.sampled_from(["draft", "latest"]),
        "size": st.integers(0, 4),
        "properties": st.dictionaries(st.text("kü", max_size=3), SCALARS, max_size=3),
        "counts": st.dictionaries(st.text("kü", max_size=3), st.integers(0, 9), max_size=3),
        "edits": st.lists(
            st.fixed_dictionaries({"op": st.just("add"), "title": st.text("t ", max_size=3)})
            | st.fixed_dictionaries({"op": st.just("remove"), "node": st.text("n", max_size=3)}),
            max_size=2,
        ),
    },
)
WRAPPABLE = {"nodes", "limit", "ratio", "isReady", "version", "size", "properties", "counts", "edits"}
WRAPPABLE_INSIDE = {"priority", "tags", "children", "weight"}


def wrap(draw: st.DrawFn, value: Any, name: str = "") -> Any:
    if name not in ("properties", "counts"):
        if isinstance(value, dict):
            value = {key: wrap(draw, item, key) for key, item in value.items()}
        elif isinstance(value, list):
            value = [wrap(draw, item) for item in value]
    wrappable = name in WRAPPABLE | WRAPPABLE_INSIDE and not isinstance(value, str)
    return json.dumps(value) if wrappable and draw(st.booleans()) else value


@st.composite
def equivalent_requests(draw: st.DrawFn) -> tuple[Any, Any]:
    plain = draw(REQUESTS)
    return plain, wrap(draw, plain)


@given(equivalent_requests())
@example(({"project": "a", "limit": 1}, {"project": "a", "limit": "1"}))
def test_a_wrapped_request_is_admitted_or_refused_exactly_like_the_plain_one(both: tuple[Any, Any]) -> None:
    plain, with_strings = both

    assert outcome(with_strings) == outcome(plain)


def test_a_request_that_needs_nothing_is_taken_by_msgspec_alone() -> None:
    arguments = {"project": "Apollo", "nodes": [{"summary": "Dig", "priority": 2}]}

    assert parse_request(arguments, Request) == msgspec.convert(arguments, Request)


def test_a_choice_is_accepted_in_any_case_if_only_one_can_be_meant() -> None:
    class Letter(Struct, forbid_unknown_fields=True):
        level: Level
        form: Literal["A", "a", "Long"]

    assert parse_request({"level": "HIGH", "form": "LONG"}, Letter) == Letter(Level.HIGH, "Long")
    assert parse_request({"level": "low", "form": "a"}, Letter) == Letter(Level.LOW, "a")
    sent = {"project": "atlas", "version": "DRAFT", "level": "Low"}
    assert parse_request(sent, Request) == Request("atlas", version="draft", level=Level.LOW)
