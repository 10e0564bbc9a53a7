"""The text of a rule file, which is the same in every format: a name, file patterns and knowledge.

    # Checkout Page
    > Files: `src/pages/checkout/**`
    > Part of: Pages
    > Related: Cart (shares the price formatter)
    >
    > All pages use the shared layout.

    Locales come from the registry, not from local files.

The quotation below the heading is generated. `Files` is only written if the format has no other place for the patterns.
The rest of it, after an empty line, is the knowledge of the molecule. `Related` is not read back.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from groundplan.knowledge.paths.pattern import MalformedPattern, parse_pattern
from groundplan.knowledge.requests import KNOWLEDGE_BYTES_MAX
from groundplan.markdown_lines import iter_headings
from groundplan.repository.rules.front_matter import UnreadableRule

FILES_PREFIX, PART_OF_PREFIX, RELATED_PREFIX = "> Files: ", "> Part of: ", "> Related: "
QUOTE = ">"

_TICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class ExportedAtom:
    """The parts of an atom that a rule file shows."""

    atom_id: str
    project_id: str
    version: int
    name: str
    patterns: tuple[str, ...]
    knowledge: str
    part_of: str | None = None
    related: tuple[tuple[str, str], ...] = ()  # names and reasons
    molecule_knowledge: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """The parsed contents of a rule; missing parts are None."""

    knowledge: str
    name: str | None = None
    patterns: tuple[str, ...] | None = None
    part_of: str | None = None
    molecule_knowledge: str | None = None


def render_body(subject: ExportedAtom, *, names_files: bool) -> str:
    """Return the text of a rule file without front matter and mark."""
    lines = [f"# {subject.name}"]
    if names_files:
        lines.append(FILES_PREFIX + ", ".join(_format_code(pattern) for pattern in subject.patterns))
    if subject.part_of is not None:
        lines.append(PART_OF_PREFIX + subject.part_of)
    if subject.related:
        lines.append(
            RELATED_PREFIX + "; ".join(f"{name} ({' '.join(reason.split())})" for name, reason in subject.related)
        )
    if subject.part_of is not None and subject.molecule_knowledge:
        quoted = normalize_line_breaks(subject.molecule_knowledge).split("\n")
        lines += [QUOTE, *(f"{QUOTE} {line}" if line else QUOTE for line in quoted)]
    if subject.knowledge:
        lines += ["", normalize_line_breaks(subject.knowledge)]
    return "".join(f"{line}\n" for line in lines)


def parse_generated(body: str) -> Rule:
    """Parse a generated text, even if it was edited."""
    first, lines, rest = _split_parts(body)
    if not first:
        return Rule(rest.strip())
    patterns = part_of = quoted = None
    if QUOTE in lines:
        begin = lines.index(QUOTE)
        quoted = "\n".join(line.removeprefix(QUOTE).removeprefix(" ") for line in lines[begin:]).strip()
        lines = lines[:begin]
    for line in lines:
        if line.startswith(FILES_PREFIX):
            patterns = tuple(_parse_code_spans(line)) or None
        elif line.startswith(PART_OF_PREFIX):
            part_of = line.removeprefix(PART_OF_PREFIX).strip() or None
    return Rule(rest.strip(), first[2:].strip() or None, patterns, part_of, quoted)


def list_display_lines(body: str) -> list[str]:
    """Return the lines of a generated text about the molecule and relations, which are not part of the atom."""
    return [line for line in _split_parts(body)[1] if not line.startswith(FILES_PREFIX)]


def _split_parts(body: str) -> tuple[str, list[str], str]:
    """Return the first heading, the generated lines below it, and the rest; without a heading only the rest."""
    first, _, rest = body.partition("\n")
    if not first.startswith("# "):
        return "", [], body
    lines = []
    line, _, behind = rest.partition("\n")
    while line.startswith((FILES_PREFIX, PART_OF_PREFIX, RELATED_PREFIX)):
        lines.append(line)
        rest = behind
        line, _, behind = rest.partition("\n")
    if line == QUOTE and any(quoted.startswith(PART_OF_PREFIX) for quoted in lines):
        while line.startswith(QUOTE):
            lines.append(line)
            rest = behind
            line, _, behind = rest.partition("\n")
    return first, lines, rest


def parse_handwritten(body: str) -> Rule:
    """Parse a handwritten text. Its first heading is the name.

    A heading on top is removed, because the name repeats it; one further down stays.
    """
    body = body.strip()
    heading = next(iter_headings(body), None)
    if heading is None:
        return Rule(body)
    return Rule(body.partition("\n")[2].strip() if heading.line == 0 else body, heading.title)


def normalize_rule(rule: Rule) -> Rule:
    """Return the part of a rule that belongs to its atom. Its name and patterns are in their stored form."""
    return Rule(
        rule.knowledge,
        None if rule.name is None else normalize_name(rule.name),
        None if rule.patterns is None else tuple(normalize_patterns(rule.patterns)),
    )


def normalize_name(name: str) -> str:
    """Return a name in its stored form."""
    return unicodedata.normalize("NFC", name).strip()


def normalize_patterns(patterns: Iterable[str]) -> list[str]:
    """Return patterns in their stored form."""
    return [_normalize_pattern(pattern.strip()) for pattern in patterns]


def _normalize_pattern(pattern: str) -> str:
    try:
        return parse_pattern(pattern).text
    except MalformedPattern:
        return pattern  # the plan will refuse it


def _format_code(pattern: str) -> str:
    """Return a pattern as a code span. Its fence has more back-ticks than the pattern has in a row."""
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


# --- Split rules whose text is too long for an atom: each section becomes a rule of its own ---------------------------

NAME_CHARS_MAX = 255


def split_rule(rule: Rule, default_name: str) -> list[Rule]:
    """Return a short rule unchanged, and a long rule as one rule per section, with the names of rule and section.

    Sections that are too long are split again at the next level of headings.
    """
    if _fits(rule.knowledge):
        return [rule]
    name = rule.name or default_name
    uses: Counter[str] = Counter()
    rules = []
    for title, text in _iter_sections(rule.knowledge, "", name):
        section_name = (f"{name}: {title}" if title else name)[: NAME_CHARS_MAX - 10]
        uses[section_name] += 1
        suffix = f" ({uses[section_name]})" if uses[section_name] > 1 else ""
        rules.append(replace(rule, name=f"{section_name}{suffix}", knowledge=text))
    return rules


def _iter_sections(text: str, title: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the title and text of each section of a text. Sections without text are left out."""
    text = text.strip()
    if _fits(text):
        if text:
            yield title, text
        return
    headings = list(iter_headings(text))
    if not headings:
        raise UnreadableRule(
            f"has {len(text.encode())} bytes without a heading in {title or name!r}; the limit is"
            f" {KNOWLEDGE_BYTES_MAX}, so divide it by headings"
        )
    level = min(heading.level for heading in headings)
    cuts = [heading for heading in headings if heading.level == level]
    lines = text.split("\n")
    yield from _iter_sections("\n".join(lines[: cuts[0].line]), title, name)
    for cut, end in zip(cuts, (*(following.line for following in cuts[1:]), len(lines)), strict=True):
        below = f"{title} / {cut.title}" if title else cut.title
        # The levels below are deeper, so there are at most six calls within each other.
        yield from _iter_sections("\n".join(lines[cut.line + 1 : end]), below, name)


def _fits(text: str) -> bool:
    return len(text.encode()) <= KNOWLEDGE_BYTES_MAX


# --- File names for atoms: lower-case ASCII, which every file system can store and distinguish ------------------------

SLUG_CHARS_MAX = 60
ID_CHARS = 8

# Windows reserves these names for devices, with any extension.
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
_OTHER = re.compile("[^a-z0-9]+")


def assign_slugs(atoms: Sequence[tuple[str, str]], used_slugs: Collection[str] = ()) -> dict[str, str]:
    """Return a file name for each atom, without the suffix of the format. Atoms are given by id and name.

    Atoms that would share a name, or whose name is taken, get the beginning of their id as a suffix.
    """
    plain = {atom_id: slugify(name) for atom_id, name in atoms}
    uses = Counter(plain.values())
    uses.update(used_slugs)
    slugs = {}
    for atom_id, name in plain.items():
        slugs[atom_id] = name
        if not name or uses[name] > 1:
            slugs[atom_id] = f"{name or 'atom'}-{atom_id[:ID_CHARS].lower()}"
    uses = Counter(slugs.values())
    uses.update(used_slugs)
    # Eight characters of two ids are rarely equal; the full ids never are.
    return {atom_id: name if uses[name] == 1 else f"{name}-{atom_id.lower()}" for atom_id, name in slugs.items()}


def slugify(name: str) -> str:
    """Return the ASCII letters and digits of a name, joined by dashes; empty if it has none."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    short = _OTHER.sub("-", ascii_only)[:SLUG_CHARS_MAX].strip("-")
    return f"{short}-rule" if short in _RESERVED else short


# --- Conversion of line breaks ----------------------------------------------------------------------------------------
# Git for Windows may check out every file with CRLF. Texts are compared, hashed and imported with LF, and a file that
# has CRLF is written with CRLF again.

LF, CRLF = "\n", "\r\n"

# Any number of CR, so that the result never contains another CRLF.
_BREAK = re.compile("(?<!\r)\r+\n")


def normalize_line_breaks(text: str) -> str:
    """Return the text with LF as line break."""
    return _BREAK.sub(LF, text)


def detect_line_breaks(text: str) -> str:
    """Return the line break of a file: CRLF if it contains one, else LF."""
    return CRLF if CRLF in text else LF


def apply_line_breaks(text: str, breaks: str) -> str:
    """Return a text with LF converted to the given line breaks."""
    return text.replace(LF, breaks)
