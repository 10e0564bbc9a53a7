"""Stored rows and events of templates."""

from __future__ import annotations

import json
from typing import Any

from tests.engines import Engine


def all_rows(engine: Engine) -> list[Any]:
    """Return all rows of templates, of their sections, and of the organization's history."""
    return [
        engine.as_owner(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
        for table in ("work_templates", "work_template_sections", "organization_events", "organizations")
    ]


def events(engine: Engine) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the template events in order: operation, subject, changed fields."""
    rows = engine.as_owner(
        "SELECT op, subject, changes FROM organization_events WHERE op LIKE 'template.%' ORDER BY rev, n"
    )
    return [
        (op, subject, {one["field"]: (one["before"], one["after"]) for one in json.loads(changes)})
        for op, subject, changes in rows
    ]
