"""Every operation is reached over HTTP, and its answer is what is documented; tests/access asks as everybody."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.http.openapi import build_openapi, get_operation_id
from groundplan.surfaces.http.routes import RouteTable
from tests.access.examples import ROWS, example
from tests.access.test_matrix import (
    OF_A_PROJECT,
    PEOPLE,
    creates_project,
    make_databases,
    placeholder_values,
    populate,
    populate_with_purpose,
    without_names,
)
from tests.engines import Engine, fill_once
from tests.surfaces.http.client import HttpClient, Reply

DOCUMENT = "urn:openapi"
# Whose request succeeds where Ada's does not: the last owner of a project cannot leave.
ACTORS = {"organization.leave": "ben"}


def send(http: HttpClient, row: str, who: str, named: dict[str, str]) -> Reply:
    """Send the example of a row; a variant with a route of its own is asked for by that."""
    handled, requested = ROWS[row].handled, ROWS[row].requested
    name = handled.name if handled.http else requested.name
    in_project = ROWS[row].in_project and not creates_project(row)
    return http.call(name, example(row, named), project=named["project"] if in_project else None, actor=who)


@cache
def document() -> dict[str, Any]:
    return build_openapi(RouteTable(OPERATIONS))


@cache
def validators() -> dict[tuple[str, int], Draft202012Validator]:
    """Return the schema of each answer, by operation and status."""
    resource = DRAFT202012.create_resource(document())
    none: Registry[Any] = Registry()
    registry = none.with_resource(DOCUMENT, resource)
    found = {}
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            status = "201" if "201" in operation["responses"] else "200"
            where = "/".join(
                part.replace("~", "~0").replace("/", "~1")
                for part in ("paths", path, method, "responses", status, "content", "application/json", "schema")
            )
            schema = {"$ref": f"{DOCUMENT}#/{where}".replace("{", "%7B").replace("}", "%7D")}
            found[operation["operationId"], int(status)] = Draft202012Validator(schema, registry=registry)
    return found


def find_breaks(row: str, reply: Reply) -> list[str]:
    """Return where an answer differs from the document."""
    handled, requested = ROWS[row].handled, ROWS[row].requested
    name = (handled if handled.http else requested).name
    suffix = "" if ROWS[row].in_project or f"{name}_everywhere" not in operation_ids() else "_everywhere"
    validator = validators().get((name + suffix, reply.status))
    if validator is None:
        return [f"status {reply.status} is not documented: {reply.body.decode()[:300]}"]
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(reply.json)]


@cache
def operation_ids() -> set[str]:
    return {get_operation_id(endpoint) for endpoint in RouteTable(OPERATIONS).endpoints}


def collect_answers(engine: Engine, folder: Path) -> Iterator[tuple[str, Reply]]:
    """Yield the answer to each example; one that comes too late in a used database is sent again in a fresh one."""
    for fill, of_purpose in ((populate, False), (populate_with_purpose, True)):
        rows = [row for row in ROWS if row.startswith("purpose.") is of_purpose]
        yield from answers_in(make_databases(engine, folder, fill), rows)


def answers_in(worlds: Iterator[Engine], rows: list[str]) -> Iterator[tuple[str, Reply]]:
    world = next(worlds)
    http = HttpClient(world.store, PEOPLE.__getitem__)
    for row in rows:
        who = ACTORS.get(row, "ada")
        reply = send(http, row, who, placeholder_values(world, "atlas", who))
        if reply.status not in (200, 201):
            http.close()
            world = next(worlds)
            http = HttpClient(world.store, PEOPLE.__getitem__)
            reply = send(http, row, who, placeholder_values(world, "atlas", who))
        yield row, reply
    http.close()


@pytest.mark.slow
def test_every_operation_answers_as_documented(engine: Engine, tmp_path: Path) -> None:
    wrong = {row: breaks for row, reply in collect_answers(engine, tmp_path) if (breaks := find_breaks(row, reply))}

    assert not wrong


@pytest.fixture
def everybody(engine: Engine) -> Iterator[HttpClient]:
    fill_once(engine, populate_with_purpose)
    with HttpClient(engine.store, PEOPLE.__getitem__) as client:
        yield client


@pytest.mark.parametrize("who", ["finn", "mallory"])
def test_a_stranger_gets_the_same_bytes_and_headers_for_hidden_and_for_missing(
    everybody: HttpClient, engine: Engine, who: str
) -> None:
    hidden, missing = (placeholder_values(engine, project, who) for project in ("atlas", "sumac"))

    def answer(row: str, named: dict[str, str]) -> tuple[Any, ...]:
        reply = send(everybody, row, who, named)
        headers = {name: value for name, value in reply.headers.items() if name != "content-length"}
        return reply.status, headers, without_names(reply.body, named)

    told = {row: (answer(row, hidden), answer(row, missing)) for row in OF_A_PROJECT}
    assert not {row: answers for row, answers in told.items() if answers[0] != answers[1]}
