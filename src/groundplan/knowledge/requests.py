"""Fields that several requests about knowledge have, with their limits, and what they look like once admitted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from groundplan.kernel.errors import Invalid, RuleViolated
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, apply_marker
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text
from groundplan.knowledge.paths.pattern import PATTERN_CHARS_MAX, MalformedPattern, parse_pattern

KNOWLEDGE_BYTES_MAX = 32_768
SUMMARY_BYTES_MAX = 4_096
REASON_BYTES_MAX = 1_024
ATOM_PATTERNS_MAX = 20
RELATED_MAX = 50
CHANGELOG_LIMIT_DEFAULT = 5
CHANGELOG_LIMIT_MAX = 50
LIMIT = 20
LIMIT_MAX = 100

COMMIT = re.compile(r"[0-9a-f]{7,64}")

TaskRef = Annotated[str, Meta(min_length=1, max_length=255)]
Reason = Annotated[str, MaxBytes(REASON_BYTES_MAX)]
MoleculeRef = Annotated[str | None, Meta(extra_json_schema={"type": ["string", "null"]})]
Version = Annotated[int, Meta(ge=1)]
Pattern = Annotated[str, Meta(max_length=PATTERN_CHARS_MAX)]
Patterns = Annotated[list[Pattern], Meta(max_length=ATOM_PATTERNS_MAX)]
Limit = Annotated[int, Meta(ge=1, le=LIMIT_MAX)]
Offset = Annotated[int, Meta(ge=0, le=2**31)]
ChangelogLimit = Annotated[int, Meta(ge=0, le=CHANGELOG_LIMIT_MAX)]


class KnowledgeEntityType(StrEnum):
    """The two things that hold knowledge."""

    ATOM = "atom"
    MOLECULE = "molecule"


class RelatedAtom(Struct, rename="camel", forbid_unknown_fields=True):
    """Another atom, and what this one has to do with it."""

    atom_id: str
    reason: Reason


class RelatedMolecule(Struct, rename="camel", forbid_unknown_fields=True):
    """Another molecule, and what this one has to do with it."""

    molecule_id: str
    reason: Reason


RelatedAtoms = Annotated[list[RelatedAtom], Meta(max_length=RELATED_MAX)]
RelatedMolecules = Annotated[list[RelatedMolecule], Meta(max_length=RELATED_MAX)]


class EmptyPaths(RuleViolated):
    """An atom without paths has no boundary."""

    code = "empty_paths"

    def __init__(self) -> None:
        super().__init__(
            "paths is empty, and an atom without paths has no boundary; send at least one pattern, such as src/area/**",
            field="paths",
        )


def parse_id(text: str, path: ArgumentPath) -> str:
    """An id in its canonical spelling; dashes may be left out.

    Raises:
        Invalid: it is no UUID.
    """
    found = parse_uuid(text)
    if found is None:
        step = NextStep("knowledge.search", "lists ids")
        raise invalid_argument(path, f"must be a UUID, not {quote_text(text)}", code="invalid_id", next_steps=step)
    return found


class ParsedPatterns(NamedTuple):
    """Path patterns as they are kept, and how many they are with braces written out."""

    paths: list[str]
    patterns: int


def parse_patterns(patterns: list[str]) -> ParsedPatterns:
    """Path patterns as they are kept.

    Raises:
        EmptyPaths: there are none.
        Invalid: one is malformed; the field says which.
    """
    if not patterns:
        raise EmptyPaths
    kept = []
    for place, pattern in enumerate(patterns):
        try:
            kept.append(parse_pattern(pattern.strip()))
        except MalformedPattern as error:
            raise _malformed(("paths", place), pattern, error) from None
    return ParsedPatterns([one.text for one in kept], sum(len(one.alternatives) for one in kept))


def _malformed(path: ArgumentPath, pattern: str, error: MalformedPattern) -> Invalid:
    hint: dict[str, Any] = {} if error.hint is None else {"hint": error.hint}
    wrong = f"{quote_text(pattern)} {error.problem}" + (f"; {error.hint}" if error.hint else "")
    return invalid_argument(path, wrong, code="malformed_pattern", pattern=pattern, **hint)


def normalize_knowledge(text: str) -> str:
    """Knowledge as it is kept: without blanks around it.

    Raises:
        Invalid: it is too long.
    """
    return apply_marker(MaxBytes(KNOWLEDGE_BYTES_MAX), text.strip(), ("knowledge",))


def parse_commit(text: str, path: ArgumentPath) -> str:
    """A commit as it is kept.

    Raises:
        Invalid: it is none.
    """
    commit = text.strip().lower()
    if not COMMIT.fullmatch(commit):
        wrong = f"must be a commit, 7 to 64 hexadecimal digits, not {quote_text(text)}; git rev-parse HEAD gives one"
        raise invalid_argument(path, wrong)
    return commit


def refuse_foreign_fields(entity_type: KnowledgeEntityType, given: Mapping[str, bool]) -> None:
    """Refuse fields that only the other kind of entity has.

    Raises:
        Invalid: one of them was given.
    """
    for name, is_given in given.items():
        if is_given:
            raise invalid_argument((name,), f"is not for entityType {entity_type}; leave it out")
