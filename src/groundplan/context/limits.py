"""Limits of the context slice: lengths of texts, and numbers of rows in one call."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from groundplan.kernel.input_gate.text_limits import MaxBytes

POINTER_CHARS_MAX = 1_024
WORD_CHARS_MAX = 255
TITLE_BYTES_MAX = 1_024
URI_BYTES_MAX = 4_096
VALUE_BYTES_MAX = 32_768
TEXT_BYTES_MAX = 16_384  # excerpts and metadata: small enough to fit into an answer together with a value
SNIPPET_BYTES_MAX = 8_192
OPTIONS_BYTES_MAX = 8_192
ENUM_BYTES_MAX = 1_024
RATIONALE_BYTES_MAX = 4_096
PAYLOAD_BYTES_MAX = 65_536
SOURCES_MAX = 100  # per input
ROWS_MAX = 1_000  # per kind of row in one call

Pointer = Annotated[str, Meta(max_length=POINTER_CHARS_MAX)]
Pointers = Annotated[list[Pointer], Meta(max_length=ROWS_MAX)]
Word = Annotated[str, Meta(min_length=1, max_length=WORD_CHARS_MAX)]
Title = Annotated[str, Meta(min_length=1), MaxBytes(TITLE_BYTES_MAX)]
Uri = Annotated[str, Meta(min_length=1), MaxBytes(URI_BYTES_MAX)]
Text = Annotated[str, MaxBytes(TEXT_BYTES_MAX)]
Snippet = Annotated[str, MaxBytes(SNIPPET_BYTES_MAX)]
Rationale = Annotated[str, MaxBytes(RATIONALE_BYTES_MAX)]
Option = Annotated[str, MaxBytes(ENUM_BYTES_MAX)]
