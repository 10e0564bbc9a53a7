"""The page `/v1/docs`: the OpenAPI document for people, written on the server and without any script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

FOLDER = Path(__file__).parent / "page"


class ArgumentLine(NamedTuple):
    """An argument as the page shows it."""

    name: str
    place: str  # path, query, body or header
    type: str
    is_required: bool
    description: str


class DocsSection(NamedTuple):
    """The operations of one tag."""

    name: str
    description: str
    operations: list[dict[str, Any]]


def render_page(document: Mapping[str, Any]) -> bytes:
    """Return the page of an OpenAPI document."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["mark_code"] = _mark_code
    page = environment.get_template("docs.html").render(
        info=document["info"],
        sections=[_build_section(document, tag) for tag in document["tags"]],
        problems=[
            (status, HTTPStatus(int(status)).phrase, response["description"])
            for name, response in document["components"]["responses"].items()
            for status in [name.removeprefix("Problem")]
        ],
    )
    return page.encode()


def _mark_code(text: str) -> Markup:
    """Return a text of the document with what stands between backticks as code."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 and index < len(parts) - 1 else part
        for index, part in enumerate(parts)
    )


def _build_section(document: Mapping[str, Any], tag: Mapping[str, Any]) -> DocsSection:
    operations = [
        {
            "id": operation["operationId"],
            "method": method.upper(),
            "path": path,
            "summary": operation["summary"],
            "description": operation["description"],
            "arguments": list(_list_arguments(document, operation)),
            "answer": _describe_answer(operation),
        }
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if tag["name"] in operation["tags"]
    ]
    return DocsSection(tag["name"], tag["description"], operations)


def _list_arguments(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[ArgumentLine]:
    for given in operation.get("parameters", ()):
        one = document["components"]["parameters"][given["$ref"].rpartition("/")[2]] if "$ref" in given else given
        schema = one["schema"] if "schema" in one else one["content"]["application/json"]["schema"]
        yield ArgumentLine(
            one["name"], one["in"], describe_schema(schema), one.get("required", False), one.get("description", "")
        )
    if body := operation.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        for name, one in schema["properties"].items():
            is_required = name in schema.get("required", ())
            yield ArgumentLine(name, "body", describe_schema(one), is_required, one.get("description", ""))


def describe_schema(schema: Mapping[str, Any]) -> str:
    """Return the type of a schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(describe_schema(option) for option in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    found = schema.get("type", "any")
    if found == "array":
        return f"array of {describe_schema(schema.get('items', {}))}"
    return " or ".join(found) if isinstance(found, list) else str(found)


def _describe_answer(operation: Mapping[str, Any]) -> str:
    status, response = next(iter(operation["responses"].items()))
    media_type, content = next(iter(response["content"].items()))
    described = describe_schema(content["schema"])
    return f"{status} {described}" if media_type == "application/json" else f"{status} {media_type}"
