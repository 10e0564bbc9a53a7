"""Rules of purpose that only the triggers of its tables refuse: the code never breaks them."""

from __future__ import annotations

from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.kernel.store.guards import make_error_factory


class VersionGap(Conflict):
    """Version numbers run 1, 2, 3, and a version keeps its own."""

    code = "version_gap"


class KeyReused(Conflict):
    """A stable key means one thing for ever."""

    code = "key_reused"


class RunNotFinal(RuleViolated):
    """A version stands on facts that are committed and in view."""

    code = "run_not_final"


REFUSALS = {
    "version_gap": make_error_factory(VersionGap, "a version has the next number of its project, and keeps it"),
    "key_reused": make_error_factory(KeyReused, "a key is given once"),
    "run_not_final": make_error_factory(RunNotFinal, "this run is a draft, or was deleted; bind one that is in force"),
}
