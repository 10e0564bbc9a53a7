"""Ids, keys and pointers have titles that people can read."""

from __future__ import annotations

from tests.engines import Engine


def test_refs_of_all_slices_have_titles_and_unknown_ones_are_left_out(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    task = ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Walk the coast"}]).created[0].id
    atom = ada.call(
        "knowledge.create",
        entityType="atom",
        projectId="atlas",
        name="Sheets",
        createdByTaskId=task,
        paths=["sheets/**"],
        knowledge="Heights are above low tide.",
    ).atom.id
    ada.call("purpose.draft", project="atlas")
    goal = {"op": "add_node", "node_type": "GOAL", "title": "Nobody runs aground"}
    indicator = {"op": "add_indicator", "node": "g", "name": "Wrecks", "unit": "ships"}
    ada.call("purpose.edit", project="atlas", operations=[{**goal, "ref": "g"}, indicator])
    run = ada.call("context.create_draft", scopeId="atlas").run.id
    fact = {"pointer": "/length", "label": "Length of the coast", "domain": "d", "valueKind": "number", "value": 3}
    ada.call("context.edit", runId=run, inputs=[fact])
    row = next(one for one in ada.call("event.list", project="atlas").events if one.op == "context.input_added").subject
    refs = [
        task,
        atom,
        "G1",
        "IN1",
        "/length",
        row,
        "G9",
        "/nothing",
        "zzzzzz",
        "00000000-0000-4000-8000-000000000000",
        "v1",
    ]
    found = {
        one.ref: (one.slice, one.at, one.title) for one in ada.call("briefing.titles", project="atlas", refs=refs).found
    }

    assert found == {
        task: ("work", task, "Walk the coast"),
        atom: ("knowledge", atom, "Sheets"),
        "G1": ("purpose", "G1", "Nobody runs aground"),
        "IN1": ("purpose", "IN1", "Wrecks"),
        "/length": ("context", "/length", "Length of the coast"),
        row: ("context", "/length", "/length"),
    }
