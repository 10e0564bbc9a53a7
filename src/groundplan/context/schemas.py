"""The types of the context contract: limits, enums, stored rows, views and writes.

    PcivContextViewV1           what consumers read: one complete run
    ├── run                     PcivRunV1
    ├── sourcesById             PcivSourceV1
    ├── inputsByPointer         PcivInputV1       a value by JSON Pointer, with its provenance
    ├── constraints             PcivConstraintV1  a value by key, with its provenance
    └── artifactsByType         PcivArtifactV1

A value has one of three states. UNSET: all five value columns are null. SET: the column of its kind holds it. EMPTY
STRING: SET to the empty text. "Unknown" is UNSET, unless a domain lists it among the options of an enum.

A stored field has the name of its column, so rows are converted to their types by name.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Role
from groundplan.kernel.answers import LeftOut
from groundplan.kernel.input_gate.text_limits import MaxBytes
from groundplan.kernel.operations.schema import HiddenInSchema

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


class RunStatus(StrEnum):
    """The status of a run. A run is committed once and never changes afterwards."""

    DRAFT = "draft"
    COMMITTED = "committed"
    PARTIAL_COMMITTED = "partial_committed"


class RunOwnership(StrEnum):
    """The ownership of a run: one user or shared. It grants no rights; those come from membership."""

    OWNED = "owned"
    SHARED = "shared"


class SourceKind(StrEnum):
    """The kind of a source."""

    FILE = "file"
    URL = "url"
    GIS = "gis"
    API = "api"
    MANUAL = "manual"


class SourceParseStatus(StrEnum):
    """The parse status of a source."""

    PENDING = "pending"
    PARSED = "parsed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


class ValueKind(StrEnum):
    """The type of a value, which also decides the column that holds it."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ENUM = "enum"
    JSON = "json"


class Provenance(StrEnum):
    """Where a value comes from, from the weakest to the strongest."""

    UNKNOWN = "unknown"
    MODEL_INFERRED = "model-inferred"
    SOURCE_BACKED = "source-backed"
    USER_ENTERED = "user-entered"

    @property
    def rank(self) -> int:
        """The position in the order of strength. A value does not replace a value of higher rank."""
        return _RANKS[self]


_RANKS = {provenance: rank for rank, provenance in enumerate(Provenance)}


class UpdatedBy(StrEnum):
    """The kind of actor that last wrote a row."""

    USER = "user"
    MODEL = "model"
    SYSTEM = "system"


class Displacement(StrEnum):
    """The way in which a run displaces a fact that a person entered in the run before it."""

    CHANGED = "changed"  # it has another value
    REMOVED = "removed"  # it is gone
    OPTIONAL = "optional"  # it is no longer required


class MergeSide(StrEnum):
    """The side of a conflict that is kept: the draft, or the run in force."""

    MINE = "mine"
    THEIRS = "theirs"


class ResolvePrefer(StrEnum):
    """The run that a view prefers."""

    LATEST_COMMIT = "latest_commit"
    RUN_ID = "runId"


# --- Stored rows and views --------------------------------------------------------------------------------------------


OMITTED: Any = UNSET  # the content of a field that a lean answer leaves out


class ValueColumns(Struct):
    """The columns that hold a value: the one of its kind, and the others null."""

    value_kind: ValueKind
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: Any


class PcivRunV1(Struct, rename="camel", kw_only=True):
    """A run: one state of the facts, as a draft or committed. A lean answer has only its id, status and commit time."""

    id: str
    scope_id: str = OMITTED
    user_id: str | None = OMITTED  # None: shared
    status: RunStatus
    allow_partial: bool = OMITTED
    committed_at: str | None = OMITTED
    created_at: str = OMITTED
    updated_at: str = OMITTED


class PcivSourceV1(Struct, rename="camel", gc=False):
    """A document, address or other place that facts were taken from."""

    id: str
    run_id: str
    kind: SourceKind
    title: str
    uri: str
    file_id: str | None
    mime_type: str | None
    size_bytes: int | None
    parse_status: SourceParseStatus
    excerpt: str | None
    raw_meta: dict[str, Any]
    created_at: str
    origin_id: str | None  # of the source that it is a copy of, through all copies


class InputRow(Struct, rename="camel"):
    """An input without its sources, which are separate rows."""

    id: str
    run_id: str
    pointer: str
    label: str
    domain: str
    required: bool
    field_type: str
    options: list[str] | None
    value_kind: ValueKind
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: Any
    provenance: Provenance
    updated_by: UpdatedBy
    updated_at: str
    evidence_snippet: str | None


class PcivInputV1(InputRow):
    """A field of the plan: its definition, its value and where the value comes from."""

    source_ids: list[str]


class PcivInputSourceV1(Struct, rename="camel"):
    """A link from an input to a source it was taken from."""

    input_id: str
    source_id: str


class PcivConstraintV1(Struct, rename="camel"):
    """A condition that must hold: a key with a typed value and where it comes from."""

    id: str
    run_id: str
    key: str
    domain: str
    label: str
    value_kind: ValueKind
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: Any
    provenance: Provenance
    source_id: str | None
    snippet: str | None
    updated_by: UpdatedBy
    created_at: str
    updated_at: str


class PcivArtifactV1(Struct, rename="camel"):
    """Something produced from the facts."""

    id: str
    run_id: str
    type: str
    title: str
    payload: dict[str, Any]
    created_at: str
    origin_id: str | None  # of the artifact that it is a copy of, through all copies


class PcivScopeMemberV1(Struct, rename="camel"):
    """A member of a scope and their role."""

    scope_id: str
    user_id: str
    role: Role
    created_at: str
    created_by: str


class Suggestion(Struct, rename="camel"):
    """A value that waits for a person's decision."""

    id: str
    pointer: str | None  # of an input
    key: str | None  # of a constraint
    constraint_id: str | None
    value_kind: ValueKind
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: Any
    provenance: Provenance
    source_ids: list[str]
    snippet: str | None
    rationale: str | None
    created_at: str
    created_by: str
    updated_by: UpdatedBy


class DisplacedFact(Struct, kw_only=True):
    """A fact of a person in the previous run that this run displaces, with the actor and the time of the commit."""

    pointer: str | UnsetType = UNSET  # of an input
    constraint: str | UnsetType = UNSET  # the key
    change: Displacement
    before: Any
    by: str
    at: str


class PcivContextViewV1(Struct, rename="camel"):
    """One run as every consumer reads it."""

    run: PcivRunV1
    sources_by_id: dict[str, PcivSourceV1]
    inputs_by_pointer: dict[str, PcivInputV1]
    constraints: list[PcivConstraintV1]
    artifacts_by_type: dict[str, list[PcivArtifactV1]]


class UnplacedInput(Struct):
    """An input whose value could not be written at its pointer, and why."""

    pointer: str
    reason: str


class ReplacedValue(Struct):
    """A value of a document that a fact replaced: where, what it was, and the provenance of the fact."""

    pointer: str
    before: Any
    provenance: Provenance


class ContextView(PcivContextViewV1):
    """A view with its version, the required inputs that are missing, warnings and suggestions.

    `displaced` is there as long as the run is in force, the last five fields if the request has a document to hydrate.
    A lean view omits null, empty and bookkeeping fields.
    """

    context_version_id: str
    missing: list[str]
    warnings: list[str]
    rev: int
    suggestions: list[Suggestion] | UnsetType = UNSET
    displaced: list[DisplacedFact] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)
    next_cursor: str | UnsetType = field(name="next_cursor", default=UNSET)
    hydrated: dict[str, Any] | UnsetType = UNSET
    placed: list[str] | UnsetType = UNSET
    kept: list[str] | UnsetType = UNSET
    replaced: list[ReplacedValue] | UnsetType = UNSET
    unplaced: list[UnplacedInput] | UnsetType = UNSET


# --- Writes -----------------------------------------------------------------------------------------------------------

# Fields that rows have when read and that writes ignore or only check, so that a row can be sent back as it was read.
EchoedRunId = Annotated[str | None, HiddenInSchema()]
EchoedTimestamp = Annotated[str | None, HiddenInSchema()]
EchoedId = Annotated[str | None, HiddenInSchema()]
EchoedWriter = Annotated[UpdatedBy | None, HiddenInSchema()]


class SourceWrite(Struct, rename="camel", forbid_unknown_fields=True):
    """A source to add, or to change if its id exists. Omitted fields are kept; a new one needs kind, title and uri."""

    ACCEPTS_ATTRIBUTES: ClassVar[bool] = True  # rows in snake_case, as tables have them

    id: str | None = None
    kind: SourceKind | UnsetType = UNSET
    title: Title | UnsetType = UNSET
    uri: Uri | UnsetType = UNSET
    file_id: str | UnsetType | None = UNSET
    mime_type: Annotated[str, MaxBytes(WORD_CHARS_MAX)] | UnsetType | None = UNSET
    size_bytes: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET
    parse_status: SourceParseStatus | UnsetType = UNSET
    excerpt: Text | UnsetType | None = UNSET
    raw_meta: dict[str, Any] | UnsetType = UNSET
    run_id: EchoedRunId = None
    created_at: EchoedTimestamp = None
    origin_id: EchoedId = None


class InputWrite(Struct, rename="camel", forbid_unknown_fields=True):
    """An input to add, or to change if its pointer exists. Omitted fields are kept.

    A new input needs a value kind; its label is the last step of its pointer by default. `value` means the column of
    the value kind; null means UNSET. The type of the value is checked once its kind is known.
    """

    ACCEPTS_ATTRIBUTES: ClassVar[bool] = True  # rows in snake_case, as tables have them

    pointer: Pointer
    label: Title | UnsetType = UNSET
    domain: Word | UnsetType = UNSET
    required: bool | UnsetType = UNSET
    field_type: Word | UnsetType = UNSET
    options: Annotated[list[Option], Meta(max_length=ROWS_MAX)] | UnsetType | None = UNSET
    value_kind: ValueKind | UnsetType = UNSET
    value: Any = UNSET
    value_string: Any = UNSET
    value_number: Any = UNSET
    value_boolean: Any = UNSET
    value_enum: Any = UNSET
    value_json: Any = UNSET
    provenance: Provenance | UnsetType = UNSET
    source_ids: Annotated[list[str], Meta(max_length=SOURCES_MAX)] | UnsetType = UNSET
    evidence_snippet: Snippet | UnsetType | None = UNSET
    rationale: Rationale | None = None
    id: str | None = None
    run_id: EchoedRunId = None
    updated_by: EchoedWriter = None
    updated_at: EchoedTimestamp = None


class ConstraintWrite(Struct, rename="camel", forbid_unknown_fields=True):
    """A constraint to add, or to change if its id or key exists. Omitted fields are kept.

    A new one needs a key, a label and a value kind. `value` means the column of the value kind; null means UNSET.
    """

    ACCEPTS_ATTRIBUTES: ClassVar[bool] = True  # rows in snake_case, as tables have them

    id: str | None = None
    key: Word | UnsetType = UNSET
    domain: Word | UnsetType = UNSET
    label: Title | UnsetType = UNSET
    value_kind: ValueKind | UnsetType = UNSET
    value: Any = UNSET
    value_string: Any = UNSET
    value_number: Any = UNSET
    value_boolean: Any = UNSET
    value_enum: Any = UNSET
    value_json: Any = UNSET
    provenance: Provenance | UnsetType = UNSET
    source_id: str | UnsetType | None = UNSET
    snippet: Snippet | UnsetType | None = UNSET
    rationale: Rationale | None = None
    run_id: EchoedRunId = None
    updated_by: EchoedWriter = None
    created_at: EchoedTimestamp = None
    updated_at: EchoedTimestamp = None


class ArtifactWrite(Struct, rename="camel", forbid_unknown_fields=True):
    """An artifact to add, or to change if its id exists. Omitted fields are kept; a new one needs type and title."""

    ACCEPTS_ATTRIBUTES: ClassVar[bool] = True  # rows in snake_case, as tables have them

    id: str | None = None
    type: Word | UnsetType = UNSET
    title: Title | UnsetType = UNSET
    payload: dict[str, Any] | UnsetType = UNSET
    run_id: EchoedRunId = None
    created_at: EchoedTimestamp = None
    origin_id: EchoedId = None


class LinkWrite(Struct, rename="camel", forbid_unknown_fields=True):
    """A link between a source and an input, named by its pointer, or a constraint, named by its key."""

    ACCEPTS_ATTRIBUTES: ClassVar[bool] = True  # rows in snake_case, as tables have them

    source_id: str
    pointer: Pointer | None = None
    constraint: Word | None = None
