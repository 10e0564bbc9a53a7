"""The connections between slices: which function answers each provider and hook, and which errors triggers raise.

Functions stand here by name, and their modules are imported by the first call: a command that asks no other slice does
not load it. A test loads every name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan import providers
from groundplan.kernel import ports
from groundplan.kernel.ports import Hook, Provider

CONNECTIONS: Mapping[Hook[Any] | Provider[Any, Any], str] = {
    ports.on_project_created: "groundplan.work.nodes:create_root",
    ports.on_clock_jump: "groundplan.work.claims:move_leases",
    ports.generate_project_id: "groundplan.work.nodes:generate_project_id",
    providers.resolve_task: "groundplan.work.refs:resolve_task",
    providers.describe_marks: "groundplan.briefing.watch.find_marks:describe_marks",
    providers.find_marked_work: "groundplan.briefing.watch.find_marks:find_marked_work",
    providers.find_work_serving: "groundplan.work.links.serving:find_work_serving",
    providers.count_aligned_work: "groundplan.work.links.serving:count_aligned_work",
    providers.find_work_targets: "groundplan.work.refs:find_work_targets",
    providers.find_knowledge_of_files: "groundplan.knowledge.reading.files:get_knowledge_of_files",
    providers.is_knowledge_used: "groundplan.knowledge.reading.files:has_knowledge",
    providers.import_knowledge: "groundplan.knowledge.writing.import_knowledge:import_knowledge",
    providers.find_shared_paths: "groundplan.knowledge.paths.shared_paths:find_shared_paths",
    providers.context_in_force: "groundplan.context.resolve:find_context_in_force",
    providers.list_versions_on_run: "groundplan.purpose.versions.versions:list_versions_on_run",
    providers.find_purpose_targets: "groundplan.purpose.reading.link_targets:find_purpose_targets",
    providers.find_fact_targets: "groundplan.context.runs.fact_targets:find_fact_targets",
    providers.build_briefing: "groundplan.briefing.brief_task:build_briefing",
}
REFUSALS = (
    "groundplan.kernel.tokens.token:REFUSALS",
    "groundplan.kernel.identities.invitation:REFUSALS",
    "groundplan.work.tables:REFUSALS",
    "groundplan.context.refusals:REFUSALS",
    "groundplan.purpose.refusals:REFUSALS",
)


def connect() -> None:
    """Connect the slices. Doing it again changes nothing."""
    for port, name in CONNECTIONS.items():
        port.connect_by_name(name)
    ports.REFUSALS.update(REFUSALS)
