"""Fields that several knowledge requests share: their types, limits and parsers."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, NamedTuple, TypeVar

from msgspec import Meta, Struct, structs

from groundplan.kernel.errors import Invalid, NextStep, RuleViolated
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, apply_marker
from groundplan.kernel.operations.schema import HiddenInSchema
from groundplan.kernel.preferences import RepositoryPaths
from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text
from groundplan.knowledge.paths.names import EVERY_FILE, ROOT
from groundplan.knowledge.paths.pattern import (
    PATTERN_CHARS_MAX,
    AbsolutePattern,
    MalformedPattern,
    parse_pattern,
    refuse_costly,
)

R = TypeVar("R", bound=Struct)

KNOWLEDGE_BYTES_MAX = 32_768
SUMMARY_BYTES_MAX = 4_096
REASON_BYTES_MAX = 1_024
ATOM_PATTERNS_MAX = 20
RELATED_MAX = 50
PROJECT_PATTERNS_MAX = 200_000  # per project, see graph_projects in the migration
CHANGELOG_LIMIT_DEFAULT = 5
CHANGELOG_LIMIT_MAX = 50
LIMIT = 20
LIMIT_MAX = 100

WILDCARD = re.compile(r"[*?\[{\\]")
HEAD = "HEAD"
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
    """The two kinds of entities that hold knowledge."""

    ATOM = "atom"
    MOLECULE = "molecule"


# The fields of requests that the kind of an entity does not have.
FOREIGN_FIELDS = {
    KnowledgeEntityType.ATOM: ("related_molecules",),
    KnowledgeEntityType.MOLECULE: ("paths", "molecule_id", "related_atoms", "confirm", "orphans_only"),
}


# What an answer adds to a relation, so that it can be sent as it was read.
ShownName = Annotated[str | None, HiddenInSchema()]
ShownMissing = Annotated[bool | None, HiddenInSchema()]


class RelatedAtom(Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """A related atom and the reason of the relation."""

    atom_id: str
    reason: Reason
    name: ShownName = None
    missing: ShownMissing = None

    @property
    def target_id(self) -> str:
        """The id of the related atom."""
        return self.atom_id


class RelatedMolecule(Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """A related molecule and the reason of the relation."""

    molecule_id: str
    reason: Reason
    name: ShownName = None
    missing: ShownMissing = None

    @property
    def target_id(self) -> str:
        """The id of the related molecule."""
        return self.molecule_id


RelatedAtoms = Annotated[list[RelatedAtom], Meta(max_length=RELATED_MAX)]
RelatedMolecules = Annotated[list[RelatedMolecule], Meta(max_length=RELATED_MAX)]


class EmptyPaths(RuleViolated):
    """The atom has no path pattern."""

    code = "empty_paths"

    def __init__(self) -> None:
        super().__init__(
            "paths is empty, and an atom without patterns covers no files; send at least one, such as src/area/**",
            field="paths",
        )


def parse_id(text: str, path: ArgumentPath) -> str:
    """Return an id in its canonical spelling. The dashes may be omitted."""
    id_ = parse_uuid(text)
    if id_ is None:
        step = NextStep("knowledge.search", "lists ids")
        raise invalid_argument(path, f"must be a UUID, not {quote_text(text)}", code="invalid_id", next_steps=step)
    return id_


class ParsedPatterns(NamedTuple):
    """Normalized path patterns, and their number after brace expansion."""

    paths: list[str]
    patterns: int


def parse_patterns(patterns: list[str], working_copy: RepositoryPaths | None) -> ParsedPatterns:
    """Return parsed and normalized path patterns. The working copy only serves to correct absolute patterns."""
    if not patterns:
        raise EmptyPaths
    parsed = []
    for index, text in enumerate(patterns):
        try:
            pattern = parse_pattern(text.strip())
            refuse_costly(pattern)
        except AbsolutePattern as error:
            raise _malformed(("paths", index), text, _relate_to_root(text.strip(), error, working_copy)) from None
        except MalformedPattern as error:
            raise _malformed(("paths", index), text, error) from None
        parsed.append(pattern)
    return ParsedPatterns([pattern.text for pattern in parsed], sum(len(pattern.alternatives) for pattern in parsed))


def _relate_to_root(pattern: str, error: AbsolutePattern, working_copy: RepositoryPaths | None) -> MalformedPattern:
    """Return the error for an absolute pattern; it has the pattern relative to the root, or says that it is outside."""
    root = None if working_copy is None else working_copy.root
    if working_copy is None or root is None:
        return error
    inside = working_copy.locate(pattern)
    first = error.rest.partition("/")[0]
    if inside == ROOT:
        inside = EVERY_FILE
    elif inside == pattern:
        # As in .gitignore, where a leading / is the root: its first name is there, or can be any.
        if not WILDCARD.search(first) and working_copy.is_folder(first) is None:
            return MalformedPattern(
                error.problem,
                f"it is outside of the repository {root}; write a pattern from its root, like src/area/**",
            )
        inside = error.rest
    elif pattern.endswith("/") or working_copy.is_folder(inside):
        inside = f"{inside}/{EVERY_FILE}"
    spelled = working_copy.spell_pattern(inside)
    return MalformedPattern(error.problem, f"write {spelled}, which starts at the root of the repository")


def _malformed(path: ArgumentPath, pattern: str, error: MalformedPattern) -> Invalid:
    wrong = f"{quote_text(pattern)} {error.problem}; {error.hint}"
    return invalid_argument(path, wrong, code="malformed_pattern", pattern=pattern, hint=error.hint)


def normalize_knowledge(text: str) -> str:
    """Return knowledge without surrounding blanks."""
    return apply_marker(MaxBytes(KNOWLEDGE_BYTES_MAX), text.strip(), ("knowledge",))


def resolve_commit(text: str, path: ArgumentPath, working_copy: RepositoryPaths | None) -> str:
    """Return a commit id; `HEAD` is the commit that is checked out in the working copy."""
    if text.strip() != HEAD:
        return parse_commit(text, path)
    head = None if working_copy is None else working_copy.resolve_head()
    if head is None:
        wrong = "cannot be HEAD, because git tells no commit here; send the commit that git rev-parse HEAD prints"
        raise invalid_argument(path, wrong, code="head_unknown")
    return head


def parse_commit(text: str, path: ArgumentPath) -> str:
    """Return a commit id, trimmed and in lower case."""
    commit = text.strip().lower()
    if not COMMIT.fullmatch(commit):
        wrong = f"must be a commit, 7 to 64 hexadecimal digits, not {quote_text(text)}; git rev-parse HEAD gives one"
        raise invalid_argument(path, wrong)
    return commit


def drop_foreign_fields(request: R, entity_type: KnowledgeEntityType) -> R:
    """Return a request without the empty fields of the other kind of entity; one that says something is refused."""
    dropped = {}
    for field in structs.fields(request):
        if field.name not in FOREIGN_FIELDS[entity_type]:
            continue
        if getattr(request, field.name):
            raise invalid_argument((field.encode_name,), f"does not apply to entityType {entity_type}; omit it")
        dropped[field.name] = field.default
    return structs.replace(request, **dropped)
