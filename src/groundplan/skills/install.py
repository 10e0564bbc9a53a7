"""Install the skills into a folder, update them, and keep edited files.

The front matter of each file holds a checksum of its text, so that an edit is noticed. It costs no tokens there: agents
read only name and description before they use a skill. Line breaks do not count: git may have checked the file out with
CRLF, and then it keeps them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from groundplan.front_matter import FENCE
from groundplan.repository.rules import front_matter
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.rules.front_matter import UnreadableRule
from groundplan.repository.rules.plan_files import HAND_EDITED, NOT_OURS
from groundplan.repository.rules.rule import apply_line_breaks, detect_line_breaks, normalize_line_breaks
from groundplan.skills import SKILL_FILE, SKILL_NAMES, read_skill

_CHECKSUM = re.compile(r"^metadata:\n  generated-by: groundplan\n  sha256: ([0-9a-f]{64})\n", re.MULTILINE)


@dataclass(slots=True)
class Installed:
    """The outcome for each file, with a reason for each kept file."""

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)


def install(directory: Path) -> Installed:
    """Write or update the skills in a directory."""
    folder = Folder(directory)
    done = Installed()
    for name in SKILL_NAMES:
        path = f"{name}/{SKILL_FILE}"
        wanted = add_checksum(read_skill(name))
        try:
            current = folder.read(path)
            reason = None if current is None else _reason_to_keep(current)
            if current is not None and normalize_line_breaks(current) == wanted:
                done.unchanged.append(path)
            elif reason is not None:
                done.kept.append((path, reason))
            else:
                folder.write(path, apply_line_breaks(wanted, detect_line_breaks(current or "")))
                done.written.append(path)
        except UnusableFile as error:
            done.kept.append((path, error.reason))
    return done


def add_checksum(text: str) -> str:
    """Return a skill with a checksum of its text in the front matter."""
    front, body = front_matter.split(text)
    end = f"{FENCE}\n"
    metadata = f"metadata:\n  generated-by: groundplan\n  sha256: {_digest(text)}\n"
    return f"{front.removesuffix(end)}{metadata}{end}{body}"


def _reason_to_keep(text: str) -> str | None:
    try:
        front, body = front_matter.split(normalize_line_breaks(text))
    except UnreadableRule:
        return NOT_OURS
    mark = _CHECKSUM.search(front)
    if mark is None:
        return NOT_OURS
    return None if _digest(_CHECKSUM.sub("", front) + body) == mark[1] else HAND_EDITED


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
