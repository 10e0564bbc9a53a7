"""The arguments of a request in its path, query string, body and headers. Each may be given once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, unquote_plus

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.request import PROJECT_NAMES
from groundplan.kernel.input_gate.strict_json import decode, validate_value
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.input_gate.types import TypeKind
from groundplan.kernel.wording import describe_value, quote_text
from groundplan.surfaces.http.answers import HttpProblem, read_expected_revision
from groundplan.surfaces.http.routes import Endpoint
from groundplan.surfaces.vocabularies import PROJECT

PARAMETERS_MAX = 1000
INTEGER_DIGITS = 15  # every number with so many is within the limits
BOOLEANS = {"true": True, "false": False}
JSON = "application/json"


class RequestHead(NamedTuple):
    """The method, the query string and the headers of a request."""

    method: str
    query: bytes
    headers: Mapping[str, str]  # by name in lower case


class Arguments(NamedTuple):
    """The arguments of an operation, and the project in the path."""

    values: dict[str, Any]
    project: str | None
    has_precondition: bool  # the revision comes from If-Match


def split_path(raw_path: bytes) -> list[str]:
    """Return the decoded segments of a path."""
    if not raw_path.isascii():
        raise _invalid_address()
    segments = raw_path.decode().split("/")[1:]
    return [_decode_text(part, plus=False) for part in segments] if b"%" in raw_path else segments


def collect_arguments(endpoint: Endpoint, in_path: Mapping[str, Any], head: RequestHead, body: bytes) -> Arguments:
    """Return the arguments of a request."""
    values: dict[str, Any] = dict(endpoint.route.fixed)
    project = in_path.get(PROJECT)
    for name, value in in_path.items():
        if name == PROJECT:
            project = apply_marker(NormalizedName(), value, (PROJECT,))
            if endpoint.project_field is not None:
                values[endpoint.project_field] = project
        else:
            values[name] = value
    if head.query:
        _add(values, endpoint, _read_query(endpoint, head.query))
    if not all(text.isprintable() for text in values.values() if isinstance(text, str)):
        validate_value(values)
    if body:
        _add(values, endpoint, _read_body(endpoint, head, body))
    has_precondition = _add_headers(values, endpoint, head)
    return Arguments(_nest_item(values, endpoint), project, has_precondition)


def _add(values: dict[str, Any], endpoint: Endpoint, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if name in values or (endpoint.has_project and name in PROJECT_NAMES and endpoint.project_field):
            raise _duplicate_argument(name)
        values[name] = value


def _duplicate_argument(name: str) -> Invalid:
    return Invalid(
        f"the argument {quote_text(name)} is given twice: leave out one of path, query string, body and header",
        code="duplicate_argument",
        field=name,
    )


def _read_query(endpoint: Endpoint, query: bytes) -> dict[str, Any]:
    texts_by_name: dict[str, list[str]] = {}
    if not query.isascii():
        raise _invalid_address()
    pairs = query.decode().split("&")
    if len(pairs) > PARAMETERS_MAX:
        raise Invalid(
            f"the query string has {len(pairs)} parameters, the limit is {PARAMETERS_MAX}; send fewer",
            code="too_many",
            limit=PARAMETERS_MAX,
        )
    for pair in pairs:
        name, _, value = pair.partition("=")
        if pair:
            texts_by_name.setdefault(_decode_text(name), []).append(_decode_text(value))
    values: dict[str, Any] = {}
    for name, texts in texts_by_name.items():
        if len(texts) > 1 and name not in endpoint.lists:
            raise _duplicate_argument(name)
        # One text may be an array in JSON, which the input gate decodes.
        is_list = len(texts) > 1 or (name in endpoint.arrays and not texts[0].startswith("["))
        values[name] = texts if is_list else _read_plain(endpoint.plain.get(name), texts[0])
    if not all(text.isprintable() for name, texts in texts_by_name.items() for text in (name, *texts)):
        validate_value(values)
    return values


def _read_plain(kind: TypeKind | None, text: str) -> Any:
    """Return a number or a boolean if the type of a field needs one; the input gate handles any other text."""
    if kind is TypeKind.INTEGER and len(text) <= INTEGER_DIGITS and text.isascii() and text.isdigit():
        return int(text) if text[0] != "0" or text == "0" else text
    return BOOLEANS.get(text, text) if kind is TypeKind.BOOLEAN else text


def _decode_text(text: str, *, plus: bool = True) -> str:
    try:
        return (unquote_plus if plus else unquote)(text, errors="strict")
    except UnicodeDecodeError:
        raise _invalid_address() from None


def _invalid_address() -> Invalid:
    return Invalid("the address is not UTF-8; encode every character as UTF-8, then as %XX", code="invalid_utf8")


def check_content_type(head: RequestHead) -> None:
    """Refuse a body that is compressed or is not JSON in UTF-8."""
    given = head.headers.get("content-type", "")
    name, _, parameters = given.partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if name.strip().lower() != JSON or charset not in ("", "utf-8", "utf8"):
        raise HttpProblem(
            415,
            "unsupported_media_type",
            f"the body must be {JSON} in UTF-8, not {quote_text(given)}; set Content-Type: {JSON}",
            headers={"accept-post": JSON, "accept-patch": JSON},
        )
    if head.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise HttpProblem(415, "unsupported_media_type", "the body must not be compressed; leave out Content-Encoding")


def _read_body(endpoint: Endpoint, head: RequestHead, body: bytes) -> dict[str, Any]:
    if not endpoint.takes_body:
        raise Invalid(f"{head.method} has no body; send arguments in the query string", code="unexpected_body")
    check_content_type(head)
    value = decode(body)
    if not isinstance(value, dict):
        raise Invalid(f"the body must be an object, not {describe_value(value)}", code="invalid_body")
    return {str(endpoint.wire_names.get(name, name)): given for name, given in value.items()}


def _add_headers(values: dict[str, Any], endpoint: Endpoint, head: RequestHead) -> bool:
    """Add the arguments in headers. Return True if the revision is one of them."""
    if endpoint.reads:
        return False
    if (key := head.headers.get("idempotency-key")) is not None and endpoint.takes_op_id:
        if "op_id" in values:
            raise _duplicate_argument("op_id")
        # A quoted string as in the draft of the header's specification, or bare as most clients send it.
        values["op_id"] = key[1:-1] if len(key) > 2 and key[0] == key[-1] == '"' else key
        validate_value(values["op_id"])
    if (if_match := head.headers.get("if-match")) is None:
        return False
    revision = read_expected_revision(if_match)
    if revision is None:
        return False
    if endpoint.revision_field is None:
        raise HttpProblem(
            400, "unused_precondition", "this operation compares no revision; leave out If-Match, or send If-Match: *"
        )
    if endpoint.revision_field in values:
        raise _duplicate_argument(endpoint.revision_field)
    values[endpoint.revision_field] = revision
    return True


def _nest_item(values: dict[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """Return the arguments of an operation on a list, made from the arguments for its only item."""
    if endpoint.route.item_of is None:
        return values
    item = {name: value for name, value in values.items() if name not in endpoint.shared_fields}
    return {
        endpoint.route.item_of: [item],
        **{name: value for name, value in values.items() if name in endpoint.shared_fields},
    }
