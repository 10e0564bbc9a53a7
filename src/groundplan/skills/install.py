"""Put the skills where an agent looks for them, refresh them, and leave alone what somebody has made their own.

Each file says in its front matter what it was when it was written, so an edit is noticed. There it costs no agent a
token: of the front matter only name and description are read before a skill is used. Line breaks play no part: git may
have checked the file out with CRLF, and then it keeps them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from groundplan.repository.rules.export_plan import HAND_EDITED, NOT_OURS
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.rules.formats import front_matter
from groundplan.repository.rules.formats.front_matter import FENCE, UnreadableRule
from groundplan.repository.rules.line_breaks import apply_line_breaks, detect_line_breaks, normalize_line_breaks
from groundplan.skills import SKILL_FILE, SKILL_NAMES, read_skill

_CHECKSUM = re.compile(r"^metadata:\n  generated-by: groundplan\n  sha256: ([0-9a-f]{64})\n", re.MULTILINE)


@dataclass(slots=True)
class Installed:
    """What became of each file; of those that were kept, why."""

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)


def install(directory: Path) -> Installed:
    """Bring the skills in a directory up to date."""
    folder = Folder(directory)
    done = Installed()
    for name in SKILL_NAMES:
        path = f"{name}/{SKILL_FILE}"
        wanted = add_checksum(read_skill(name))
        try:
            there = folder.read(path)
            reason = None if there is None else _reason_to_keep(there)
            if there is not None and normalize_line_breaks(there) == wanted:
                done.unchanged.append(path)
            elif reason is not None:
                done.kept.append((path, reason))
            else:
                folder.write(path, apply_line_breaks(wanted, detect_line_breaks(there or "")))
                done.written.append(path)
        except UnusableFile as error:
            done.kept.append((path, error.reason))
    return done


def add_checksum(text: str) -> str:
    """A skill that says what it was when it was written."""
    front, body = front_matter.split(text)
    end = f"{FENCE}\n"
    said = f"metadata:\n  generated-by: groundplan\n  sha256: {_digest(text)}\n"
    return f"{front.removesuffix(end)}{said}{end}{body}"


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
