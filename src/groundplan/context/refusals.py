"""Rules of context that the code and the triggers of its tables both enforce, each with one error."""

from __future__ import annotations

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.guards import make_error_factory


class RequiredUnset(RuleViolated):
    """A whole commit has every input that is required."""

    code = "required_inputs_unset"


class SourceMissing(RuleViolated):
    """A source-backed value names a source before it is committed."""

    code = "source_missing"


class LowerProvenance(RuleViolated):
    """A value is not replaced by one of lower provenance. A person decides that."""

    code = "lower_provenance"


class NotAnOption(RuleViolated):
    """A choice is one of the options there are."""

    code = "not_an_option"


class RunBound(RuleViolated):
    """A run on which a published version stands stays in view."""

    code = "run_bound"


REFUSALS = {
    "required_unset": make_error_factory(
        RequiredUnset, "something that is required is not set; set it, or allow a partial commit"
    ),
    "source_missing": make_error_factory(SourceMissing, "something that is source-backed names no source; link one"),
    "lower_provenance": make_error_factory(
        LowerProvenance, "the value there has a higher provenance; suggest another one beside it"
    ),
    "not_an_option": make_error_factory(NotAnOption, "the value is none of the options"),
    "run_bound": make_error_factory(RunBound, "a published version stands on this run"),
}
