"""Functions that slices call in each other without importing each other. The catalog connects the implementations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from groundplan.kernel.answers import Budget
from groundplan.kernel.ports import Provider

# Resolves a reference to a task: returns its project and its full id, or raises an error.
resolve_task: Provider[str, tuple[str, str]] = Provider()


class FilesQuery(msgspec.Struct, frozen=True):
    """Paths of files, and the budget for the knowledge about them."""

    paths: list[str]
    budget: Budget


# Returns the knowledge about files of the current project, as `knowledge.context` does.
find_knowledge_of_files: Provider[FilesQuery, Any] = Provider()


# Returns whether the current project has knowledge about files.
is_knowledge_used: Provider[None, bool] = Provider()


class PathsQuery(msgspec.Struct, frozen=True):
    """Paths and patterns, and those to compare them with; the same object compares them with each other."""

    paths: Collection[str]
    among: Collection[str]


class SharedPaths(msgspec.Struct, frozen=True):
    """For each path, those that lead to a file in common with it, equal ones included."""

    found: Mapping[str, Collection[str]]
    is_complete: bool  # false if there were too many to compare


# Returns which paths lead to a file in common.
find_shared_paths: Provider[PathsQuery, SharedPaths] = Provider()


class BriefingRequest(msgspec.Struct, frozen=True):
    """A work node by its number, and the characters that its briefing may have."""

    n: int
    chars: int
    lean: bool


# The lists of a briefing, the most important first.
BRIEFING_LISTS = ("why", "marks", "missing", "constraints", "before", "knowledge", "facts", "overlap", "decisions")

# Returns the briefing of a work node of the current project; None if not even an empty one has room.
build_briefing: Provider[BriefingRequest, Any] = Provider()


class ContextInForce(msgspec.Struct, frozen=True):
    """The run in force in the current project, and its required facts without a value."""

    run_id: str
    is_partial: bool
    context_version_id: str
    required_unset: list[str]


# Returns the context in force, for the gates; None if no run was ever committed.
context_in_force: Provider[None, ContextInForce | None] = Provider()


# Returns the numbers of the published versions of the purpose that are based on a run.
list_versions_on_run: Provider[str, list[int]] = Provider()


class LinkTarget(msgspec.Struct, frozen=True):
    """What a link leads to: its kind, such as GOAL, assumption or fact, and its title."""

    ref: str
    kind: str
    title: str


class LinkTargets(msgspec.Struct, frozen=True):
    """Those of some refs that exist, and for each other one the refs that resemble it."""

    found: dict[str, LinkTarget]
    near: dict[str, list[str]]


# Returns the purpose nodes and assumptions with some keys: those of the latest published version or of the draft. A key
# that neither has is missing; a link to it is dangling.
find_purpose_targets: Provider[list[str], LinkTargets] = Provider()

# Returns the facts with some pointers: those of the run in force or of a draft.
find_fact_targets: Provider[list[str], LinkTargets] = Provider()


class MarkLines(msgspec.Struct, frozen=True):
    """A line for each of the latest marks of a project, and how many more marks there are."""

    lines: list[str]
    left_out: int


# Describes the assumptions in doubt and the changed facts of the current project; takes the maximum number of lines.
describe_marks: Provider[int, MarkLines] = Provider()


class MarkedWork(msgspec.Struct, frozen=True):
    """A mark: its ref and status, the way to a goal, some of the open work that it touches, and how much there is."""

    ref: str
    status: str
    path: list[str]
    work: list[tuple[str, list[str]]]  # the id and the way from the node to the ref
    work_total: int


class MarkedWorkPage(msgspec.Struct, frozen=True):
    """The latest marks of a project, and how many more there are."""

    marks: list[MarkedWork]
    left_out: int


# Returns the marks of the current project with the open work that they touch; takes the maximum number of marks.
find_marked_work: Provider[int, MarkedWorkPage] = Provider()

# Returns the work nodes of the current project with some ids or unique prefixes of ids.
find_work_targets: Provider[list[str], LinkTargets] = Provider()

# Returns the ids of the work nodes with a link to each of some purpose nodes of the current project, by purpose key,
# without dropped work.
find_work_serving: Provider[list[str], dict[str, list[str]]] = Provider()


class AlignedWorkCounts(msgspec.Struct, frozen=True):
    """The number of open work nodes besides the root, and how many of them serve one of some purpose nodes."""

    open: int
    aligned: int


# Counts the open work that serves purpose nodes, by a link of its own or of an ancestor; takes the keys of these nodes.
count_aligned_work: Provider[list[str], AlignedWorkCounts] = Provider()


class KnowledgeDraft(msgspec.Struct, frozen=True):
    """Knowledge in the file of another tool: an atom if it has paths, else a molecule. Its name is its key."""

    name: str
    knowledge: str
    paths: list[str]
    related: list[tuple[str, str]]  # names of other molecules, and the reasons
    last_digest: str | None = None  # of the knowledge at the last import; None if it was never imported
    last_related: Sequence[tuple[str, str]] = ()  # at the last import


class KnowledgeImport(msgspec.Struct, frozen=True):
    """Knowledge to take over, and the task that it is created by; without one, nothing is written."""

    task_id: str | None
    drafts: list[KnowledgeDraft]


class KnowledgeOutcome(msgspec.Struct, frozen=True):
    """What became of a draft: created, updated, unchanged or conflict; the text here, and the digest of the draft."""

    name: str
    outcome: str
    here: str | None
    digest: str


# Takes over knowledge from the file of another tool into the current project.
import_knowledge: Provider[KnowledgeImport, list[KnowledgeOutcome]] = Provider()
