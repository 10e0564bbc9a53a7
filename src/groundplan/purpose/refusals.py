"""Rules of purpose that only the triggers of its tables refuse: the code never breaks them."""

from __future__ import annotations

from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.kernel.store.guards import refusing


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
    "version_gap": refusing(VersionGap, "a version has the next number of its project, and keeps it"),
    "key_reused": refusing(KeyReused, "a key is given once"),
    "run_not_final": refusing(RunNotFinal, "this run is a draft, or was deleted; bind one that is in force"),
}
