"""Warn about patterns that are probably meant for a folder, but match only a file of that name."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from groundplan.kernel.preferences import RepositoryPaths
from groundplan.kernel.wording import quote_text
from groundplan.knowledge.paths.names import looks_like_folder
from groundplan.knowledge.paths.pattern import parse_pattern

WARNINGS_MAX = 5


def warn_about_folder_patterns(patterns: Sequence[str], working_copy: RepositoryPaths | None) -> list[str] | UnsetType:
    """Return a warning for each pattern without wildcard that names a folder, or a name without ending."""
    found = []
    for index, pattern in enumerate(patterns):
        if parse_pattern(pattern).routes:
            continue
        is_folder = None if working_copy is None else working_copy.is_folder(pattern)
        if is_folder or (is_folder is None and looks_like_folder(pattern)):
            why = "is a folder, and matches none of its files" if is_folder else "has no ending, so it may be a folder"
            instead = f"{pattern}/**" if working_copy is None else working_copy.spell_pattern(f"{pattern}/**")
            found.append(f"paths[{index}] {quote_text(pattern)} {why}; for everything below it write {instead}")
    if len(found) > WARNINGS_MAX:
        found = [*found[: WARNINGS_MAX - 1], f"{len(found) - WARNINGS_MAX + 1} more patterns like these"]
    return found or UNSET
