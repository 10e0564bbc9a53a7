"""Commands that export and import theories, and small documents for them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import groundplan
from tests.surfaces.cli.conftest import Run, RunResult

# Reverses the writing direction where it is printed raw, and looks like markup.
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
# As other programs write it: foreign names, and types that only the arrows show.
CANVAS: dict[str, Any] = {
    "nodes": [
        {"id": f"card {n}", "type": "text", "text": f"Step {n}", "x": 0, "y": 0, "width": 9, "height": 9}
        for n in range(7)
    ],
    "edges": [{"id": f"e{n}", "fromNode": f"card {n}", "toNode": "card 1"} for n in (0, 1)],
}


class FileCommands:
    """Commands that export and import theories of project atlas."""

    def __init__(self, run: Run, plan: Path) -> None:
        shutil.copy(plan, ".")
        self.run = run

    def __call__(self, word: str, *words: str) -> RunResult:
        return self.run("purpose", word, "--project", "atlas", *words)

    def answer(self, word: str, *words: str) -> Any:
        return self(word, *words, "--json").answer

    def call(self, operation: str, **arguments: Any) -> Any:
        """Return the answer of an operation, without the command line, which is faster."""
        with groundplan.open("groundplan.db", actor="ada") as session:
            return session.call(operation, project="atlas", **arguments)

    def begin(self, **changed: Any) -> None:
        """Make the small theory the draft, with some parts replaced."""
        self.call("purpose.import", document={**THEORY, **changed})

    @property
    def versions(self) -> list[int]:
        return [one.number for one in self.call("purpose.versions").versions]


def plan_without_theory(folder: Path) -> Path:
    """Return a database with an empty project atlas."""
    db = folder / "groundplan.db"
    with groundplan.open(str(db), actor="ada") as session:
        session.call("project.create", name="atlas")
    return db


def write_file(name: str, document: Any) -> str:
    Path(name).write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return name


def collapse_spaces(text: str) -> str:
    return " ".join(text.split())
