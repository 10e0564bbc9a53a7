"""Arguments of operations that join the slices."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "briefing.search/project": "The project, by name or id. Without it: all projects that you may see.",
    "dry_run": "Say what would be done, and change nothing.",
    "event": "The event whose write is undone, as `rev.n`. Default: your last change of the project.",
    "limit": "Maximum number of results.",
    "slices": "The slices to search: `work`, `knowledge`, `purpose`, `context`. Default: all of them.",
    "text": "Words to search for; all must match, in any order. Keys, ids and pointers are found, too.",
}
