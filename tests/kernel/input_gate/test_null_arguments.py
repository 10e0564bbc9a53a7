"""Null means "not given" for every optional argument of every operation, except where null has its own meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import fields

from groundplan.catalog import OPERATIONS
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.request import PROJECT_NAMES, parse_request
from groundplan.kernel.input_gate.types import Array, Choice, FieldType, Map, Number, Record, TaggedUnion, get_record
from groundplan.kernel.operations.registry import Operation
from reference.examples import EXAMPLES

AnyOperation = Operation[Any, Any]

# Optional arguments for which null is a value: it clears a field, or asks for what has none.
CONTENT = {"description", "narrative", "owner", "mechanism", "confidence", "risk_level", "review_by", "unit"}
CONTENT |= {"direction", "baseline", "baseline_verified", "target", "method", "frequency", "metadata"}
COLUMNS = {"value", "valueString", "valueNumber", "valueBoolean", "valueEnum", "valueJson", "options"}
COLUMNS |= {"fileId", "mimeType", "sizeBytes", "excerpt", "evidenceSnippet", "sourceId", "snippet"}
MEANINGFUL: dict[str, set[str]] = {
    "work.open": {"claim_ttl_minutes", "claim_minutes_people"},
    "work.update": {"state"},
    "work.query": {"claimed_by"},
    "work.outline": {"claimed_by"},
    "organization.configure": {"claim_ttl_minutes", "claim_minutes_people"},
    "knowledge.update": {"moleculeId"},
    "container.update": {"summary", "description", "priority", "featureId", "complexity", "tags", "relatedTo"},
    "context.edit": COLUMNS,
    "context.import": COLUMNS,
    "purpose.edit": CONTENT,
    **{f"purpose.{verb}": {"metadata"} for verb in ("check", "health", "analysis", "compliance")},
}


def attempt(operation: AnyOperation, arguments: dict[str, Any]) -> Any:
    try:
        return parse_request(arguments, operation.input)
    except Invalid as error:
        return error.to_dict()


def get_input(operation: AnyOperation) -> Record:
    shape: type[Struct] = operation.input
    return get_record(shape)


def build_value(plan: FieldType) -> Any:
    """A small value of a field type."""
    match plan:
        case Array():
            return [build_value(plan.item)]
        case Map():
            return {}
        case Record():
            tag = {plan.tag_field: plan.tag} if plan.tag_field else {}
            return tag | {wire: build_value(one.field_type) for wire, one in plan.arguments.items() if one.required}
        case TaggedUnion():
            return build_value(next(iter(plan.records.values())))
        case Choice():
            return plan.values[0]
        case Number():
            return next((bound for words, _, bound in plan.bounds if words == "at least"), 1)
    for part in plan.list_inner_types():
        return build_value(part)
    return True if plan.kinds == {"boolean"} else "abcd" * 8


def list_nulls(record: Record, seen: tuple[Record, ...] = ()) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each optional argument below a record, and two values of the record: without it, and with null."""
    base = build_value(record)
    for wire, argument in record.arguments.items():
        if not argument.required:
            yield wire, base, {**base, wire: None}
        for inner in (one for one in find_records(argument.field_type) if one not in (*seen, record)):
            is_list = isinstance(argument.field_type, Array) or any(
                isinstance(one, Array) for one in argument.field_type.list_inner_types()
            )
            for name, without, with_null in list_nulls(inner, (*seen, record)):
                pair = ([without], [with_null]) if is_list else (without, with_null)
                yield name, {**base, wire: pair[0]}, {**base, wire: pair[1]}


def find_records(plan: FieldType) -> Iterator[Record]:
    if isinstance(plan, Record):
        yield plan
        return
    for part in plan.list_inner_types():
        yield from find_records(part)


def test_null_is_as_if_an_optional_argument_was_not_given(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        given = EXAMPLES[operation.name]
        meaningful = MEANINGFUL.get(operation.name, set())
        optional = [one.encode_name for one in fields(operation.input) if not one.required]
        for name in optional:
            if name not in given and name not in meaningful:
                with subtests.test(operation.name, argument=name):
                    assert parse_request({**given, name: None}, operation.input) == parse_request(
                        given, operation.input
                    )


def test_null_is_as_if_an_optional_argument_was_not_given_at_any_depth(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        found = set()
        for name, without, with_null in list_nulls(get_input(operation)):
            if attempt(operation, without) != attempt(operation, with_null):
                found.add(name)
        with subtests.test(operation.name):
            assert found <= MEANINGFUL.get(operation.name, set())


def test_an_empty_text_that_is_no_value_is_as_if_an_optional_argument_was_not_given(subtests: pytest.Subtests) -> None:
    checked = set()
    for operation in OPERATIONS:
        given = EXAMPLES[operation.name]
        optional = [one.encode_name for one in fields(operation.input) if one.default is None]
        for name in optional:
            if name in given or get_input(operation).arguments[name].field_type.takes_empty_text:
                continue
            checked.add((operation.name, name))
            with subtests.test(operation.name, argument=name):
                assert parse_request({**given, name: ""}, operation.input) == parse_request(given, operation.input)
    assert {("work.next", "scope"), ("work.query", "cursor"), ("work.history", "cursor")} <= checked


def find_unions(plan: FieldType) -> Iterator[TaggedUnion]:
    if isinstance(plan, TaggedUnion):
        yield plan
    for part in plan.list_inner_types():
        yield from find_unions(part)


def test_null_for_an_argument_of_another_kind_of_item_is_as_if_it_was_not_given(subtests: pytest.Subtests) -> None:
    unions = [
        (operation.name, name, union)
        for operation in OPERATIONS
        for name, argument in get_input(operation).arguments.items()
        for union in find_unions(argument.field_type)
    ]
    assert {"work.restructure", "purpose.edit"} <= {operation for operation, *_ in unions}
    for operation, name, union in unions:
        every_name = {wire for record in union.records.values() for wire in record.arguments}
        for tag, record in union.records.items():
            item = build_value(record)
            nulls = dict.fromkeys(every_name - record.arguments.keys())
            with subtests.test(operation, argument=name, tag=tag):
                assert union.coerce({**nulls, **item}, ()) == union.coerce(item, ())
                with pytest.raises(Invalid):
                    union.coerce({**item, "no such argument": None}, ())
                for foreign in nulls:
                    with pytest.raises(Invalid):
                        union.coerce({**item, foreign: "x"}, ())


@pytest.mark.parametrize("empty", ["", " ", [], {}, False])
def test_what_only_another_kind_of_item_has_is_as_if_it_was_not_given_where_it_is_empty(empty: Any) -> None:
    shape: Any = OPERATIONS["purpose.edit"].input
    operations = get_record(shape).arguments["operations"].field_type
    item = {"op": "remove_node", "node": "G1"}

    assert operations.coerce([{**item, "mechanism": empty}], ()) == [item]
    with pytest.raises(Invalid):
        operations.coerce([{**item, "mechanism": "x"}], ())


def test_null_for_a_required_argument_is_refused(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        record = get_input(operation)
        for name in (
            wire for wire, one in record.arguments.items() if one.required and "null" not in one.field_type.kinds
        ):
            with subtests.test(operation.name, argument=name), pytest.raises(Invalid):
                parse_request({**EXAMPLES[operation.name], name: None}, operation.input)


def test_the_three_names_of_a_project_stand_for_each_other_in_every_operation(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        given = EXAMPLES[operation.name]
        own = next((name for name in PROJECT_NAMES if name in get_input(operation).arguments), None)
        if own is None:
            continue
        rest = {name: value for name, value in given.items() if name != own}
        expected = parse_request({**rest, own: "atlas"}, operation.input)
        for other in (name for name in PROJECT_NAMES if name != own):
            with subtests.test(operation.name, name=other):
                assert parse_request({**rest, other: "atlas"}, operation.input) == expected
                assert parse_request({**rest, other: "atlas", own: "atlas"}, operation.input) == expected
                assert parse_request({**rest, other: None, own: "atlas"}, operation.input) == expected
                assert parse_request({**rest, other: "atlas", own: None}, operation.input) == expected
                with pytest.raises(Invalid) as refused:
                    parse_request({**rest, other: "borealis", own: "atlas"}, operation.input)
                assert (refused.value.code, refused.value.details["field"]) in (
                    ("invalid_argument", own),
                    ("invalid_argument", other),
                )


def test_an_operation_without_a_project_argument_knows_none_of_its_names(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        if not set(PROJECT_NAMES) & get_input(operation).arguments.keys():
            with subtests.test(operation.name), pytest.raises(Invalid) as refused:
                parse_request({**EXAMPLES[operation.name], "scopeId": "atlas"}, operation.input)
            assert refused.value.code == "unknown_argument"
