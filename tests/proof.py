"""How much a test does: a little in `make test`, and more in `make proof`.

`make proof` runs what is marked `proof` or `teeth`, and every test of Hypothesis.
"""

from __future__ import annotations

import os

from hypothesis import settings

VARIABLE = "GROUNDPLAN_PROOF_STEPS"  # steps of each machine on each store
EXAMPLES = 20  # examples of a Hypothesis test without own settings
PROOF_EXAMPLES = 200
STEPS_IN_A_ROUND = 20


def scaled(ordinary: int, proof: int) -> int:
    """Return `ordinary` in `make test` and `proof` in `make proof`: a number of rounds, rows or examples."""
    return proof if VARIABLE in os.environ else ordinary


def rounds(ordinary: int) -> int:
    """Return the rounds of a race: `ordinary`, or 5,000 in a proof of 100,000 steps."""
    return max(ordinary, int(os.environ.get(VARIABLE, "0")) // STEPS_IN_A_ROUND)


def use_hypothesis_profile() -> None:
    """Set the number of Hypothesis examples for this run, without deadlines."""
    settings.register_profile("groundplan", max_examples=scaled(EXAMPLES, PROOF_EXAMPLES), deadline=None)
    settings.load_profile("groundplan")
