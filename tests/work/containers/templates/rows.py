"""What the database keeps of templates, and what it tells of them."""

from __future__ import annotations

import json
from typing import Any

from tests.engines import Engine


def everything(engine: Engine) -> list[Any]:
    """Every row of templates, their sections, and of the history of the organization."""
    return [
        engine.as_owner(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
        for table in ("work_templates", "work_template_sections", "organization_events", "organizations")
    ]


def events(engine: Engine) -> list[tuple[str, str, dict[str, Any]]]:
    """What happened to templates, in order: what, to which, and how each field moved."""
    rows = engine.as_owner(
        "SELECT op, subject, changes FROM organization_events WHERE op LIKE 'template.%' ORDER BY rev, n"
    )
    return [
        (op, subject, {one["field"]: (one["before"], one["after"]) for one in json.loads(changes)})
        for op, subject, changes in rows
    ]
