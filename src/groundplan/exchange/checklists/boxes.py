"""The boxes of a checklist: `- [ ] text`, `* [x] text`, `1. [~] text`."""

from __future__ import annotations

from dataclasses import dataclass

from groundplan.work.importing.source_items import Fate

TAB_CHARS = 4
NUMBER_CHARS_MAX = 9  # of an ordered list, as in CommonMark

OPEN_MARK, DONE_MARK, DROPPED_MARK = " ", "x", "-"
STARTED_MARKS = "~/"
FATES: dict[str, Fate] = {
    OPEN_MARK: "open",
    **dict.fromkeys(STARTED_MARKS, "open"),
    **dict.fromkeys("xX✓✔", "done"),
    DROPPED_MARK: "dropped",
}
OPTIONAL_SIGN = "*"  # behind the box, as Kiro writes it


@dataclass(frozen=True, slots=True)
class CheckBox:
    """A box: its indentation, the sign in it, and the text behind it."""

    indent: int
    mark: str
    text: str
    is_optional: bool

    @property
    def number(self) -> tuple[int, ...]:
        """The number that the text begins with, such as `1.2` or `3.`; empty if there is none."""
        first = self.text.partition(" ")[0].rstrip(".)")
        parts = first.split(".")
        is_number = all(part.isascii() and part.isdecimal() and len(part) <= NUMBER_CHARS_MAX for part in parts)
        return tuple(int(part) for part in parts) if is_number else ()


def parse_box(line: str) -> CheckBox | None:
    """Return the box in a line, or None. Links, as in `- [x](address)`, and other signs are no boxes."""
    bare = line.lstrip(" \t")
    rest = _strip_bullet(bare)
    if rest is None or rest[:1] != "[" or rest[1:2] not in FATES or rest[2:3] != "]":
        return None
    text = rest[3:]
    is_optional = text.startswith(OPTIONAL_SIGN) and text[1:2] in ("", " ", "\t")
    if is_optional:
        text = text[1:]
    if text[:1] not in ("", " ", "\t"):
        return None
    return CheckBox(measure_indent(line), rest[1], text.strip(), is_optional)


def measure_indent(line: str) -> int:
    """Return the width of the white space at the beginning of a line."""
    width = 0
    for char in line:
        if char == "\t":
            width += TAB_CHARS - width % TAB_CHARS
        elif char == " ":
            width += 1
        else:
            break
    return width


def _strip_bullet(bare: str) -> str | None:
    """Return the text behind the bullet or number of a list item, or None if it is none."""
    if bare[:1] in ("-", "*", "+") and bare[1:2] in (" ", "\t"):
        return bare[1:].lstrip(" \t")
    digits = len(bare) - len(bare.lstrip("0123456789"))
    is_ordered = 0 < digits <= NUMBER_CHARS_MAX and bare[digits : digits + 1] in (".", ")")
    if is_ordered and bare[digits + 1 : digits + 2] in (" ", "\t"):
        return bare[digits + 1 :].lstrip(" \t")
    return None
