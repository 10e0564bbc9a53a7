"""Field types and limits that requests about sections share, and their parsers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, NoReturn

from msgspec import Meta

from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text
from groundplan.work.containers.requests import parse_list
from groundplan.work.requests import SECTIONS_MAX

BULK_MAX = 50  # in one call
USAGE_BYTES_MAX = 4_096
CONTENT_BYTES_MAX = 32_768
ID_CHARS_MAX = 64  # longer than an id, so that a longer text gets the error about UUIDs

Title = Name
Usage = Annotated[str, MaxBytes(USAGE_BYTES_MAX)]
Content = Annotated[str, MaxBytes(CONTENT_BYTES_MAX)]
Ordinal = Annotated[int, Meta(ge=0, le=2**31)]


class ContentFormat(StrEnum):
    """The format of the content of a section."""

    PLAIN_TEXT = "PLAIN_TEXT"
    MARKDOWN = "MARKDOWN"
    JSON = "JSON"
    CODE = "CODE"


def parse_id(text: str, path: ArgumentPath) -> str:
    """Parse an id into its canonical spelling; dashes are optional.

    Raises:
        Invalid: it is not a UUID.
    """
    found = parse_uuid(text.strip())
    if found is None:
        wrong = f"must be a UUID, not {quote_text(text)}"
        raise invalid_argument(path, wrong, code="invalid_id", next_steps=NextStep("section.list", "lists ids"))
    return found


def parse_ids(values: Sequence[str] | str, field: str) -> list[str]:
    """Parse ids into their canonical spelling, without duplicates, in the given order.

    Raises:
        Invalid: one is not a UUID, or there are more than a container can have.
    """
    texts = parse_list(values, (field,), items_max=SECTIONS_MAX, chars_max=ID_CHARS_MAX)
    return list(dict.fromkeys(parse_id(text, (field, index)) for index, text in enumerate(texts)))


def refuse_malformed(content: str, content_format: ContentFormat, path: ArgumentPath) -> None:
    """Reject content in the format JSON that is not JSON; empty content is allowed.

    Raises:
        Invalid: the content is not JSON.
    """
    if content_format is not ContentFormat.JSON or not content:
        return
    try:
        _JSON.decode(content)
    except json.JSONDecodeError as error:
        wrong = f"is not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        raise invalid_argument(
            path, f"{wrong}; correct it, or choose another contentFormat", code="invalid_json"
        ) from None
    except (ValueError, RecursionError):
        wrong = "is not JSON; correct it, or choose another contentFormat"
        raise invalid_argument(path, wrong, code="invalid_json") from None


def _reject_constant(literal: str) -> NoReturn:
    raise ValueError(literal)  # NaN and Infinity, which Python accepts but JSON does not


# Numbers stay strings, so that long ones are cheap and none is out of range.
_JSON: Any = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_reject_constant)
