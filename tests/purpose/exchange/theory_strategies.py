"""Theories for export: plain ones for examples, and hostile ones as Hypothesis strategies.

    make_published(theory("AC1 -> OP1"), waivers=[make_waiver("goal_lonely", ["G1"])])
    @given(any_theory())

Every text passes the input gate: no control characters but tab and line ends, no lone surrogates.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import (
    PREFIXES,
    Assumption,
    AssumptionStatus,
    Confidence,
    Content,
    EdgeName,
    EdgeType,
    Indicator,
    IndicatorDirection,
    NodeType,
    Profile,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    VersionStatus,
    build_content,
)
from groundplan.purpose.observing.records import Measurement, Waiver
from tests.machines.budget import budget

# Text that ends a label, a quote, a comment, a row or an element in some format, and invisible text.
TROUBLE = (
    '"', "'", "`", "```", "\\", "\\\\", '\\"', "\n", "\r\n", "\r", "\t", "\u2028", "\u00a0", "  ", "|", "\\|",
    "<", ">", "&", "&amp;", "&#10;", "#quot;", "#35;", "#", "%", "%%", "%%{init: {}}%%", "<b>", "<!--", "-->", "--",
    "]]>", "<![CDATA[", "<?xml?>", "[", "]", "[[", "{", "}", "(", ")", "((", "))", ";", ":", ":::", "end", "end\n",
    "subgraph", "graph", "click", "style", "G1 --> G2", "->", "==>", "-.->", "~~~", "/*", "*/", "//", "\\n", "\\l",
    "\\N", "\\G", "* ", "- ", "+ ", "1. ", "# ", "> ", "---", "| --- |", "__", "**", "https://example.org", "@a",
    "=1+1", ",", "\u202e", "\u200f", "\u200b", "\ufeff", "🌊", "👩‍🌾", "é", "e\u0301", "漢字", "\U0010ffff", "a",
    "Wells", " ",
)  # fmt: skip

# Text that no gate accepts but that a foreign file could contain: nothing may break on it.
NEVER_STORED = "\x00\x01\x08\x0b\x0c\x1b\x1f\x7f\x80\x85\x9f\ufffe\uffff"

DAYS = ("2026-01-31", "2026-11-15", "2027-02-28")
MOMENTS = (*DAYS, "2026-11-15T09:30:00.000Z", "2024-02-29T23:59:59.999Z")
KEYS = ("G1", "G2", "OC1", "OC10", "OP1", "OP2", "AC1", "AC2")
NUMBERS = (0, 1, -1, 12.5, 1e-9, 1e300, 5000.0, 2**60, -0.0, 0.1 + 0.2)

STEPS_OF_AN_EXAMPLE = 100  # a theory takes as long as so many steps of a machine

T = TypeVar("T")

_TYPES = {prefix: node_type for node_type, prefix in PREFIXES.items()}


def tries(examples: int) -> settings:
    """Return settings for so many examples, the same each time; in a proof for as many as it asks for."""
    return budget(examples * STEPS_OF_AN_EXAMPLE, in_a_run=STEPS_OF_AN_EXAMPLE)


def make_published(content: Content, **given: Any) -> Theory:
    """Return a published version of the project wells with this content; without observations unless given."""
    plain: dict[str, Any] = {
        "project": "wells",
        "number": 2,
        "label": "Two wells",
        "status": VersionStatus.PUBLISHED,
        "profile": Profile.STANDARD,
        "published_at": "2026-11-15T12:00:00.000Z",
        "statuses": {},
        "latest": {},
        "waivers": [],
    }
    return Theory(content=content, **{**plain, **given})


def make_waiver(
    code: str,
    refs: list[str] | None = None,
    *,
    reason: str = "known and small",
    owner: str = "ada",
    due: str = "2027-02-28",
) -> Waiver:
    return Waiver(1, 0, code, refs or [], reason, owner, due, "2026-11-15T12:00:00.000Z", "ada")


def make_measurement(
    indicator: str, value: float, as_of: str = "2026-11-15", *, source: str | None = None, note: str | None = None
) -> Measurement:
    return Measurement(1, 0, indicator, value, as_of, source, note, "2026-11-15T12:00:00.000Z", "ada")


def hostile_text() -> st.SearchStrategy[str]:
    """Text of any number of lines that the input gate accepts; it may be empty or long."""
    return _pieces().map("".join) | st.sampled_from(TROUBLE).map(lambda one: one * 200)


def hostile_sentence() -> st.SearchStrategy[str]:
    """The same, not blank."""
    return hostile_text().map(lambda one: one if one.strip() else f"a{one}")


def hostile_line(chars_max: int = 500) -> st.SearchStrategy[str]:
    """The same on one line, as titles are after parsing: trimmed, composed, not empty."""
    return hostile_text().map(lambda one: _on_a_line(one, chars_max))


@st.composite
def any_theory(
    draw: st.DrawFn,
    *,
    lines: st.SearchStrategy[str] | None = None,
    sentences: st.SearchStrategy[str] | None = None,
    texts: st.SearchStrategy[str] | None = None,
) -> Theory:
    """Draw a theory that the store could hold: cycles, several causes, edges within a level and down, odd key types.

    `lines` are titles, names and labels, `sentences` must not be blank, `texts` may be empty.
    """
    one = _RandomChoices(
        draw,
        draw(_few(hostile_line() if lines is None else lines)),
        draw(_few(hostile_sentence() if sentences is None else sentences)),
        draw(_few(hostile_text() if texts is None else texts)),
    )
    content = _content(one)
    return make_published(
        content,
        project=one.word(),
        number=one.of(range(1, 999)),
        label=one.word(),
        status=one.of(VersionStatus),
        profile=one.of(Profile),
        published_at=one.maybe(lambda: "2026-11-15T12:00:00.000Z"),
        statuses={key: one.of(AssumptionStatus) for key in one.some(content.assumptions)},
        latest={
            key: make_measurement(key, one.of(NUMBERS), one.of(MOMENTS), source=one.maybe(one.sentence))
            for key in one.some(content.indicators)
        },
        waivers=[
            make_waiver(
                one.of(["goal_without_indicator", "cycle", one.line()[:128]]),
                [*one.some(KEYS[:2]), *one.some([one.line()])],
                reason=one.sentence(),
                owner=one.word(),
                due=one.of(DAYS),
            )
            for _ in range(one.of(range(3)))
        ],
    )


class _RandomChoices:
    """The random choices of one theory. It reuses a few texts, because drawing each anew takes too long."""

    def __init__(self, draw: st.DrawFn, lines: list[str], sentences: list[str], texts: list[str]) -> None:
        self._draw = draw
        self._lines, self._sentences, self._texts = lines, sentences, texts

    def of(self, options: Iterable[T]) -> T:
        listed = [*options]
        return listed[self._draw(_places(len(listed)))]

    def maybe(self, given: Callable[[], T]) -> T | None:
        return given() if self.of((False, True)) else None

    def some(self, options: Iterable[T], most: int = 3) -> list[T]:
        """Return some of the options, in their order."""
        listed = [*options]
        return [*dict.fromkeys(self.of(listed) for _ in range(self.of(range(most + 1))))] if listed else []

    def line(self) -> str:
        return self.of(self._lines)

    def word(self) -> str:
        return self.line()[:255].strip()

    def sentence(self) -> str:
        return self.of(self._sentences)

    def text(self) -> str:
        return self.of(self._texts)

    def value(self) -> Any:
        return self.of([None, True, self.of(NUMBERS), self.text(), [self.text()], {self.text(): 1.0}])


@cache
def _places(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


def _content(one: _RandomChoices) -> Content:
    keys = one.some(KEYS, 6)
    ends = [(source, target) for source in keys for target in keys if source != target]
    drawn = range(one.of(range(8))) if ends else []
    names = list(dict.fromkeys(EdgeName(*one.of(ends), one.of(EdgeType)) for _ in drawn))
    places: list[str | EdgeName] = [*keys, *names]
    placed = [(key, one.of(places)) for key in one.some(["AS1", "AS2", "AS10"])] if places else []
    return build_content(
        [
            PurposeNode(
                f"row-{key}",
                key,
                one.of([_TYPES[key.rstrip("0123456789")], one.of(NodeType)]),
                one.line(),
                one.maybe(one.text),
                one.maybe(one.text),
                one.maybe(one.word),
                {one.text(): one.value() for _ in range(one.of(range(3)))},
            )
            for key in keys
        ],
        [
            PurposeEdge(f"row-{name}", *name, one.maybe(one.sentence), one.maybe(lambda: one.of(Confidence)))
            for name in names
        ],
        [
            Assumption(
                f"row-{key}",
                key,
                on if isinstance(on, str) else None,
                None if isinstance(on, str) else on,
                one.sentence(),
                one.maybe(lambda: one.of(RiskLevel)),
                one.maybe(one.word),
                one.maybe(lambda: one.of(DAYS)),
            )
            for key, on in placed
        ],
        [
            Indicator(
                f"row-{key}",
                key,
                one.of(keys),
                one.line(),
                one.of([None, "%", one.word()]),
                one.maybe(lambda: one.of(IndicatorDirection)),
                one.maybe(lambda: one.of(NUMBERS)),
                one.of([None, False, True]),
                one.maybe(lambda: one.of(NUMBERS)),
                one.maybe(one.sentence),
                one.maybe(one.word),
                one.maybe(one.word),
            )
            for key in (one.some(["IN1", "IN2", "IN10"]) if keys else [])
        ],
    )


def _few(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(texts, min_size=1, max_size=5)


def _pieces() -> st.SearchStrategy[list[str]]:
    kept = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    return st.lists(st.sampled_from(TROUBLE) | st.text(kept, max_size=3), max_size=5)


def _on_a_line(text: str, chars_max: int) -> str:
    line = unicodedata.normalize("NFC", " ".join(text.splitlines())).strip()[:chars_max].strip()
    return line or "a"
