"""Errors for rules that database triggers enforce. The code itself never breaks these rules."""

from __future__ import annotations

from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.kernel.store.schema import make_error_factory


class VersionGap(Conflict):
    """Version numbers are consecutive from 1 and never change."""

    code = "version_gap"


class KeyReused(Conflict):
    """A stable key always names the same item."""

    code = "key_reused"


class RunNotFinal(RuleViolated):
    """A version needs a run of facts that is committed and not deleted."""

    code = "run_not_final"


REFUSALS = {
    "version_gap": make_error_factory(VersionGap, "a version must have the next number of its project and keep it"),
    "key_reused": make_error_factory(KeyReused, "a key is never reused"),
    "run_not_final": make_error_factory(RunNotFinal, "this run is a draft or was deleted; use a run that is in force"),
}
