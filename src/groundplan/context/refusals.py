"""Errors for the rules that both the code and the table triggers enforce, and the error classes of the contract.

The adapter raises the classes of the contract; each is also an error of its family.

    PcivAuthRequiredError        no actor is given                         Unauthenticated
    PcivRlsDeniedError           the role does not allow it, or the actor  Forbidden or NotFound
                                 may not see it
    PcivRuntimeInvariantError    a run breaks an invariant                 RuleViolated

For `NoContext` the contract has a text instead of a class; only the adapter raises it with that text, because others do
not know its words. The last owner is a rule of the kernel, but its code is one of the contract, where a project is a
scope.
"""

from __future__ import annotations

from groundplan.kernel.errors import Forbidden, GroundplanError, NotFound, RuleViolated, Steps, Unauthenticated
from groundplan.kernel.store.schema import ErrorFactory, make_error_factory


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


class DisplacesUserEntered(RuleViolated):
    """Only a person commits a run that displaces what a person entered."""

    code = "displaces_user_entered"


class PersonRequired(RuleViolated):
    """Only a person deletes a committed run."""

    code = "person_required"


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
    "displaces_user_entered": make_error_factory(
        DisplacesUserEntered, "the run displaces what a person entered; let a person commit it"
    ),
    "person_required": make_error_factory(PersonRequired, "only a person can delete a committed run"),
    "run_bound": make_error_factory(RunBound, "a published version rests on this run"),
}


class NoContext(NotFound):
    """The scope has no committed run."""

    code = "no_context"
    contract_name = "Error"
    contract_text = "No committed PCIV v1 context found"

    def __init__(self, scope_id: str, *, of_user: bool = False, hint: str = "", next_steps: Steps = ()) -> None:
        whose = "this user" if of_user else repr(scope_id)
        problem = f"no facts of {whose} are committed" + (f"; {hint}" if hint else "")
        GroundplanError.__init__(self, problem, next_steps=next_steps, scopeId=scope_id)


class PcivAuthRequiredError(Unauthenticated):
    """The request names no actor."""

    contract_name = "PcivAuthRequiredError"


class PcivRlsDeniedError(Exception):
    """The actor's role does not allow this, or the actor may not see it; the family tells which."""


class _DeniedByRole(Forbidden, PcivRlsDeniedError):
    """The actor's role does not allow this."""

    contract_name = "PcivRlsDeniedError"


class _DeniedOrMissing(NotFound, PcivRlsDeniedError):
    """The thing does not exist, or this actor may not see it. Both cases give the same answer."""

    contract_name = "PcivRlsDeniedError"


_CONTRACT_CLASSES: dict[type[GroundplanError], type[GroundplanError]] = {
    Unauthenticated: PcivAuthRequiredError,
    Forbidden: _DeniedByRole,
    NotFound: _DeniedOrMissing,
}


def to_contract_error(error: GroundplanError) -> GroundplanError:
    """Return the error as its class in the contract, with the same content; or itself if the contract has none."""
    if isinstance(error, NoContext):
        error.problem = error.contract_text
    if error.contract_name is not None:
        return error
    for family, contract_class in _CONTRACT_CLASSES.items():
        if isinstance(error, family):
            named = contract_class.__new__(contract_class, *error.args)
            named.__dict__.update(error.__dict__)
            named.code = error.code
            return named
    return error
