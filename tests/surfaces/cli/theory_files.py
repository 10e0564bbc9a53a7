"""What is typed to take theories of change out of a project and into it, and small ones to do it with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import groundplan
from tests.surfaces.cli.conftest import Ended, Run

# Turns the direction of writing where it is printed raw, and looks like markup.
ODD_TITLE = "[bold]A \u202ewell"
# As export writes it, goals first.
THEORY: dict[str, Any] = {
    "format": 1,
    "profile": "standard",
    "nodes": [
        {"key": "G1", "node_type": "GOAL", "title": "Healthy people"},
        {"key": "OC1", "node_type": "OUTCOME", "title": "People drink from it", "description": "One\nand two"},
        {"key": "OP1", "node_type": "OUTPUT", "title": ODD_TITLE},
        {"key": "AC1", "node_type": "ACTIVITY", "title": "Dig a well"},
    ],
    "edges": [
        {"source": "OC1", "target": "G1", "mechanism": "It is clean", "confidence": "high"},
        {"source": "OP1", "target": "OC1", "mechanism": "It is near", "confidence": "high"},
        {"source": "AC1", "target": "OP1", "mechanism": "Water is below", "confidence": "high"},
    ],
    "assumptions": [{"key": "AS1", "assumption_text": "There is water", "node": "AC1"}],
    "indicators": [{"key": "IN1", "node": "OC1", "name": "Litres a day", "unit": "l", "baseline": 1, "target": 5}],
    "waivers": [],
}
WAIVER = {"code": "GA_OUTCOME_COVERAGE", "refs": ["OC1"], "reason": "Later", "owner": "ben", "due": "2999-01-01"}
# As others draw: names are their own, nothing says what a card is but the arrows.
CANVAS: dict[str, Any] = {
    "nodes": [
        {"id": f"card {n}", "type": "text", "text": f"Step {n}", "x": 0, "y": 0, "width": 9, "height": 9}
        for n in range(7)
    ],
    "edges": [{"id": f"e{n}", "fromNode": f"card {n}", "toNode": "card 1"} for n in (0, 1)],
}


class Files:
    """What one types to take theories of project atlas in and out."""

    def __init__(self, run: Run, plan: Path) -> None:
        shutil.copy(plan, ".")
        self.run = run

    def __call__(self, word: str, *words: str) -> Ended:
        return self.run("purpose", word, "--project", "atlas", *words)

    def answer(self, word: str, *words: str) -> Any:
        return self(word, *words, "--json").answer

    def called(self, operation: str, **arguments: Any) -> Any:
        """What an operation answers, without the words of a command, which take longer."""
        with groundplan.open("groundplan.db", actor="ada") as session:
            return session.call(operation, project="atlas", **arguments)

    def begin(self, **changed: Any) -> None:
        """Have the small theory as the draft, with other things of a sort."""
        self.called("purpose.import", document={**THEORY, **changed})

    @property
    def versions(self) -> list[int]:
        return [one.number for one in self.called("purpose.versions").versions]


def plan_without_theory(folder: Path) -> Path:
    """A database in which there is a project atlas, and nothing in it."""
    db = folder / "groundplan.db"
    with groundplan.open(str(db), actor="ada") as session:
        session.call("project.create", name="atlas")
    return db


def written(name: str, document: Any) -> str:
    Path(name).write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return name


def squeezed(text: str) -> str:
    return " ".join(text.split())
