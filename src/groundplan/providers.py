"""Functions with which slices and the kernel use other slices, without importing them.

Each function imports the slice that answers when it is called, so a command that asks no other slice loads none. The
kernel asks only where a project is created and where the clock was set, for the errors of triggers, and for the name
of a command.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from groundplan.kernel.answers import Budget
from groundplan.kernel.store.transaction import Transaction

if TYPE_CHECKING:
    from groundplan.briefing.brief import BriefingMaterial
    from groundplan.kernel.operations.registry import Operation
    from groundplan.kernel.store.schema import ErrorFactory
    from groundplan.knowledge.context import FileKnowledge

# The lists of a briefing in the order in which an answer that became too long keeps them. The goal stands in `why`.
BRIEFING_LISTS = (
    *("why", "task", "knowledge", "missing", "marks", "constraints", "facts"),
    *("questions", "before", "overlap", "decisions"),
)


class SharedPaths(msgspec.Struct, frozen=True):
    """The paths, by path, that match a common file; equal paths are included."""

    found: Mapping[str, Collection[str]]
    is_complete: bool  # false if there were too many to compare


class ContextInForce(msgspec.Struct, frozen=True):
    """The run in force in the current project, and its required facts without a value."""

    run_id: str
    is_partial: bool
    context_version_id: str
    required_unset: list[str]


class LinkTarget(msgspec.Struct, frozen=True):
    """The target of a link: its kind, such as GOAL, assumption or fact, and its title."""

    ref: str
    kind: str
    title: str


class LinkTargets(msgspec.Struct, frozen=True):
    """The targets that exist, by ref, and for each other ref the refs that resemble it."""

    found: dict[str, LinkTarget]
    near: dict[str, list[str]]


class KnowledgeArea(msgspec.Struct, frozen=True):
    """A molecule, or the atoms in none, and the number of its atoms."""

    name: str
    notes: int


class ProjectOverview(msgspec.Struct, frozen=True):
    """The state of purpose, facts and knowledge of a project."""

    purpose: str | None  # in one line; None if there is no version
    purpose_draft: int | None  # its number
    fact_drafts: int
    missing: int  # required facts without a value
    questions: int  # requests for a decision that nobody has answered
    areas: list[KnowledgeArea]
    other_areas: int


class MarkLines(msgspec.Struct, frozen=True):
    """A line for each of the latest marks of a project, and how many more marks there are."""

    lines: list[str]
    left_out: int


class MarkedWork(msgspec.Struct, frozen=True):
    """A mark: its ref and status, the path to a goal, some of the open work that it affects, and how much there is."""

    ref: str
    status: str
    path: list[str]
    work: list[tuple[str, list[str]]]  # the id and the way from the node to the ref
    work_total: int


class MarkedWorkPage(msgspec.Struct, frozen=True):
    """The latest marks of a project, and the number of other marks."""

    marks: list[MarkedWork]
    left_out: int


class AlignedWorkCounts(msgspec.Struct, frozen=True):
    """The number of open work nodes without the root, and the number of them that serve one of the purpose nodes."""

    open: int
    aligned: int


class KnowledgeDraft(msgspec.Struct, frozen=True):
    """Knowledge in the file of another tool: an atom if it has paths, else a molecule. The name identifies it."""

    name: str
    knowledge: str
    paths: list[str]
    related: list[tuple[str, str]]  # names of other molecules, and the reasons
    last_digest: str | None = None  # of the knowledge at the last import; None if it was never imported
    last_related: Sequence[tuple[str, str]] = ()  # at the last import


class KnowledgeImport(msgspec.Struct, frozen=True):
    """Knowledge to import, and the task that creates it. Without a task, nothing is written."""

    task_id: str | None
    drafts: list[KnowledgeDraft]


class KnowledgeOutcome(msgspec.Struct, frozen=True):
    """The outcome of a draft: created, updated, unchanged or conflict; the text here, and the digest of the draft."""

    name: str
    outcome: str
    here: str | None
    digest: str


# --- Work ------------------------------------------------------------------------------------------------------------


def generate_project_id(tx: Transaction) -> str:
    """Return a random id that is not in use, so that a new project does not reveal existing ids."""
    from groundplan.work import nodes

    return nodes.generate_project_id(tx)


def create_root(tx: Transaction, project_id: str, summary: str) -> None:
    """Create the work node that is the root of a new project."""
    from groundplan.work import nodes

    nodes.create_root(tx, project_id, summary)


def move_leases(tx: Transaction, by: timedelta) -> None:
    """Move the claims of the current project after a jump of its clock. The jump is zero if its size is unknown."""
    from groundplan.work import claims

    claims.move_leases(tx, by)


def resolve_task(tx: Transaction, ref: str) -> tuple[str, str]:
    """Return the project and the full id of the task that a reference names."""
    from groundplan.work import refs

    return refs.resolve_task(tx, ref)


def find_work_targets(tx: Transaction, refs: list[str]) -> LinkTargets:
    """Return the work nodes of the current project with the given ids or unique prefixes of ids."""
    from groundplan.work.refs import find_work_targets as find

    return find(tx, refs)


def find_work_serving(tx: Transaction, keys: list[str]) -> dict[str, list[str]]:
    """Return the ids of the work nodes that serve each of some purpose nodes, by key, without dropped nodes."""
    from groundplan.work import links

    return links.find_work_serving(tx, keys)


def count_aligned_work(tx: Transaction, keys: list[str]) -> AlignedWorkCounts:
    """Count the open work that serves some purpose nodes, by its own link or the link of an ancestor."""
    from groundplan.work import links

    return links.count_aligned_work(tx, keys)


# --- Knowledge -------------------------------------------------------------------------------------------------------


def has_knowledge(tx: Transaction) -> bool:
    """Return True if the current project has or had knowledge."""
    from groundplan.knowledge import context

    return context.has_knowledge(tx)


def find_knowledge_of_files(tx: Transaction, paths: list[str], budget: Budget) -> FileKnowledge:
    """Return the knowledge about files of the current project, as `knowledge.context` does."""
    from groundplan.knowledge import context

    return context.find_knowledge_of_files(tx, paths, budget)


def find_shared_paths(tx: Transaction, paths: Collection[str], among: Collection[str]) -> SharedPaths:
    """Return for each path or pattern the ones in `among` that match a common file.

    The same object as `paths` and `among` compares them with each other.
    """
    from groundplan.knowledge.paths import shared_paths

    return shared_paths.find_shared_paths(tx, paths, among)


def import_knowledge(tx: Transaction, request: KnowledgeImport) -> list[KnowledgeOutcome]:
    """Import knowledge from the file of another tool into the current project."""
    from groundplan.knowledge.import_knowledge import import_knowledge as run

    return run(tx, request)


# --- Facts and purpose -----------------------------------------------------------------------------------------------


def find_context_in_force(tx: Transaction) -> ContextInForce | None:
    """Return the context in force, for the gates; None if no run was ever committed."""
    from groundplan.context import resolve

    return resolve.find_context_in_force(tx)


def find_unset_facts(tx: Transaction, pointers: Collection[str]) -> set[str]:
    """Return those of some pointers that are required facts without a value."""
    from groundplan.context import unset_facts

    return unset_facts.find_unset_facts(tx, pointers)


def find_fact_targets(tx: Transaction, pointers: list[str]) -> LinkTargets:
    """Return the facts with some pointers, of the run in force or of a draft."""
    from groundplan.context import facts_in_force

    return facts_in_force.find_fact_targets(tx, pointers)


def list_versions_on_run(tx: Transaction, run_id: str) -> list[int]:
    """Return the numbers of the published versions of the purpose that are based on a run."""
    from groundplan.purpose.versions import versions

    return versions.list_versions_on_run(tx, run_id)


def find_purpose_targets(tx: Transaction, keys: list[str]) -> LinkTargets:
    """Return the purpose nodes and assumptions with some keys, of the latest published version or of the draft.

    A key that neither has is missing; a link to it is dangling.
    """
    from groundplan.purpose import search

    return search.find_purpose_targets(tx, keys)


# --- Briefings -------------------------------------------------------------------------------------------------------


def collect_briefing(tx: Transaction, n: int, *, chars: int, lean: bool) -> BriefingMaterial:
    """Return the material for briefings of a work node of the current project, of at most `chars` characters."""
    from groundplan.briefing import brief

    return brief.collect_briefing(tx, n, chars=chars, lean=lean)


def summarize_project(tx: Transaction, areas_max: int) -> ProjectOverview:
    """Return the state of purpose, facts and knowledge of the current project."""
    from groundplan.briefing import overview

    return overview.summarize_project(tx, areas_max)


def describe_marks(tx: Transaction, at_most: int) -> MarkLines:
    """Return a line for each of the latest assumptions in doubt and changed facts of the project."""
    from groundplan.briefing import watch

    return watch.describe_marks(tx, at_most)


def find_marked_work(tx: Transaction, at_most: int) -> MarkedWorkPage:
    """Return the latest marks of the current project with the open work that they affect."""
    from groundplan.briefing import watch

    return watch.find_marked_work(tx, at_most)


# --- Errors ----------------------------------------------------------------------------------------------------------


def spell_command(
    operation: Operation[Any, Any], requested: Operation[Any, Any], arguments: Mapping[str, Any], chars_max: int
) -> str:
    """Return the command of an operation for a person; of the requested one if that is a variant without its own."""
    from groundplan import commands
    from groundplan.surfaces import vocabularies

    declared = operation if commands.list_commands_of(operation.name) else requested
    return vocabularies.spell_command(declared, arguments, chars_max)


def collect_refusals() -> Mapping[str, ErrorFactory]:
    """Return the errors that the triggers of slices raise, by the word of the trigger."""
    from groundplan.context import refusals as context
    from groundplan.kernel.identities import invitation
    from groundplan.kernel.tokens import token
    from groundplan.purpose import tables as purpose
    from groundplan.work import tables as work

    return {
        **token.REFUSALS,
        **invitation.REFUSALS,
        **work.REFUSALS,
        **context.REFUSALS,
        **purpose.REFUSALS,
    }
