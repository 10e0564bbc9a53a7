"""Errors for the rules that both the code and the table triggers of context enforce.

The last owner is a rule of the kernel, but its code is one of the contract, where a project is a scope.
"""

from __future__ import annotations

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.guards import ErrorFactory, make_error_factory


class LastOwner(RuleViolated):
    """The change would leave the project without an owner."""

    code = "pciv_scope_members_last_owner_forbidden"

    def __init__(self, table: str) -> None:
        super().__init__("the last owner cannot be removed or given a lower role; add another owner first")


class RequiredUnset(RuleViolated):
    """A complete commit needs a value for every required input."""

    code = "required_inputs_unset"


class SourceMissing(RuleViolated):
    """A source-backed value must name a source before it is committed."""

    code = "source_missing"


class LowerProvenance(RuleViolated):
    """A value of lower provenance cannot replace one of higher provenance without a person's decision."""

    code = "lower_provenance"


class NotAnOption(RuleViolated):
    """An enum value must be one of the options of its input."""

    code = "not_an_option"


class RunBound(RuleViolated):
    """A run that a published version rests on cannot be deleted."""

    code = "run_bound"


REFUSALS: dict[str, ErrorFactory] = {
    "last_owner": LastOwner,
    "required_unset": make_error_factory(
        RequiredUnset, "a required input is not set; set it, or allow a partial commit"
    ),
    "source_missing": make_error_factory(SourceMissing, "a source-backed value names no source; link one"),
    "lower_provenance": make_error_factory(
        LowerProvenance, "the current value has a higher provenance; suggest a replacement instead"
    ),
    "not_an_option": make_error_factory(NotAnOption, "the value is not one of the options"),
    "run_bound": make_error_factory(RunBound, "a published version rests on this run"),
}
