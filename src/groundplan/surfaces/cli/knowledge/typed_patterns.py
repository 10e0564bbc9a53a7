"""Patterns as they are typed: in a folder of the working copy they start there, and after `:/` at its root, as in git.

The plan stores them from the root. Other surfaces send them so, because they are in no folder.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from groundplan.kernel.wording import quote_text
from groundplan.knowledge.paths.names import EVERY_FILE
from groundplan.knowledge.paths.pattern import MalformedPattern, parse_pattern
from groundplan.repository.git import FROM_ROOT, WorkingCopy

SPECIAL = re.compile(r"[\\*?\[\]{}]|^!")


class AnchoredPattern(NamedTuple):
    """A pattern from the root, and a warning if it was probably meant to be from there already."""

    text: str
    warning: str | None = None


def anchor_pattern(typed: str, working_copy: WorkingCopy) -> AnchoredPattern:
    """Return a typed pattern from the root. A malformed one is returned as it is, so that its error quotes it."""
    text = typed.strip()
    if text.startswith(FROM_ROOT):
        return AnchoredPattern(text.removeprefix(FROM_ROOT) or EVERY_FILE)
    names = list(working_copy.folder_names)
    while names and text.startswith(("./", "../")):
        step, _, text = text.partition("/")
        if step == "..":
            names.pop()
    try:
        parse_pattern(text)
    except MalformedPattern:
        return AnchoredPattern(typed)
    return AnchoredPattern(
        "/".join([*map(_escape, names), text]), _warn_about_folder(text, "/".join(names), working_copy)
    )


def _escape(name: str) -> str:
    """Return a name as a segment that matches only this name."""
    return SPECIAL.sub(r"\\\g<0>", name)


def _warn_about_folder(pattern: str, folder: str, working_copy: WorkingCopy) -> str | None:
    """Return a warning if the folder has nothing that the pattern names, and the root has."""
    first = pattern.partition("/")[0]
    is_at_root_only = (
        folder
        and SPECIAL.search(first) is None
        and working_copy.is_folder(f"{folder}/{first}") is None
        and working_copy.is_folder(first) is not None
    )
    if not is_at_root_only:
        return None
    return (
        f"{quote_text(pattern)} starts at {folder}, where there is no {first}; "
        f"write {FROM_ROOT}{pattern} if it starts at the root of the repository"
    )
