"""The routes that describe the API: the OpenAPI document, and `/v1/docs`, which shows it. They need no actor.

The page is written on the server and has no script.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.requests import HTTPConnection

from groundplan.kernel.answers import encode
from groundplan.surfaces.http.answers import (
    COMPRESSED_BYTES_MIN,
    GZIP_CODINGS,
    JSON_TYPE,
    Answer,
    Headers,
    accepts,
    compress,
)
from groundplan.surfaces.http.routes import RouteTable

FOLDER = Path(__file__).parent / "page"
# Nothing but the style sheet of this server is loaded, and no other page may show this one in a frame.
CONTENT_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
POLICY_HEADERS: Headers = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
]


class ApiDescription:
    """The description of a table of routes. Each part is built on the first request."""

    def __init__(self, table: RouteTable) -> None:
        self._table = table

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        from groundplan.surfaces.http.openapi import build_openapi  # here, because few processes are asked for it

        return build_openapi(self._table)

    @cached_property
    def encoded_document(self) -> bytes:
        """The OpenAPI document as JSON."""
        return encode(self.document)

    @cached_property
    def page(self) -> bytes:
        """The page that shows the document to people."""
        return render_page(self.document)

    async def answer_document(self, scope: Any, *_given: Any) -> Answer:
        """Return the OpenAPI document."""
        return _answer_compressed(scope, self.encoded_document, JSON_TYPE)

    async def answer_page(self, scope: Any, *_given: Any) -> Answer:
        """Return the page that shows the document to people."""
        return _answer_compressed(scope, self.page, b"text/html; charset=utf-8", POLICY_HEADERS)

    async def answer_style(self, scope: Any, *_given: Any) -> Answer:
        """Return the style sheet of the page."""
        return _answer_compressed(scope, (FOLDER / "docs.css").read_bytes(), b"text/css; charset=utf-8")


def _answer_compressed(scope: Any, body: bytes, content_type: bytes, headers: Headers | None = None) -> Answer:
    sent = list(headers or ())
    if len(body) > COMPRESSED_BYTES_MIN:
        sent.append((b"vary", b"Accept-Encoding"))
        if accepts(HTTPConnection(scope).headers.get("accept-encoding", ""), GZIP_CODINGS):
            sent.append((b"content-encoding", b"gzip"))
            body = compress(body)
    return Answer(200, body, sent, content_type)


# --- The page ---------------------------------------------------------------------------------------------------------


class ArgumentLine(NamedTuple):
    """An argument as a line of the page."""

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
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # here, because it slows down the start

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
    """Return a text of the document as HTML, with code elements in place of backticks."""
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
        described = document["components"]["parameters"][given["$ref"].rpartition("/")[2]] if "$ref" in given else given
        schema = described["schema"] if "schema" in described else described["content"]["application/json"]["schema"]
        yield ArgumentLine(
            described["name"],
            described["in"],
            describe_schema(schema),
            described.get("required", False),
            described.get("description", ""),
        )
    if body := operation.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        for name, described in schema["properties"].items():
            is_required = name in schema.get("required", ())
            yield ArgumentLine(name, "body", describe_schema(described), is_required, described.get("description", ""))


def describe_schema(schema: Mapping[str, Any]) -> str:
    """Return the type of a schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(describe_schema(option) for option in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    types = schema.get("type", "any")
    if types == "array":
        return f"array of {describe_schema(schema.get('items', {}))}"
    return " or ".join(types) if isinstance(types, list) else str(types)


def _describe_answer(operation: Mapping[str, Any]) -> str:
    status, response = next(iter(operation["responses"].items()))
    media_type, content = next(iter(response["content"].items()))
    described = describe_schema(content["schema"])
    return f"{status} {described}" if media_type == "application/json" else f"{status} {media_type}"
