"""A block between two marks, in a file that people write: added, kept up to date, and removed again.

    <!-- groundplan:begin 1f2e3d4c5b6a ... -->      # groundplan:begin 1f2e3d4c5b6a ...
    text                                            text
    <!-- groundplan:end -->                         # groundplan:end

The number is a hash of the text. A block that somebody has edited is left alone.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

from groundplan.repository.rules.export_plan import HAND_EDITED
from groundplan.repository.rules.line_breaks import apply_line_breaks, detect_line_breaks, normalize_line_breaks

REMARK = "(written by groundplan init; groundplan init --undo removes it)"
DIGEST_CHARS = 12

_MARKED = re.compile(
    r"^(?P<open><!--|\#)\ groundplan:begin\ (?P<digest>[0-9a-f]{12})\b[^\n]*\n"
    r"(?P<body>(?:(?!(?:<!--|\#)\ groundplan:begin\b)[^\n]*\n)*?)"
    r"(?:<!--|\#)\ groundplan:end\b[^\n]*(?:\n|\Z)",
    re.MULTILINE | re.VERBOSE,
)
_BEGIN = re.compile(r"^(?:<!--|#) groundplan:begin\b", re.MULTILINE)


class EditedText(NamedTuple):
    """A text after an edit. If it was left alone, `kept` says why, as the predicate of a sentence about the file."""

    text: str | None  # None: the file is not needed any more
    kept: str | None = None


def format_block(body: str, *, comment: str) -> str:
    """Return a block; `comment` is "#" or "<!--". The body must end with a line break."""
    end = " -->" if comment == "<!--" else ""
    return f"{comment} groundplan:begin {_digest(body)} {REMARK}{end}\n{body}{comment} groundplan:end{end}\n"


def replace_block(text: str, block: str) -> EditedText | None:
    """Return the text with its block brought up to date, or None if it has none."""
    found = _find_block(text)
    if found is None or isinstance(found, EditedText):
        return found
    wanted = apply_line_breaks(block, detect_line_breaks(text))
    return EditedText(text[: found.start()] + wanted + text[found.end() :])


def append_block(text: str, block: str) -> str:
    """Return the text with the block at its end, after a blank line."""
    gap = "" if not text or text.endswith(("\n\n", "\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
    return text + apply_line_breaks(gap + block, detect_line_breaks(text))


def remove_block(text: str) -> EditedText:
    """Return the text without its block and the blank line before it; the same text if it has none."""
    found = _find_block(text)
    if found is None:
        return EditedText(text)
    if isinstance(found, EditedText):
        return found
    before = text[: found.start()]
    for blank in ("\r\n\r\n", "\n\n"):
        if before.endswith(blank):
            before = before[: -len(blank) // 2]
            break
    return EditedText(before + text[found.end() :])


def _find_block(text: str) -> re.Match[str] | EditedText | None:
    """Return the block of a text, or why it must be left alone."""
    begins = len(_BEGIN.findall(text))
    if not begins:
        return None
    found = _MARKED.search(text)
    if begins > 1:
        return EditedText(text, "has the block of Groundplan twice; delete one of them")
    if found is None:
        return EditedText(text, "has a block of Groundplan without its last line; delete the block")
    if _digest(found["body"]) != found["digest"]:
        return EditedText(text, f"{HAND_EDITED} inside the block of Groundplan; delete the block to get a new one")
    return found


def _digest(body: str) -> str:
    return sha256(normalize_line_breaks(body).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]
