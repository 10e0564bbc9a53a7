"""The reference page of REST: every route, what statuses mean, and the headers."""

from __future__ import annotations

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.http.openapi import PROBLEMS, get_operation_id
from groundplan.surfaces.http.routes import RouteTable
from groundplan.surfaces.vocabularies import PREFIX
from reference.operation_pages import PAGE_OF, format_page, format_table

HEADERS = (
    ("`Content-Type`", "request", "`application/json`, for every body. Other types are refused (415)."),
    ("`Accept`", "request", "`application/json` or a range that contains it; else 406."),
    ("`Accept-Encoding: gzip`", "request", "Answers of more than 1 KiB are compressed."),
    ("`Idempotency-Key`", "request", "The `op_id` of a write: the same request with the same key has one effect."),
    (
        "`If-Match`",
        "request",
        "The ETag that was read; 412 if the thing has changed since. It stands for `expected_rev` or `version`.",
    ),
    ("`If-None-Match`", "request", "The ETag of an answer; 304 if a read would give the same bytes."),
    (
        "`ETag`",
        "answer",
        '`"r42.9f86d081884c7d65"`: the revision, if the answer has one, and a hash of the answer to a read.',
    ),
    ("`Location`", "answer", "With 201: the address of what was created."),
    ("`Last-Event-ID`", "request", "Of a stream of events: the id of the last one that was received."),
    ("`Retry-After`", "answer", "With 503 and 429: the seconds to wait."),
    ("`Cache-Control`", "answer", "Always `private, no-store`."),
)


def build_http_page() -> str:
    """Return the page."""
    endpoints = RouteTable(OPERATIONS).endpoints
    rows = []
    for endpoint in endpoints:
        name = _find_documented(endpoint.operation.name)
        thing = name.partition(".")[0]
        link = f"{PAGE_OF.get(thing, thing)}.md#{name.replace('.', '')}"
        rows.append(
            (endpoint.route.method, f"`{PREFIX}{endpoint.route.path}`", f"[`{get_operation_id(endpoint)}`]({link})")
        )
    statuses = [(str(status), meaning) for status, meaning in PROBLEMS.items()]
    return format_page(
        "HTTP",
        "`groundplan serve` answers at `http://127.0.0.1:8321/v1` ([guide](../guides/rest.md)). `/v1/openapi.json` "
        "is the OpenAPI 3.1 document, and `/v1/docs` shows it to people.",
        "## Routes",
        "`{project}` is the id or the name of a project. Arguments that are not in the path stand in the query string "
        "of GET and DELETE, and in the JSON body of the other methods; each is given once. A list is repeated "
        '(`paths=a.py&paths=b.py`), and an object is written as JSON (`filter={"area":"north"}`). '
        "What an id names must be in the project of the path; else the answer is 404. GET never writes.",
        format_table(("Method", "Path", "Operation"), rows),
        "## Events",
        f"`GET {PREFIX}/projects/{{project}}/events` is a stream of server-sent events (`text/event-stream`): what "
        f"each write changed; `GET {PREFIX}/organization/events` is that of the organization. `Last-Event-ID`, or "
        "`?after=42.0`, goes on after an event "
        "([guide](../guides/live-events.md)).",
        "## Headers",
        format_table(("Header", "Of", "Meaning"), HEADERS),
        "## Errors",
        "An error is `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, and the `code` and "
        "`details` of [errors](errors.md). `details.next` has requests that help: method, path and body.",
        format_table(("Status", "Meaning"), statuses),
    )


def _find_documented(name: str) -> str:
    """Return the operation whose section describes an operation: itself, or the one that it is a variant of."""
    if name in OPERATIONS:
        return name
    return next(one.name for one in OPERATIONS if any(variant.name == name for variant in one.variants))
