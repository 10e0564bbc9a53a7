"""Split rules whose text is too long for an atom: each section becomes a rule of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from groundplan.knowledge.requests import KNOWLEDGE_BYTES_MAX
from groundplan.markdown_lines import iter_headings
from groundplan.repository.rules.formats.front_matter import UnreadableRule
from groundplan.repository.rules.rule import Rule

NAME_CHARS_MAX = 255


def split_rule(rule: Rule, default_name: str) -> list[Rule]:
    """Return a rule itself if it is short enough, else one for each of its sections, named after both.

    Sections that are too long are split again at the next level of headings.

    Raises:
        UnreadableRule: a section is too long and has no headings.
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
    """Yield the title and text of each part of a text; parts without text are left out."""
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
    for cut, end in zip(cuts, (*(one.line for one in cuts[1:]), len(lines)), strict=True):
        below = f"{title} / {cut.title}" if title else cut.title
        # The levels below are deeper, so there are at most six calls within each other.
        yield from _iter_sections("\n".join(lines[cut.line + 1 : end]), below, name)


def _fits(text: str) -> bool:
    return len(text.encode()) <= KNOWLEDGE_BYTES_MAX
