"""The body of a task file: sections below headings of level two, some of them between marks.

    ## Description

    <!-- SECTION:DESCRIPTION:BEGIN -->
    Text, which may have headings of its own.
    <!-- SECTION:DESCRIPTION:END -->

Comments are a list of their own:

    <!-- COMMENTS:BEGIN -->
    author: Ada
    created: 2026-01-02 10:00
    ---
    Text
    ---
    <!-- COMMENTS:END -->
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from groundplan.markdown_lines import iter_lines, parse_heading

SECTION_LEVEL = 2
COMMENTS_MARK = "COMMENTS"
COMMENT_FENCE = "---"
COMMENT_FIELDS = ("author", "created")
# The mark around each section that the tool knows.
MARKS = {
    "Description": "SECTION:DESCRIPTION",
    "Acceptance Criteria": "AC",
    "Definition of Done": "DOD",
    "Implementation Plan": "SECTION:PLAN",
    "Implementation Notes": "SECTION:NOTES",
    "Comments": COMMENTS_MARK,
    "Final Summary": "SECTION:FINAL_SUMMARY",
}
FINAL_SUMMARY = "Final Summary"
UNTITLED = "Body"  # the text above the first heading


@dataclass(slots=True)
class BodySection:
    """A section: its heading, the mark around its text, and the lines of the text."""

    title: str
    mark: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text without empty lines around it."""
        return "\n".join(self.lines).strip("\n").rstrip()


@dataclass(frozen=True, slots=True)
class TaskComment:
    """A comment, with its author and date as they are written."""

    author: str
    created: str
    text: str


def make_mark(mark: str, end: str) -> str:
    """Return the line of a mark; `end` is BEGIN or END."""
    return f"<!-- {mark}:{end} -->"


def split_body(body: str) -> list[BodySection]:
    """Return the sections of a body. What is between marks belongs to one section, whatever it looks like."""
    lines = body.split("\n")
    last_ends = {mark: index for index, line in enumerate(lines) if (mark := _parse_mark(line, "END"))}
    sections = [BodySection(UNTITLED)]
    unmarked: list[str] = []
    index = 0
    while index < len(lines):
        mark = _parse_mark(lines[index], "BEGIN")
        if mark and last_ends.get(mark, -1) > index:
            _add_unmarked(sections, unmarked)
            unmarked = []
            end = next(at for at in range(index + 1, len(lines)) if _parse_mark(lines[at], "END") == mark)
            sections[-1].mark = mark
            sections[-1].lines += lines[index + 1 : end]
            index = end
        elif not mark and not _parse_mark(lines[index], "END"):
            unmarked.append(lines[index])
        index += 1
    _add_unmarked(sections, unmarked)
    return [section for section in sections if section.text]


def _add_unmarked(sections: list[BodySection], lines: Sequence[str]) -> None:
    for line, is_code in iter_lines("\n".join(lines)) if lines else ():
        heading = None if is_code else parse_heading(line)
        if heading is not None and heading[0] == SECTION_LEVEL:
            sections.append(BodySection(heading[1]))
        else:
            sections[-1].lines.append(line)


def _parse_mark(line: str, end: str) -> str:
    """Return the mark that a line begins or ends, or nothing."""
    bare = line.strip()
    if not (bare.startswith("<!--") and bare.endswith("-->")):
        return ""
    mark, colon, found = bare[4:-3].strip().rpartition(":")
    return mark if colon and found == end and mark in MARKS.values() else ""


def parse_comments(lines: Sequence[str]) -> list[TaskComment] | None:
    """Return the comments in a marked section, or None if the text is not a list of comments."""
    comments = []
    index = 0
    while (index := _skip_blank(lines, index)) < len(lines):
        head: dict[str, str] = {}
        while index < len(lines) and (given := _parse_comment_field(lines[index])) is not None:
            head |= [given]
            index += 1
        if not head or index == len(lines) or lines[index].strip() != COMMENT_FENCE:
            return None
        end = _find_comment_end(lines, index + 1)
        text = "\n".join(lines[index + 1 : end]).strip("\n")
        comments.append(TaskComment(head.get("author", ""), head.get("created", ""), text))
        index = end + 1
    return comments


def _find_comment_end(lines: Sequence[str], begin: int) -> int:
    """Return the index of the fence behind a comment: the next one that a comment or nothing follows."""
    for index in range(begin, len(lines)):
        if lines[index].strip() == COMMENT_FENCE:
            after = _skip_blank(lines, index + 1)
            if after == len(lines) or _parse_comment_field(lines[after]) is not None:
                return index
    return len(lines)


def _skip_blank(lines: Sequence[str], index: int) -> int:
    while index < len(lines) and not lines[index].strip():
        index += 1
    return index


def _parse_comment_field(line: str) -> tuple[str, str] | None:
    name, colon, value = line.partition(":")
    return (name, value.strip()) if colon and name in COMMENT_FIELDS else None
