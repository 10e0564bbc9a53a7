"""The links of a node as pairs and lists, for tests."""

from __future__ import annotations

from typing import Any

from tests.work.client import WorkClient


def links(work: WorkClient, name: str) -> dict[str, list[str]]:
    """Return the targets of the own links of a node, by type."""
    return {
        type_: own
        for type_ in ("serves", "rests_on", "supports", "refutes")
        if (own := [one.to for one in getattr(work.node(name), type_) or () if not one.inherited_from])
    }


def inherited(work: WorkClient, name: str) -> dict[str, list[tuple[str, str]]]:
    """Return the targets that a node inherits with the node that has them, by type."""
    return {
        type_: from_others
        for type_ in ("serves", "rests_on", "supports", "refutes")
        if (
            from_others := [
                (one.to, work.name(one.inherited_from))
                for one in getattr(work.node(name), type_) or ()
                if one.inherited_from
            ]
        )
    }


def dangling(work: WorkClient, name: str) -> list[str]:
    """Return the targets of a node that are gone."""
    node = work.node(name)
    return [one.to for type_ in ("serves", "rests_on") for one in getattr(node, type_) or () if one.dangling]


def last_changes(work: WorkClient, name: str) -> list[tuple[str, Any, Any]]:
    """Return the changes of the last event of a node."""
    return [(one.field, one.before, one.after) for one in work.history(name)[-1].changes]
