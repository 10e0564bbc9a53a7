"""Search by text finds it anywhere in a summary, with any characters."""

from __future__ import annotations

from itertools import count, product
from random import Random
from typing import Any

import pytest

from groundplan.kernel.search_words import TRIGRAMS_MAX, list_trigrams
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.session import Session
from groundplan.work.graph.search import MATCHED_MAX, build_index_query
from tests.engines import Engine, fill_once
from tests.proof import scaled
from tests.work.graph.random_project import ascii_lower

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


def match_of(text: str, **frequencies: float) -> str:
    """The index query for a text; what is not named is in 1,000 summaries."""
    trigrams = list_trigrams(text)
    return build_index_query(trigrams, [frequencies.get(trigram.chars, 1_000) for trigram in trigrams])


def test_the_index_is_asked_for_whole_trigrams_and_not_for_too_many() -> None:
    assert list_trigrams("ab") == []
    assert match_of("abcd") == '"abc"'
    assert match_of("abcdef") == '"abc" AND "def"'
    assert match_of('a"b"""') == '"a""b" AND """"""""'
    assert match_of("aaaaaaaa") == '"aaa"'
    long = "".join(map(chr, range(0x4E00, 0x5E00)))
    assert len(list_trigrams(long)) == TRIGRAMS_MAX
    assert match_of(long).count(" AND ") == MATCHED_MAX - 1


def test_the_index_is_asked_for_the_rarest_trigrams_that_share_no_characters() -> None:
    assert match_of("component 7 step", **{" 7 ": 20, "t 7": 90}) == '" 7 "'
    assert match_of("the zebra of jade", zeb=30, ebr=30, bra=31, jad=60, ade=59) == '"zeb" AND "ade"'


COMMON = [f"component {number % 50} step {number}" for number in range(600)]
FEW = ["A quagga", "abcab", "abc bca cab component"]


def plan_common_words(engine: Engine) -> None:
    """Plan nodes whose summaries have most of their words in common, some that others have not, and all trigrams."""
    session = engine.session("ada")
    session.call("project.create", name="atlas")
    summaries = [*COMMON[:300], *FEW, *COMMON[300:]]
    nodes = [{"ref": str(at), "summary": f"{summary} abc bca cab"} for at, summary in enumerate(summaries)]
    session.call("work.plan", project="atlas", nodes=nodes)


@pytest.fixture
def crowd(engine: Engine) -> Session:
    fill_once(engine, plan_common_words)
    return engine.session("ada")


@pytest.mark.parametrize(
    ("text", "total"), [("component 5 step", 12), ("Component", 601), ("abcab", 1), ("bca cab abc", 0), ("quagga", 1)]
)
def test_words_that_every_summary_has_are_found_like_others(crowd: Session, text: str, total: int) -> None:
    for sort, is_below in product(("readiness", "depth", "recent", "created"), (False, True)):
        more = {"ancestor": crowd.call("work.open", project="atlas").root.id} if is_below else {}
        page = crowd.call("work.query", project="atlas", filter={"text": text, **more}, sort=sort, limit=100)
        assert page.total == total
        assert len(page.nodes) == min(total, 100)
        assert all(text.lower() in node.summary.lower() for node in page.nodes)


def steps_of(session: Session, **query: Any) -> int:
    """How many steps of SQLite's virtual machine a query takes, in hundreds."""
    store = session.store
    assert isinstance(store, SqliteStore)
    connection = store._get_connection().require_open()
    counted = count()
    connection.set_progress_handler(lambda: next(counted) < 0, 100)
    session.call("work.query", project="atlas", **query)
    connection.set_progress_handler(None, 100)
    return next(counted)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_text_of_common_words_costs_a_third_of_reading_every_row(crowd: Session) -> None:
    every_row = steps_of(crowd, filter={"properties": {"size": 1}})
    for text in ("component 5 step", "component step", "component", "abcab"):
        assert steps_of(crowd, filter={"text": text}) < every_row / 3, text


@pytest.mark.parametrize("ready", [160, 10])
def test_short_pages_of_a_frequent_text_have_the_order_of_a_long_one(engine: Engine, ready: int) -> None:
    ada, ben = engine.session("ada"), engine.session("ben")
    ada.call("work.open", project="atlas", goal="g")
    nodes: list[dict[str, Any]] = [
        {
            "ref": f"n{n}",
            "summary": f"{'Needle' if n % 3 == 1 else 'thread'} {n}",
            "properties": {"priority": n % 4},
            "depends_on": [] if n < ready else ["n0"],
        }
        for n in range(160)
    ]
    ada.call("work.plan", project="atlas", nodes=nodes)
    for _ in range(12):
        ben.call("work.claim", project="atlas", count=1)

    asked = {"project": "atlas", "filter": {"text": "needle"}}
    whole = ada.call("work.query", **asked, limit=100)
    assert whole.total == 53
    found, cursor = [], None
    while True:
        page = ada.call("work.query", **asked, limit=4, cursor=cursor)
        assert page.total == whole.total
        found += [node.id for node in page.nodes]
        cursor = page.next_cursor
        if not cursor:
            break

    assert found == [node.id for node in whole.nodes]
