"""Among all other calls, any version can be exported, and comes back unchanged when imported.

An ordinary run is short and always the same. GROUNDPLAN_PROOF_STEPS gives a longer one, new each time.
"""

from __future__ import annotations

import json
from functools import partial
from typing import get_args

import pytest

from groundplan.kernel.actors import local_actor
from groundplan.purpose.exchange.export import ExportFormat
from groundplan.session import Session
from tests.engines import Engine
from tests.machines.budget import BoundedRun, answer_invariant
from tests.machines.purpose_document import document_of
from tests.machines.purpose_driver import WEIGHTS, MachineSetup, run_machine
from tests.machines.test_purpose_machine import PurposeMachine

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 60
FORMATS = get_args(ExportFormat)


class PurposeFilesMachine(PurposeMachine):
    """Imports theories as well, and exports them after each step."""

    weights = WEIGHTS | {"import": 30}

    def __init__(self, ground: MachineSetup) -> None:
        super().__init__(ground)
        self.elsewhere = Session(ground.elsewhere(), local_actor("ada"))

    @answer_invariant()
    def a_version_that_is_written_out_comes_back_byte_for_byte_on_whatever_engine(self) -> None:
        purpose = self.purposes[self.project]
        if not purpose.versions or self.question_number % 2:
            return
        version = purpose.versions[self.question_number // 2 % len(purpose.versions)]
        asked = {"project": self.names[self.project], "format": "json", "version": version.number}
        text: str = self.call(self.reader, "purpose.export", **asked)["content"]
        document = json.loads(text)
        assert document == document_of(purpose, version, self.today)
        there = f"{self.names[0]} at {self.steps}"
        self.elsewhere.call("work.open", project=there, policies={"profile_min": "light"})
        self.elsewhere.call("purpose.import", project=there, document=document)
        assert self.elsewhere.call("purpose.export", project=there, format="json").content == text

    @answer_invariant()
    def a_version_can_be_written_out_in_every_format(self) -> None:
        if self.purposes[self.project].versions:
            asked = {"project": self.names[self.project], "format": FORMATS[self.question_number % len(FORMATS)]}
            assert self.call(self.reader, "purpose.export", **asked)["content"].endswith("\n")


def test_after_any_calls_a_theory_that_is_taken_in_is_what_its_document_says(
    engine: Engine, run_to_bound: BoundedRun
) -> None:
    run_to_bound("purpose files", partial(run_machine, PurposeFilesMachine, engine), STEPS)
