"""A project whose theory has a published version and a draft that differs, with work, a fact and a note."""

from __future__ import annotations

from typing import Any, NamedTuple

EDITS: list[dict[str, Any]] = [
    {"op": "add_node", "ref": "g", "node_type": "GOAL", "title": "Safe water for all"},
    {"op": "add_node", "ref": "oc", "node_type": "OUTCOME", "title": "Families drink safe water"},
    {"op": "add_node", "ref": "op", "node_type": "OUTPUT", "title": "Twelve wells"},
    {"op": "add_node", "ref": "ac", "node_type": "ACTIVITY", "title": "Drill"},
    {"op": "add_node", "ref": "pr", "node_type": "ACTIVITY", "title": "Print ledgers"},
    {"op": "add_edge", "source": "ac", "target": "op", "mechanism": "A borehole reaches water", "confidence": "high"},
    {"op": "add_edge", "source": "pr", "target": "op", "mechanism": "Paper lasts", "confidence": "high"},
    {"op": "add_edge", "source": "op", "target": "oc", "mechanism": "A closed well stays clean", "confidence": "high"},
    {"op": "add_edge", "source": "oc", "target": "g", "mechanism": "It is the goal", "confidence": "high"},
    {"op": "add_assumption", "node": "oc", "assumption_text": "The springs do not run dry", "risk_level": "LOW"},
    {
        "op": "add_assumption",
        "source": "op",
        "target": "oc",
        "assumption_text": "Pumps are mended",
        "risk_level": "LOW",
    },
    {"op": "add_indicator", "node": "oc", "name": "Households", "unit": "%", "baseline": 20, "target": 95},
]
CHANGES: list[dict[str, Any]] = [
    {"op": "update_node", "node": "OP1", "title": "Fourteen wells"},
    {"op": "add_node", "ref": "lab", "node_type": "ACTIVITY", "title": "Equip a lab"},
    {"op": "add_edge", "source": "lab", "target": "OC1", "mechanism": "Tests", "confidence": "low"},
    {"op": "remove_node", "node": "AC2"},
    {"op": "update_assumption", "assumption": "AS1", "risk_level": "HIGH", "owner": "ben", "review_by": "2031-01-31"},
]


class Filled(NamedTuple):
    """The ids of what was made."""

    task: str  # serves AC1 and rests on /site/size
    unlinked: str  # serves nothing
    note: str


def fill_versions(ada: Any, project: str, text: str = "") -> Filled:
    """Fill a project as Ada, with a text behind every title."""
    edits = [dict(one) for one in EDITS]
    for one in edits:
        for name in ("title", "assumption_text", "mechanism", "name"):
            if name in one:
                one[name] = f"{one[name]}{text}"
    ada.call("work.open", project=project, policies={"profile_min": "light"})
    ada.call("purpose.draft", project=project, profile="light")
    ada.call("purpose.edit", project=project, operations=edits)
    run = ada.call("context.create_draft", scopeId=project).run.id
    fact = {"pointer": "/site/size", "label": f"Size of the site{text}", "domain": "site", "valueKind": "number"}
    ada.call("context.edit", runId=run, inputs=[{**fact, "value": 12}])
    ada.call("context.commit", runId=run)
    nodes = [
        {"ref": "a", "summary": f"Drill well one{text}", "serves": ["AC1"], "rests_on": ["/site/size"]},
        {"ref": "b", "summary": f"Paint the gate{text}"},
    ]
    ids = {one.ref: one.id for one in ada.call("work.plan", project=project, nodes=nodes).created}
    evidence = [{"type": "note", "ref": f"seen by cleo{text}"}]
    ada.call("work.update", updates=[{"node_id": ids["a"], "add_evidence": evidence}])
    note = ada.call(
        "knowledge.create",
        entityType="atom",
        projectId=project,
        name=f"Pumps{text}",
        paths=["pumps/**"],
        knowledge="Afridev",
        createdByTaskId=ids["a"],
    )
    ada.call("purpose.publish", project=project)
    ada.call("purpose.record", project=project, measurements=[{"indicator": "IN1", "value": 40, "as_of": "2026-03-01"}])
    ada.call("purpose.draft", project=project)
    ada.call("purpose.edit", project=project, operations=CHANGES)
    return Filled(ids["a"], ids["b"], note.atom.id)
