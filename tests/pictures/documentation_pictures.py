"""The pictures of the documentation: the example's theory, drawn on a fixed day."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from groundplan.catalog import build_schema
from groundplan.demo import PROJECT, fill
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.session import Session

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
DAY = datetime(2026, 11, 15, 12, tzinfo=UTC)

# The options of each picture. Those of the page follow the reader's theme; the dark one is fixed.
PICTURES: dict[str, dict[str, Any]] = {
    "plan": {"theme": "auto"},
    "pathway": {"theme": "auto", "pathway": "OC3"},
    "overview": {"theme": "auto", "detail": "overview"},
    "compare": {"theme": "auto", "version": 2, "compare": 1},
    "dark": {"theme": "dark"},
}


def draw_pictures() -> dict[Path, str]:
    """Return every picture by its file."""
    with (
        tempfile.TemporaryDirectory(prefix="groundplan-pictures-") as folder,
        Session(
            SqliteStore(Path(folder) / "plan.db", build_schema, clock=lambda: DAY),
            local_actor("ada", kind=ActorKind.PERSON),
        ) as session,
    ):
        fill(session)
        return {
            FOLDER / f"{name}.svg": session.call("purpose.render", project=PROJECT, **given).svg
            for name, given in PICTURES.items()
        }
