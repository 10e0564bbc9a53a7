"""What a rule file says, the same in every format: a name, the files it is for, and what to know about them.

    # Checkout Page
    > Files: `src/pages/checkout/**`
    > Part of: Pages
    > Related: Cart (shares the price formatter)

    Locales come from the registry, not from local files.

The lines behind the heading are the plan's and are written for the reader; of them only `Files` is read back, and it
is written only where nothing else in the format says for which files the rule is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from groundplan.knowledge.paths.pattern import MalformedPattern, parse_pattern
from groundplan.repository.rules.line_breaks import normalize_line_breaks

FILES_PREFIX, PART_OF_PREFIX, RELATED_PREFIX = "> Files: ", "> Part of: ", "> Related: "

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?=\S)")
_CODE_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_TICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class ExportedAtom:
    """An atom as far as a rule file shows it."""

    atom_id: str
    project_id: str
    version: int
    name: str
    patterns: tuple[str, ...]
    knowledge: str
    part_of: str | None = None
    related: tuple[tuple[str, str], ...] = ()  # names and reasons


@dataclass(frozen=True, slots=True)
class Rule:
    """What a file says. What it does not say is None."""

    knowledge: str
    name: str | None = None
    patterns: tuple[str, ...] | None = None


def render_body(subject: ExportedAtom, *, names_files: bool) -> str:
    """The text for a rule file, without front matter and mark."""
    lines = [f"# {subject.name}"]
    if names_files:
        lines.append(FILES_PREFIX + ", ".join(_format_code(pattern) for pattern in subject.patterns))
    if subject.part_of is not None:
        lines.append(PART_OF_PREFIX + subject.part_of)
    if subject.related:
        lines.append(
            RELATED_PREFIX + "; ".join(f"{name} ({' '.join(reason.split())})" for name, reason in subject.related)
        )
    if subject.knowledge:
        lines += ["", normalize_line_breaks(subject.knowledge)]
    return "".join(f"{line}\n" for line in lines)


def parse_generated(body: str) -> Rule:
    """What a text says that Groundplan wrote, perhaps edited since."""
    first, lines, rest = _parts(body)
    if not first:
        return Rule(rest.strip())
    patterns = None
    for line in lines:
        if line.startswith(FILES_PREFIX):
            patterns = tuple(_parse_code_spans(line)) or None
    return Rule(rest.strip(), first[2:].strip() or None, patterns)


def list_display_lines(body: str) -> list[str]:
    """The lines of such a text that are written for the reader and never read back."""
    return [line for line in _parts(body)[1] if not line.startswith(FILES_PREFIX)]


def _parts(body: str) -> tuple[str, list[str], str]:
    """The heading, the lines of the plan behind it, and the rest; it is all rest where there is no heading on top."""
    first, _, rest = body.partition("\n")
    if not first.startswith("# "):
        return "", [], body
    lines = []
    line, _, behind = rest.partition("\n")
    while line.startswith((FILES_PREFIX, PART_OF_PREFIX, RELATED_PREFIX)):
        lines.append(line)
        rest = behind
        line, _, behind = rest.partition("\n")
    return first, lines, rest


def parse_handwritten(body: str) -> Rule:
    """What a text says that somebody else wrote: its first heading is its name.

    A heading on top is taken off, since the name says it; one further down stays where it is.
    """
    body = body.strip()
    fence = ""
    for number, line in enumerate(body.split("\n")):
        if found := _CODE_FENCE.match(line):
            opened = found[1]
            if not fence:
                fence = opened
            elif opened.startswith(fence) and not line.strip(" \r" + fence[0]):
                fence = ""
        elif not fence and (found := _HEADING.match(line)):
            return Rule(
                body.partition("\n")[2].strip() if number == 0 else body, _strip_closing_hashes(line[found.end() :])
            )
    return Rule(body)


def normalize_rule(rule: Rule) -> Rule:
    """A rule in the spelling in which the plan keeps it."""
    return Rule(
        rule.knowledge,
        None if rule.name is None else normalize_name(rule.name),
        None if rule.patterns is None else tuple(normalize_patterns(rule.patterns)),
    )


def normalize_name(name: str) -> str:
    """A name in the spelling in which the plan keeps it."""
    return unicodedata.normalize("NFC", name).strip()


def normalize_patterns(patterns: Iterable[str]) -> list[str]:
    """Patterns in the spelling in which the plan keeps them."""
    return [_normalize_pattern(pattern.strip()) for pattern in patterns]


def _normalize_pattern(pattern: str) -> str:
    try:
        return parse_pattern(pattern).text
    except MalformedPattern:
        return pattern  # it will be refused


def _strip_closing_hashes(heading: str) -> str:
    """A heading without the signs that may stand at its end too: `## Title ##`."""
    title = heading.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if bare[-1:].isspace() else title


def _format_code(pattern: str) -> str:
    """A pattern between more back-ticks than it has itself."""
    ticks = "`" * (max((len(run) for run in _TICKS.findall(pattern)), default=0) + 1)
    pad = " " if pattern.startswith(("`", " ")) or pattern.endswith(("`", " ")) else ""
    return f"{ticks}{pad}{pattern}{pad}{ticks}"


def _parse_code_spans(line: str) -> Iterator[str]:
    opening: re.Match[str] | None = None
    for run in _TICKS.finditer(line):
        if opening is None:
            opening = run
        elif len(run[0]) == len(opening[0]):
            text = line[opening.end() : run.start()]
            is_padded = len(text) > 2 and text[0] == text[-1] == " "
            yield text[1:-1] if is_padded else text
            opening = None
