"""graph_query: bugs of other implementations. The tests of graph/search cover the rest."""

from __future__ import annotations

import pytest

from tests.work.cases import try_each
from tests.work.client import WorkClient

EVERYTHING = ["root", "phase", "a", "b", "done"]
FACTS = {
    "resolved": ["done"],
    "is_leaf": ["a", "b", "done"],
    "is_actionable": ["a"],
    "is_blocked": ["b"],
}


@pytest.mark.parametrize("fact", FACTS)
def test_a_filter_for_false_finds_exactly_what_a_filter_for_true_does_not(work: WorkClient, fact: str) -> None:
    work.plan("phase\n  a\n  b: a\ndone")
    work.resolve("done")

    assert work.query(**{fact: True}) == FACTS[fact]
    assert work.query(**{fact: False}) == [name for name in EVERYTHING if name not in FACTS[fact]]


@try_each("text", ["100%", "a_b", "%", "_", "\\", "'", '"', "(", "*", "a%b_", "NEAR(", "ü%"])
def test_text_is_looked_for_as_it_is(work: WorkClient, text: str) -> None:
    work.plan("like it\nother", each={"like it": {"summary": f"before {text} behind"}, "other": {"summary": "x" * 20}})

    assert work.query(text=text, ancestor=work["root"]) == ["like it"]
    work.update("like it", summary="something else")
