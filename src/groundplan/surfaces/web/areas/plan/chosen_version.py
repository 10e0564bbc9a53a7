"""Which version of the plan an address shows: by its number, as the draft, or the one in force on a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.dates import get_day, is_day
from groundplan.purpose.model import VersionStatus
from groundplan.purpose.versions.versions import Version, VersionRef
from groundplan.surfaces.web.visit import Visit

NAMES = ("draft", "published")


class ChosenVersion(NamedTuple):
    """The version to open, and the day whose observations it shows. `ref` None stands for the default version."""

    ref: VersionRef | None = None
    as_of: str = ""
    is_missing: bool = False  # nothing was in force on that day
    problem: str = ""  # why the address cannot be shown as it says


def read_today(visit: Visit) -> str:
    """Return the day by the clock of the store."""
    return get_day(visit.session.store.read(visit.session.actor, lambda tx: tx.now))


def choose_version(query: Mapping[str, str], versions: Sequence[Version], today: str) -> ChosenVersion:
    """Return the version that an address names. A day goes before a version."""
    day = query.get("as_of", "").strip()
    if day:
        return _find_in_force(day, versions, today)
    wanted = query.get("version", "")
    if wanted.isascii() and wanted.isdigit():
        return ChosenVersion(int(wanted[:9]))
    if wanted == "draft" and not any(one.status is VersionStatus.DRAFT for one in versions):
        return ChosenVersion(problem="There is no draft any more. This is the version in force.")
    if wanted == "published" and not any(one.status is VersionStatus.PUBLISHED for one in versions):
        return ChosenVersion(problem="No version is published yet. This is the draft.")
    return ChosenVersion("draft" if wanted == "draft" else "published") if wanted in NAMES else ChosenVersion()


def _find_in_force(day: str, versions: Sequence[Version], today: str) -> ChosenVersion:
    if not is_day(day):
        return ChosenVersion(problem=f"“{day}” is not a day such as {today}. This is the plan of today.")
    if day > today:
        return ChosenVersion(problem=f"{day} is in the future. This is the plan of today.")
    published = [one for one in versions if one.published_at and get_day(one.published_at) <= day]
    if not published:
        return ChosenVersion(as_of=day, is_missing=True)
    return ChosenVersion(max(one.number for one in published), as_of=day)
