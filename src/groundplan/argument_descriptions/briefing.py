"""Arguments of what joins the slices."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "briefing.inbox/project": "The project, by name or id. Default: all of yours.",
}
