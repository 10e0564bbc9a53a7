"""Limits for the texts of a theory and for the size of a batch."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from groundplan.kernel.input_gate.text_limits import MaxBytes, NormalizedName, NotBlank

TITLE_CHARS_MAX = 500
WORD_CHARS_MAX = 255
TEXT_BYTES_MAX = 16_384
SENTENCE_BYTES_MAX = 4_096
REF_CHARS_MAX = 128
POINTER_CHARS_MAX = 1_024  # pointer to a fact that a waiver names
LIST_BYTES_MAX = 16_384  # a list of refs as stored JSON
BATCH_MAX = 1_000

Title = Annotated[str, NormalizedName(TITLE_CHARS_MAX)]
Word = Annotated[str, NormalizedName(WORD_CHARS_MAX)]
Text = Annotated[str, MaxBytes(TEXT_BYTES_MAX)]
Sentence = Annotated[str, NotBlank(), MaxBytes(SENTENCE_BYTES_MAX)]
Ref = Annotated[str, Meta(min_length=1, max_length=REF_CHARS_MAX)]
Refs = Annotated[list[Ref], Meta(max_length=100)]
FactRefs = Annotated[list[Annotated[str, Meta(min_length=1, max_length=POINTER_CHARS_MAX)]], Meta(max_length=100)]
