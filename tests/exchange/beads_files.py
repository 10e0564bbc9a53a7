"""Files of beads, and its own rule of what is ready, written down apart from the reader."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NOW = datetime(2026, 6, 1, tzinfo=UTC)
LATER, EARLIER = "2026-07-01T00:00:00Z", "2026-05-01T08:00:00.5+02:00"
NEVER_WORK = {"merge-request", "gate", "molecule", "message", "agent", "role", "rig"}


def issue(id_: str, status: str = "open", **given: Any) -> dict[str, Any]:
    """Return an issue; `blocks`, `parents` and `others` become its dependencies."""
    links = [(target, "blocks") for target in given.pop("blocks", ())]
    links += [(target, "parent-child") for target in given.pop("parents", ())]
    links += [(target, type_) for type_, target in given.pop("others", ())]
    made = {
        "id": id_,
        "title": f"Issue {id_}",
        "status": status,
        "priority": 2,
        "issue_type": "task",
        "created_at": "2026-01-01T00:00:00+01:00",
        "updated_at": "2026-01-02T00:00:00.123456Z",
        **given,
    }
    if links:
        made["dependencies"] = [
            {"issue_id": id_, "depends_on_id": target, "type": type_, "created_at": "2026-01-01T00:00:00Z"}
            for target, type_ in links
        ]
    return made


def write_issues(folder: Path, issues: Iterable[dict[str, Any]], name: str = "issues.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in issues), encoding="utf-8")
    return path


def find_ready(issues: list[dict[str, Any]]) -> set[str]:
    """Return the issues that beads offers and that have no unfinished parts."""
    known = {one["id"]: one for one in issues if one["status"] != "tombstone"}

    def finished(one: dict[str, Any]) -> bool:
        return one["status"] in ("closed", "complete", "completed", "cancelled")

    def targets(one: dict[str, Any], kind: str) -> list[str]:
        return [link["depends_on_id"] for link in one.get("dependencies", ()) if link["type"] == kind]

    def parent(one: dict[str, Any]) -> dict[str, Any] | None:
        named = [target for target in targets(one, "parent-child") if target in known]
        dotted = one["id"].rpartition(".")[0]
        if not named:
            return known.get(dotted)
        return known[dotted] if dotted in named else known[named[0]]

    def above(one: dict[str, Any]) -> list[dict[str, Any]]:
        found = []
        while (up := parent(one)) is not None:
            found.append(up)
            one = up
        return found

    def blocked(one: dict[str, Any]) -> bool:
        waits = [known[target] for target in targets(one, "blocks") if target in known]
        return any(not finished(target) and target["status"] != "pinned" for target in waits)

    def deferred(one: dict[str, Any] | None) -> bool:
        until = one.get("defer_until") if one else None
        return until is not None and datetime.fromisoformat(until) > NOW

    with_parts = {up["id"] for one in known.values() if not finished(one) for up in above(one)}
    return {
        one["id"]
        for one in known.values()
        if one["status"] in ("open", "in_progress")
        and not any(one.get(flag) for flag in ("pinned", "ephemeral", "is_template"))
        and one["issue_type"] not in NEVER_WORK
        and not deferred(one)
        and not deferred(parent(one))
        and not blocked(one)
        and not any(blocked(up) for up in above(one) if not finished(up))
        and one["id"] not in with_parts
    }
