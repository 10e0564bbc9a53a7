"""List the versions of a project."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import LeftOut
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.version import Version, read_versions, to_version


class ListVersions(Struct, forbid_unknown_fields=True):
    """The project whose versions to list."""

    project: Name
    lean: bool | None = None


class Versions(Struct):
    """The versions of a project, by number."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    versions: list[Version]
    left_out: LeftOut = UNSET


def list_versions(tx: Transaction, _request: ListVersions) -> Versions:
    """Return all versions, or the latest that fit into the budget."""
    latest_first = [to_version(row) for row in reversed(read_versions(tx))]
    kept = tx.budget.reserve(Versions([])).take_rows(latest_first)
    missing = len(latest_first) - len(kept)
    return Versions(kept[::-1], {"versions": missing} if missing else UNSET)


OPERATION = declare(
    list_versions,
    name="purpose.versions",
    summary="List the versions.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    tool=Tool("toc_version", Group.PURPOSE, "list"),
    command=Command(
        ("purpose", "versions"), columns=("number", "status", "label", "profile", "published_at", "published_by")
    ),
    http=Route("GET", "/projects/{project}/purpose/versions"),
)
