"""The answer of an operation over HTTP: status, location, entity tag, and gzip for long ones."""

from __future__ import annotations

from typing import Any

from groundplan.surfaces.http.answers import COMPRESSED_BYTES_MIN, Answer, Headers, compress
from groundplan.surfaces.http.arguments import Arguments, RequestHead
from groundplan.surfaces.http.entity_tags import (
    build_tag,
    find_item_revision,
    find_revision,
    is_unchanged,
    mark_compressed,
    read_expected_revision,
)
from groundplan.surfaces.http.negotiation import GZIP_CODINGS, accepts
from groundplan.surfaces.http.problems import HttpProblem
from groundplan.surfaces.http.routes import Endpoint
from groundplan.surfaces.route_paths import PROJECT, fill_path

VARY = (b"vary", b"Accept-Encoding")


def build_answer(endpoint: Endpoint, head: RequestHead, arguments: Arguments, answer: Any, encoded: bytes) -> Answer:
    """Return the answer of an operation, of which `encoded` is the JSON.

    Raises:
        HttpProblem: a precondition of a read does not hold.
    """
    revision = find_revision(answer) if endpoint.route.item_of is None else find_item_revision(answer)
    tag = build_tag(revision, encoded if endpoint.reads else None)
    if endpoint.reads and tag is not None:
        _check_if_match(head, revision)
        if "if-none-match" in head.headers and is_unchanged(head.headers["if-none-match"], tag):
            return Answer(304, b"", [(b"etag", tag.encode()), VARY])
    headers: Headers = []
    status = 200
    if endpoint.route.location is not None:
        status = 201
        location = fill_path(endpoint.route.location, lambda name: _look_up(name, endpoint, arguments, answer))
        if "{" not in location:
            headers.append((b"location", location.encode()))
    if len(encoded) > COMPRESSED_BYTES_MIN:
        headers.append(VARY)
        if accepts(head.headers.get("accept-encoding", ""), GZIP_CODINGS):
            headers.append((b"content-encoding", b"gzip"))
            encoded = compress(encoded)
            tag = tag and mark_compressed(tag)
    if tag is not None:
        headers.append((b"etag", tag.encode()))
    return Answer(status, encoded, headers)


def _check_if_match(head: RequestHead, revision: int | None) -> None:
    if "if-match" in head.headers:
        expected = read_expected_revision(head.headers["if-match"])
        if expected is not None and expected != revision:
            raise HttpProblem(412, "precondition_failed", f"it is at revision {revision}, not {expected}")


def _look_up(name: str, endpoint: Endpoint, arguments: Arguments, answer: Any) -> Any:
    """Return a value for a location: a field of the answer by its dotted name, or a parameter of the path."""
    first, _, rest = name.partition(".")
    if name == PROJECT:
        return arguments.project
    if not rest:
        return endpoint.spell_parameter(name, arguments.values.get(name))
    inside = (
        [getattr(answer, field) for field in answer.__struct_fields__] if first == "*" else [getattr(answer, first)]
    )
    found = next((one for one in inside if isinstance(one, list) or hasattr(one, rest)), None)
    if isinstance(found, list):  # several created things have no common address
        found = found[0] if len(found) == 1 else None
    return getattr(found, rest, None)
