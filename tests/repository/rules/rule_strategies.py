"""Hypothesis strategies for names, patterns and knowledge that the plan can store."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from groundplan.knowledge.paths.pattern import MalformedPattern, parse_pattern
from groundplan.repository.rules.rule import ExportedAtom

ATOM = "0f8fad5b-d9cb-469f-a165-70867728950e"
PROJECT = "4g6j42"

# What the input gate accepts: no other control characters, no lone surrogates.
_kept = st.characters(exclude_categories=("Cc", "Cs"))
_telling = st.sampled_from(
    (
        "# ",
        "> Files: `x`",
        "> Related: ",
        "---",
        "<!-- ",
        " -->",
        "`",
        "```",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        " ",
        ": ",
        " #",
    )
)


def _is_pattern(text: str) -> bool:
    try:
        parse_pattern(text)
    except MalformedPattern:
        return False
    return True


names = (
    st.lists(
        st.one_of(_kept, st.sampled_from(("# ", ": ", " #", '"', "'", "[", "- ", "true", "null", "*"))), max_size=12
    )
    .map(lambda parts: unicodedata.normalize("NFC", "".join(parts)).strip())
    .filter(lambda name: 0 < len(name) <= 255 and len(name.splitlines()) == 1)
)
_pieces = st.sampled_from(
    (
        "src",
        "a b",
        "*",
        "**",
        "?",
        "[a,b]",
        "[!x]",
        "{ts,tsx}",
        "{a,{b,c}}",
        "\\{",
        "\\,",
        ",",
        "/",
        "/",
        ".",
        " #",
        "`",
        '"',
        "'",
        "é",
        "[id]",
    )
)
patterns = (
    st.lists(st.one_of(_pieces, st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))), min_size=1, max_size=8)
    .map(lambda parts: "".join(parts).strip())
    .filter(_is_pattern)
)
knowledge = st.lists(st.one_of(_telling, _kept), max_size=30).map(lambda parts: "".join(parts).strip())

subjects = st.builds(
    ExportedAtom,
    atom_id=st.just(ATOM),
    project_id=st.just(PROJECT),
    version=st.integers(1, 1000),
    name=names,
    patterns=st.lists(patterns, min_size=1, max_size=5, unique=True).map(tuple),
    knowledge=knowledge,
    part_of=st.none() | names,
    related=st.lists(st.tuples(names, knowledge.filter(bool)), max_size=3).map(tuple),
)


def subject(**changes: object) -> ExportedAtom:
    """Return an atom about the checkout page."""
    known: dict[str, object] = {
        "atom_id": ATOM,
        "project_id": PROJECT,
        "version": 3,
        "name": "Checkout Page",
        "patterns": ("src/pages/checkout/**", "src/components/checkout-*.tsx"),
        "knowledge": "Locales come from the registry, not from local files.\n\nPrices are integers, in cents.",
        "part_of": "Pages",
        "related": (("Cart", "shares the price formatter"),),
    }
    return ExportedAtom(**{**known, **changes})  # type: ignore[arg-type] # the fields are what the tests give them
