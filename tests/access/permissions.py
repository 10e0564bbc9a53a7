"""The hand-written table of who may call what (`permissions.toml`), as the tests of this folder read it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundplan.kernel.access import Permission, Role

_EFFECTS = {"reads": "read", "writes": "write", "destroys": "destroy"}
_TABLE = tomllib.loads(Path(__file__).with_name("permissions.toml").read_text(encoding="utf-8"))

# Permissions and the smallest role that has each.
IN_PROJECT = {Permission(name): Role(role) for name, role in _TABLE["in_project"].items()}
IN_ORGANIZATION = {Permission(name): Role(role) for name, role in _TABLE["in_organization"].items()}
FOR_PERSONS = set(map(Permission, _TABLE["only_for"]["persons"]))
FOR_ADMINISTRATORS = set(map(Permission, _TABLE["only_for"]["administrators"]))


@dataclass(frozen=True, slots=True)
class Rule:
    """What one kind of request does, and the permission that it needs."""

    effect: str  # read, write or destroy
    declared: Permission
    of_others: Permission | None  # what it needs if others have written to what it is about
    if_missing: Permission | None  # what it needs if its project does not exist and is created
    leaves: tuple[str, ...]  # the events that its example records, sorted

    @property
    def permission(self) -> Permission:
        """What the request in examples.py needs."""
        return self.of_others or self.declared

    @property
    def in_project(self) -> bool:
        """Whether the request is about one project."""
        return self.permission in IN_PROJECT

    @property
    def reads(self) -> bool:
        """Whether the request changes nothing."""
        return self.effect == "read"


def is_allowed(role: Role, permission: Permission) -> bool:
    """Return whether a role, in a project or of a token, has a permission."""
    return list(Role).index(role) >= list(Role).index((IN_PROJECT | IN_ORGANIZATION)[permission])


def _parse(entry: dict[str, Any]) -> Rule:
    ((effect, permission),) = [(effect, entry.pop(word)) for word, effect in _EFFECTS.items() if word in entry]
    missing, of_others = entry.pop("if_missing", None), entry.pop("of_others", None)
    leaves = entry.pop("leaves", [])
    assert not entry, entry
    return Rule(
        effect,
        Permission(permission),
        None if of_others is None else Permission(of_others),
        None if missing is None else Permission(missing),
        (leaves,) if isinstance(leaves, str) else tuple(leaves),
    )


RULES = {row: _parse(entry) for room in _TABLE["operations"].values() for row, entry in room.items()}
