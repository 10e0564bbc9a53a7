"""How much a test does: a little in `make test`, and more in `make proof`.

`make proof` runs what is marked `proof` or `teeth`, and every test of Hypothesis.
"""

from __future__ import annotations

import os

from hypothesis import settings

VARIABLE = "GROUNDPLAN_PROOF_STEPS"  # how many steps each machine takes on each store
EXAMPLES = 30  # of a Hypothesis test that does not say otherwise
PROOF_EXAMPLES = 200
STEPS_IN_A_ROUND = 20


def scaled(ordinary: int, proof: int) -> int:
    """Return `ordinary` in `make test` and `proof` in `make proof`: of rounds, rows or examples."""
    return proof if VARIABLE in os.environ else ordinary


def rounds(ordinary: int) -> int:
    """Return how often a race is run: `ordinary` times, and in a proof of 100,000 steps 5,000 times."""
    return max(ordinary, int(os.environ.get(VARIABLE, "0")) // STEPS_IN_A_ROUND)


def use_hypothesis_profile() -> None:
    """Let Hypothesis try as many examples as this run has time for, each without a deadline."""
    settings.register_profile("groundplan", max_examples=scaled(EXAMPLES, PROOF_EXAMPLES), deadline=None)
    settings.load_profile("groundplan")
