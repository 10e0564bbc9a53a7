"""Search by text finds it anywhere in a summary, with any characters."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from groundplan.session import Session
from groundplan.work.graph.search.text import TRIGRAMS_MAX, index_match
from tests.engines import Engine, fill_once
from tests.proof import scaled
from tests.work.graph.search.random_project import ascii_lower

SUMMARIES = [
    "Set up the login page",
    "SET UP THE LOGIN PAGE",
    "log in page",
    "100% coverage",
    "100 coverage",
    "a_b and a%b",
    "aXb",
    'say "hello" to "AND"',
    "it's '' quoted",
    "NEAR(one two) AND NOT three OR four*",
    "summary:prefix ^first -minus +plus (paren",
    "ÄÖÜ äöü ß \u017f \u0130 \u0131 \u212a \u212b",  # letters that fold into others, or into ASCII
    "straße STRASSE",
    "日本語のテキスト",
    "🙂🙃 emoji 👩‍👩‍👧 family",
    "e\u0301 decomposed and é composed",
    "tab\tline\nbreak\r\nend",
    "\u2028 \u00a0 \ufeff \u200b odd spaces \ufffe",
    "back\\slash \\' \\\"",
    "NUL-free; DROP TABLE work_nodes; --",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "aaa",
    "ab",
    "x" * 4096,
    "ababababab",
]

TEXTS = [
    *SUMMARIES,
    *(summary.swapcase() for summary in SUMMARIES),
    *[
        "%",
        "_",
        "*",
        '"',
        "'",
        "a",
        "ab",
        "aaaa",
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "NEAR(",
        '""',
        '"""',
        "a*",
        "^first",
        "summary:",
    ],
    *[
        "ä",
        "Ä",
        "äö",
        "äöü",
        "ÄÖÜ",
        "ss",
        "SS",
        "straße",
        "k",
        "K",
        "i",
        "é",
        "e\u0301",
        "🙂",
        "🙂🙃",
        "語の",
        "語のテ",
    ],
    *[
        "\n",
        "\t",
        "e\nb",
        "\u2028",
        "\ufeff",
        "\u200b o",
        "\ufffe",
        "\\",
        "\\'",
        "--",
        " ",
        "   ",
        "x" * 100,
        "x" * 4097,
        "xy" * 9000,
    ],
]


def plan_summaries(engine: Engine) -> None:
    """Plan a node for each summary."""
    session = engine.session("ada")
    session.call("project.create", name="atlas")
    nodes = [{"ref": str(at), "summary": summary} for at, summary in enumerate(SUMMARIES)]
    session.call("work.plan", project="atlas", nodes=nodes)


@pytest.fixture
def ada(engine: Engine) -> Session:
    fill_once(engine, plan_summaries)
    return engine.session("ada")


def find_summaries(session: Session, text: str, **more: Any) -> list[str]:
    """Return the summaries that a text finds, oldest first."""
    answer = session.call("work.query", project="atlas", filter={"text": text, **more}, sort="created", limit=100)
    assert answer.total == len(answer.nodes)
    return [node.summary for node in answer.nodes]


@pytest.mark.proof
def test_any_text_finds_exactly_the_summaries_that_have_it(ada: Session) -> None:
    random = Random(5)  # noqa: S311 - the same texts every time
    everything = ["atlas", *SUMMARIES]
    texts = list(TEXTS)
    for _ in range(scaled(30, 150)):
        summary = random.choice(SUMMARIES)
        first = random.randrange(len(summary))
        piece = summary[first : first + random.choice((1, 2, 3, 4, 8, 40))]
        texts.append(random.choice((piece, piece.swapcase(), piece + random.choice('"%_*a'))))
    for text in texts:
        assert find_summaries(ada, text) == [one for one in everything if ascii_lower(text) in ascii_lower(one)], text


def test_an_empty_text_is_no_condition(ada: Session) -> None:
    assert len(find_summaries(ada, "")) == 1 + len(SUMMARIES)


def test_a_text_is_looked_for_in_one_project_only(ada: Session) -> None:
    ada.call("project.create", name="neighbour")
    ada.call("work.plan", project="neighbour", nodes=[{"ref": "a", "summary": "Set up the login page"}])
    assert find_summaries(ada, "login page") == SUMMARIES[:2]


def test_a_summary_is_found_by_what_it_says_now(ada: Session) -> None:
    (node,) = ada.call("work.query", project="atlas", filter={"text": "100% coverage"}).nodes
    ada.call("work.update", updates=[{"node_id": node.id, "summary": "every line is covered"}])
    assert find_summaries(ada, "100% c") == []
    assert find_summaries(ada, "line is") == ["every line is covered"]


def test_a_text_goes_with_other_conditions(ada: Session) -> None:
    first, second = ada.call("work.query", project="atlas", filter={"text": "login"}, sort="created").nodes
    ada.call("work.update", updates=[{"node_id": first.id, "resolved": True, "properties": {"size": 1}}])
    assert find_summaries(ada, "login", resolved=False) == [second.summary]
    assert find_summaries(ada, "login", properties={"size": 1}) == [first.summary]
    assert find_summaries(ada, "login", parent=first.id) == []


def test_the_index_is_asked_for_whole_trigrams_and_not_for_too_many() -> None:
    assert index_match("ab") is None
    assert index_match("abcd") == '"abc" AND "bcd"'
    assert index_match('a"b"') == '"a""b" AND """b"""'
    assert index_match("aaaaaaaa") == '"aaa"'
    long = index_match("".join(map(chr, range(0x4E00, 0x5E00))))
    assert long is not None
    assert long.count(" AND ") == TRIGRAMS_MAX - 1
