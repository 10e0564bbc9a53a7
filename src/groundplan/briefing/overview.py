"""The state of purpose, facts and knowledge of a project in a few numbers, for the onboarding of a newcomer."""

from __future__ import annotations

from groundplan.context.facts_in_force import list_drafts
from groundplan.context.unset_facts import READ_MAX, list_unset_facts
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.areas import list_areas
from groundplan.providers import KnowledgeArea, ProjectOverview
from groundplan.purpose.summary import summarize_purpose
from groundplan.purpose.waiting import list_open_requests

NO_AREA = "(no area)"  # the notes in no molecule


def summarize_project(tx: Transaction, areas_max: int) -> ProjectOverview:
    """Return the overview of the current project, with its largest areas of knowledge."""
    purpose = summarize_purpose(tx)
    areas = list_areas(tx, at_most=areas_max)
    named = [KnowledgeArea(area.name, area.notes) for area in areas.largest]
    return ProjectOverview(
        purpose=None if purpose is None else purpose.line,
        purpose_draft=None if purpose is None else purpose.draft,
        fact_drafts=len(list_drafts(tx)),
        missing=len(list_unset_facts(tx, since="", at_most=READ_MAX)),
        questions=len(list_open_requests(tx)),
        areas=[*named, KnowledgeArea(NO_AREA, areas.orphans)] if areas.orphans else named,
        other_areas=areas.others,
    )
