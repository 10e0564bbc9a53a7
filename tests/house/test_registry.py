"""What every registered operation must have."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from groundplan.argument_descriptions import SHARED, TABLES, describe_argument
from groundplan.catalog import OPERATIONS
from groundplan.commands import COMMANDS
from groundplan.kernel.access import GRANTS, ORGANIZATION_GRANTS, Permission
from groundplan.kernel.operations.registry import Effect
from groundplan.surfaces.http.openapi import get_operation_id
from groundplan.surfaces.http.routes import RouteTable
from groundplan.surfaces.vocabularies import PROJECT, get_project_field, list_parameters
from reference.arguments import list_arguments
from reference.errors import load_error_classes
from reference.examples import EXAMPLES
from reference.files import REFERENCE
from reference.operation_pages import list_declared_errors

SUMMARY_CHARS_MAX = 100
READ_BY_POST = {"purpose.compliance"}  # the proposed operation is too long for an address
PROJECT_OR_NOT = {"container.create"}  # a container is created in a project, or it is one


def test_an_operation_has_a_name_and_one_short_sentence(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            assert re.fullmatch(r"[a-z]+(\.[a-z_]+)+", operation.name)
            assert re.fullmatch(r"[A-Z][^\n]*\.", operation.summary)
            assert len(operation.summary) <= SUMMARY_CHARS_MAX


def test_an_operation_needs_a_permission_of_the_place_it_works_on(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            expected = ORGANIZATION_GRANTS if operation.project is None else GRANTS.keys()
            assert operation.permission in expected


def test_an_operation_stands_in_the_reference_with_an_example(subtests: pytest.Subtests) -> None:
    pages = [path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md")]
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            assert sum(f"\n## {operation.name}\n" in page for page in pages) == 1, "run `make contracts`"
            assert operation.name in EXAMPLES, "add one to reference/examples"


def test_every_argument_is_explained(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            for one in list_arguments(operation.input):
                assert describe_argument(operation.name, one.path).endswith("."), one.path


def test_every_description_is_that_of_an_argument() -> None:
    used: dict[int, set[str]] = {id(SHARED): set()}
    for operation in OPERATIONS:
        thing = operation.name.partition(".")[0]
        for argument in list_arguments(operation.input):
            keys = (f"{operation.name}/{argument.path}", f"{thing}/{argument.path}", argument.path)
            table, key = next((table, key) for key in keys for table in (TABLES[thing], SHARED) if key in table)
            used.setdefault(id(table), set()).add(key)
    tables = {id(table): table for table in (*TABLES.values(), SHARED)}
    assert not [key for name, table in tables.items() for key in table.keys() - used[name]]


def test_a_description_names_no_option() -> None:
    assert not [key for table in (*TABLES.values(), SHARED) for key, text in table.items() if "--" in text]


def test_an_argument_that_nobody_knows_is_refused(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            assert operation.input.__struct_config__.forbid_unknown_fields


def test_every_change_can_be_sent_twice_without_a_second_effect(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            takes_op_id = "op_id" in operation.input.__struct_fields__
            assert takes_op_id == any(one.effect is not Effect.READ for one in (operation, *operation.variants))


def test_what_an_operation_may_become_takes_the_same_request(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            assert all(other.input is operation.input for other in operation.variants)
            assert bool(operation.variants) == (
                operation.choose_variant is not None or operation.when_project_missing is not None
            )
            for one in (operation, *operation.variants):
                assert one.when_project_missing is None or (
                    one.project is not None and one.when_project_missing in operation.variants
                )


def test_the_refusals_an_operation_names_exist(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            assert {name for name, _ in list_declared_errors(operation)} <= load_error_classes().keys()


def test_no_two_operations_are_reached_the_same_way() -> None:
    tools = [(one.tool.name, one.tool.selector) for one in OPERATIONS if one.tool]
    names = [name for entry in COMMANDS for name in (entry.name, *entry.synonyms)]
    assert len(set(tools)) == len(tools)
    assert len(set(names)) == len(names)


def test_every_command_is_of_an_operation_or_a_function() -> None:
    assert {entry.operation for entry in COMMANDS} - {""} <= set(OPERATIONS.names)
    assert not [entry.name for entry in COMMANDS if not (entry.operation or entry.run)]


def test_every_operation_has_a_route_and_no_two_have_the_same() -> None:
    assert not [one.name for one in OPERATIONS if one.http is None]
    table = RouteTable(OPERATIONS)  # raises if two are the same
    ids = [get_operation_id(endpoint) for endpoint in table.endpoints]
    assert len(set(ids)) == len(ids)


def test_a_route_is_plain_and_its_parameters_are_input_fields(subtests: pytest.Subtests) -> None:
    for endpoint in RouteTable(OPERATIONS).endpoints:
        route, names = endpoint.route, endpoint.operation.input.__struct_encode_fields__
        with subtests.test(f"{route.method} {route.path}"):
            assert re.fullmatch(r"(/([a-z]+(-[a-z]+)*|\{\w+\}s?))+", route.path)
            assert {*list_parameters(route.path)} - {PROJECT} <= endpoint.item_fields.keys()
            assert {*route.fixed, *route.names, *route.without} <= {*names}
            assert route.item_of is None or route.item_of in names
            assert get_project_field(endpoint.operation.input) or endpoint.has_project or not endpoint.operation.project


def test_a_route_is_below_a_project_unless_the_operation_works_without_one(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            places = {route.path.startswith("/projects/{project}") for route in operation.routes}
            if operation.without_project or operation.name in PROJECT_OR_NOT:
                assert places == {True, False}
            else:
                assert places == {operation.project is not None}


def test_only_what_reads_is_a_get_and_nothing_else_is(subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.name):
            reads = operation.effect is Effect.READ and operation.name not in READ_BY_POST
            assert {route.method == "GET" for route in operation.routes} == {reads}


def test_a_permission_is_either_of_a_project_or_of_the_organization() -> None:
    assert GRANTS.keys() | ORGANIZATION_GRANTS.keys() == set(Permission)
    assert not GRANTS.keys() & ORGANIZATION_GRANTS.keys()


def test_every_error_has_a_code_of_its_own_form_and_says_what_it_means() -> None:
    for name, found in load_error_classes().items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", found.code), name
        assert (found.__doc__ or "").rstrip().endswith("."), name


def test_an_error_code_has_one_class() -> None:
    codes = Counter(found.code for found in load_error_classes().values() if "code" in vars(found))
    assert [code for code, count in codes.items() if count > 1] == []
