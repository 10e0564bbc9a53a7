"""The least strict profile that the policy `profile_min` of a project allows."""

from __future__ import annotations

from groundplan.kernel.errors import NextStep, RuleViolated
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.purpose.model import Profile
from groundplan.purpose.version import VersionRow

_LIGHTEST_FIRST = (Profile.LIGHT, Profile.STANDARD, Profile.STRICT)


class ProfileTooLight(RuleViolated):
    """The profile of a draft is lighter than the project allows."""

    code = "profile_too_light"

    def __init__(self, profile: Profile, least: Profile, project: str, *, has_draft: bool) -> None:
        begin = NextStep("purpose.draft", f"with profile {least} begins one", {"project": project, "profile": least})
        discard = NextStep("purpose.discard", "removes this one first", {"project": project})
        super().__init__(
            f"the profile {profile} is lighter than {least}, the lightest that policy profile_min of the project "
            "allows; a draft keeps the profile it begins with",
            next_steps=(
                *((discard,) if has_draft else ()),
                begin,
                NextStep("work.open", "with policies lets an owner change profile_min", {"project": project}),
            ),
            profile=profile,
            profile_min=least,
        )


def choose_profile(tx: Transaction, requested: Profile | None, origin: VersionRow | None) -> Profile:
    """Return the profile of a new draft: the requested one, else that of its origin, raised to the least allowed.

    Raises:
        ProfileTooLight: the requested profile is lighter than the project allows.
    """
    inherited = origin.profile if origin else Profile.STANDARD
    profile = requested or max(inherited, get_least_profile(tx), key=_LIGHTEST_FIRST.index)
    refuse_light_profile(tx, profile, has_draft=False)
    return profile


def refuse_light_profile(tx: Transaction, profile: Profile, *, has_draft: bool) -> None:
    """Raise an error if the profile of a draft that is there, or is to begin, is lighter than the project allows.

    Raises:
        ProfileTooLight: it is.
    """
    least = get_least_profile(tx)
    if is_lighter(profile, least):
        raise ProfileTooLight(profile, least, tx.project.name, has_draft=has_draft)


def get_least_profile(tx: Transaction) -> Profile:
    """Return the lightest profile that the project allows."""
    return Profile(get_policies(tx).profile_min)


def is_lighter(profile: Profile, least: Profile) -> bool:
    """Return whether a profile is lighter than another."""
    return _LIGHTEST_FIRST.index(profile) < _LIGHTEST_FIRST.index(least)
