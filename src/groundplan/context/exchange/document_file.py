"""The JSON file of a document of facts: write it, read it, and its limit."""

from __future__ import annotations

from typing import Any

import msgspec

from groundplan.context.exchange.document import ContextExport
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX, decode

DOCUMENT_BYTES_MAX = 64 << 20  # larger than a request: a run holds the facts of many calls
INDENT_CHARS = 2


def format_document(document: ContextExport) -> str:
    """Return a document as indented JSON. Import refuses it if it has more than `DOCUMENT_BYTES_MAX` bytes."""
    return format_json(encode(document))


def format_json(encoded: bytes) -> str:
    """Return JSON with indentation."""
    return msgspec.json.format(encoded, indent=INDENT_CHARS).decode("utf-8")


def decode_document(raw: bytes, label: str) -> Any:
    """Return the value of a document file, which errors call `label`.

    It has its own limits: it nests one level deeper than the calls that wrote its facts, and may be larger.

    Raises:
        Invalid: the content is not strict JSON, or too large.
    """
    return decode_file(raw, label, levels_above=-1, bytes_max=DOCUMENT_BYTES_MAX)


def decode_file(raw: bytes, label: str, *, levels_above: int = 0, bytes_max: int = BODY_BYTES_MAX) -> Any:
    """Return the value of a JSON file, which may begin with a byte order mark.

    Raises:
        Invalid: the content is not strict JSON, or too large.
    """
    try:
        return decode(raw.removeprefix(b"\xef\xbb\xbf"), levels_above=levels_above, bytes_max=bytes_max)
    except Invalid as error:
        sentence = error.message.replace("the request", label, 1)
        raise Invalid(sentence, code=error.code, **error.details) from None


def count_facts(document: ContextExport) -> dict[str, int]:
    """Return the number of facts in a document by kind."""
    return {
        "inputs": len(document.inputs_by_pointer),
        "constraints": len(document.constraints),
        "sources": len(document.sources_by_id),
        "artifacts": sum(map(len, document.artifacts_by_type.values())),
    }
