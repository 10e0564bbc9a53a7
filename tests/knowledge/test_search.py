"""Search finds texts with every word of a query, in any order, in this project only; no query does harm."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from groundplan.knowledge.read import QUERY_WORDS_MAX
from groundplan.knowledge.words import build_word_index, parse_query_words
from tests.answers import to_json
from tests.engines import Engine, person
from tests.errors import error_of
from tests.knowledge.client import NOWHERE, KnowledgeClient, outcome_of
from tests.knowledge.conftest import open_atlas, open_client
from tests.knowledge.rows import copy_atom
from tests.machines.budget import fixed_settings
from tests.manual_clock import ManualClock
from tests.proof import scaled

ATOMS = {
    "Webhook Handlers": "8 handlers, all extend BaseWebhookHandler; locales come from the registry.",
    "Stripe Integration": "Idempotent. A webhook calls the gateway, at most 30s.",
    "AND OR NOT": 'says "quoted" NEAR(one two) * ^ : - + ( )',
    "100% of a_b": "a%b a_b aXb 100",
    "Überblick": "Straße, naïve, Ångström, \u212b",
    "日本語": "これは日本語のテキストです",
    "Empty": "",
    "\U0001f642": "only a face",
    "--; DROP TABLE graph_atoms": "'' \\ \" ` {words} words:",
}
MOLECULES = {"Payments": "talks to Stripe, idempotent webhooks", "Pages": "locales"}

# Syntax of word indexes: operators, quotes, columns, prefixes, functions.
OPERATORS = [
    *("AND", "OR", "NOT", "NEAR(", "NEAR(a b, 2)", "words:", "words : a", "graph_text", "rank"),
    *('"', '""', "'", "*", "^", ":", "-", "+", "(", ")", "{", "}", "%", "_", "\\", ";", "--", "/*", "\u2028", "\ufeff"),
]
WORDS = sorted({word for texts in ATOMS.items() for text in texts for word in text.split()})
SOME_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
INSIDES = st.builds(lambda word, at, chars: word[at : at + chars], st.sampled_from(WORDS), *[st.integers(1, 7)] * 2)
BEGINNINGS = st.builds(lambda word, chars: word[:chars].swapcase(), st.sampled_from(WORDS), st.integers(1, 12))
QUERIES = st.one_of(
    SOME_TEXT,
    st.lists(st.one_of(st.sampled_from(OPERATORS), st.sampled_from(WORDS), BEGINNINGS), max_size=6).map(" ".join),
    st.lists(st.one_of(st.sampled_from(OPERATORS), BEGINNINGS), max_size=6).map("".join),
    st.lists(st.one_of(INSIDES, BEGINNINGS), max_size=3).map(" ".join),
)
TRIES = settings(fixed_settings(0), max_examples=scaled(40, 150))


def add_library(engine: Engine) -> KnowledgeClient:
    """Create the molecules and the atoms."""
    desk = open_atlas(engine)
    for name, knowledge in MOLECULES.items():
        desk.molecule(name, knowledge=knowledge)
    for name, knowledge in ATOMS.items():
        desk.atom(name, "src/**", knowledge=knowledge, moleculeId="Payments" if "Handlers" in name else None)
    return desk


@pytest.fixture
def library(engine: Engine, clock: ManualClock) -> Iterator[KnowledgeClient]:
    with open_client(engine, clock, add_library) as desk:
        yield desk


def find_expected(query: str, entries: dict[str, str]) -> list[str]:
    """Return what a query should find, by its words alone: where all begin words, then where some are inside of one."""
    if not query.strip():
        return sorted(entries)
    wanted = parse_query_words(query)
    words = {name: build_word_index(name, knowledge).split() for name, knowledge in entries.items()}
    begun = [
        name for name in entries if wanted and all(any(word.startswith(one) for word in words[name]) for one in wanted)
    ]
    inside = [
        name
        for name in entries.keys() - begun
        if wanted
        and all(any(one in word[: None if len(one) > 3 else len(one)] for word in words[name]) for one in wanted)
    ]
    return sorted(begun) + sorted(inside)


@pytest.mark.proof
def test_any_query_is_harmless_and_finds_exactly_what_has_its_words(library: KnowledgeClient) -> None:
    @TRIES
    @given(QUERIES)
    @example("webhook AND idempotent")
    @example('"webhook" NEAR(calls gateway) -x ^y z:*')
    @example("")
    def any_query(query: str) -> None:
        for of, entries in (("atom", ATOMS), ("molecule", MOLECULES)):
            search = partial(library.find_names, query, of=of, includeChangelog=False)
            if len(parse_query_words(query)) > QUERY_WORDS_MAX:
                assert error_of(search).code == "too_many"
            else:
                assert search() == find_expected(query, entries), query

    any_query()


FOUND = {
    "webhook": ["Stripe Integration", "Webhook Handlers"],
    "webhook idempotent": ["Stripe Integration"],
    "IDEMPOTENT web": ["Stripe Integration"],
    "basewebhookhandler registry": ["Webhook Handlers"],
    "webhookhandler": ["Webhook Handlers"],
    "handler": ["Webhook Handlers"],
    "uber": ["Überblick"],
    "STRASSE angstrom": ["Überblick"],
    "日本": ["日本語"],
    "テキスト": ["日本語"],
    "empty": ["Empty"],
    "100": ["100% of a_b"],
    "face": ["\U0001f642"],
    "drop table": ["--; DROP TABLE graph_atoms"],
    "and or not": ["AND OR NOT"],
    "quoted": ["AND OR NOT"],
    "handlers stripe": [],
    # The inside of a word, from four letters on
    "ebhook": ["Stripe Integration", "Webhook Handlers"],
    "potent": ["Stripe Integration"],
    "HANDLE": ["Webhook Handlers"],
    "nthandle": [],
    "egis cales": ["Webhook Handlers"],
    "ook egist": [],
    "web egist": ["Webhook Handlers"],
    "rass": ["Überblick"],
    "ass": [],
    "dempot atew": ["Stripe Integration"],
    "\U0001f642": [],
    "!": [],
    '"': [],
    "*": [],
    "--": [],
}


def test_words_are_found_in_any_order_by_their_beginnings_whatever_their_case(library: KnowledgeClient) -> None:
    assert {query: library.find_names(query) for query in FOUND} == FOUND


def test_the_inside_of_a_word_is_found_after_whole_words_and_beginnings(library: KnowledgeClient) -> None:
    for name, knowledge in {"A": "a regateway", "B": "gateways", "C": "the megagateway", "D": "gateway"}.items():
        library.atom(name, "src/**", knowledge=knowledge)
        library.molecule(name, knowledge=knowledge)

    assert library.find_names("gateway") == ["B", "D", "Stripe Integration", "A", "C"]
    assert library.find_names("gateway a") == ["Stripe Integration", "A"]
    assert library.find_names("gateway", orphansOnly=True) == ["B", "D", "Stripe Integration", "A", "C"]
    assert library.find_names("gateway", of="molecule") == ["B", "D", "A", "C"]
    pages = [library.search("gateway", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [[item.name for item in page.items] for page in pages] == [["B", "D"], ["Stripe Integration", "A"], ["C"]]
    assert {page.count for page in pages} == {5}


def test_without_a_query_there_is_everything_by_name(library: KnowledgeClient) -> None:
    for nothing in (None, "", "  \n"):
        assert library.find_names(nothing) == sorted(ATOMS)
        assert library.find_names(nothing, of="molecule") == sorted(MOLECULES)


def test_atoms_are_narrowed_to_a_molecule_or_to_orphans_with_and_without_a_query(library: KnowledgeClient) -> None:
    assert library.find_names(moleculeId="Payments") == ["Webhook Handlers"]
    assert library.find_names("webhook", moleculeId="Payments") == ["Webhook Handlers"]
    assert library.find_names("stripe", moleculeId="Payments") == []
    assert library.find_names("webhook", orphansOnly=True) == ["Stripe Integration"]
    assert library.find_names(orphansOnly=True) == sorted(set(ATOMS) - {"Webhook Handlers"})
    assert library.find_names(moleculeId="Pages") == []
    assert library.find_names("webhook", orphansOnly=False) == ["Stripe Integration", "Webhook Handlers"]


def test_an_item_is_the_whole_atom_or_molecule(library: KnowledgeClient) -> None:
    library.log("Webhook Handlers", "made")
    (atom,) = library.search("handlers", changelogLimit=1).items
    (molecule,) = library.search("payments", of="molecule").items

    assert to_json(atom).pop("changelog")[0]["summary"] == "made"
    atom.changelog = library.read("Webhook Handlers").changelog
    assert atom == library.read("Webhook Handlers")
    assert to_json(molecule) == to_json(library.read("Payments")) | {"changelog": []}


def test_pages_add_up_to_the_whole_and_each_tells_how_much_there_is(engine: Engine, library: KnowledgeClient) -> None:
    copy_atom(engine, library["Empty"], 30)
    names = sorted([*ATOMS, *(f"Empty {100000 + place}" for place in range(1, 31))])
    for query in (None, "empty"):
        found, offset = [], 0
        total = len(names) if query is None else 31
        while True:
            page = to_json(library.search(query, limit=7, offset=offset))
            assert (page["count"], page["limit"], page["offset"]) == (total, 7, offset)
            found += [one["name"] for one in page["items"]]
            if "nextOffset" not in page:
                break
            assert page["nextOffset"] == offset + 7
            offset = page["nextOffset"]
        assert found == [name for name in names if query is None or name.startswith("Empty")]
    beyond = to_json(library.search(offset=1000))
    assert beyond == {"items": [], "count": len(names), "limit": 100, "offset": 1000}


def test_atoms_are_found_by_what_they_say_now(library: KnowledgeClient) -> None:
    library.update("Stripe Integration", name="Payment Gateway")
    assert (library.find_names("integration"), library.find_names("stripe")) == ([], [])
    assert library.find_names("payment gateway") == ["Payment Gateway"]
    library.update("Stripe Integration", knowledge="Retries.")
    assert library.find_names("idempotent") == []
    library.append("Stripe Integration", "Never twice.")
    assert library.find_names("retries twice") == ["Payment Gateway"]
    library.update("Payments", knowledge="Nothing.")
    assert (library.find_names("idempotent", of="molecule"), library.find_names("nothing", of="molecule")) == (
        [],
        ["Payments"],
    )
    library.delete("Payments")
    assert library.find_names("webhook handlers", orphansOnly=True) == ["Webhook Handlers"]
    assert library.find_names("nothing", of="molecule") == []
    library.delete("Stripe Integration")
    assert library.find_names("retries") == []


def test_what_is_known_elsewhere_is_neither_found_nor_counted(engine: Engine, library: KnowledgeClient) -> None:
    other = library.create_project("borealis")
    other.atom("Canary", "src/**", knowledge="webhook canary")
    other.molecule("Canaries", knowledge="canary")
    engine.create_organization("rival", "mallory")
    mallory = KnowledgeClient(engine.session(person("mallory", organization="rival"))).open()
    mallory.atom("Their canary", "src/**", knowledge="webhook canary")

    assert library.search("canary").count == 0
    assert library.search("canary", of="molecule").count == 0
    assert library.find_names("webhook") == FOUND["webhook"]
    assert len(library.find_names()) == len(ATOMS)
    assert other.find_names("canary") == ["Canary"]
    assert mallory.find_names("canary") == ["Their canary"]
    assert mallory.find_names("webhook") == ["Their canary"]


def test_a_project_about_which_nothing_is_known_is_empty_and_no_error(client: KnowledgeClient) -> None:
    nothing = {"items": [], "count": 0, "limit": 100, "offset": 0}
    for of in ("atom", "molecule"):
        assert [to_json(client.search(query, of=of)) for query in (None, "webhook")] == [nothing, nothing]
    assert to_json(client.search(orphansOnly=True)) == nothing


def test_what_cannot_be_searched_is_refused_with_the_field(crowded_project: KnowledgeClient) -> None:
    refusals = {
        "an unknown project": partial(crowded_project.search, projectId="nowhere"),
        "an unknown molecule": partial(crowded_project.search, moleculeId=NOWHERE),
        "a deleted molecule": lambda: (crowded_project.delete("Pages"), crowded_project.search(moleculeId="Pages")),
        "an atom as a molecule": partial(crowded_project.search, moleculeId="Cart"),
        "a molecule of another project": partial(crowded_project.search, moleculeId="their molecule"),
        "a molecule that is no id": partial(crowded_project.search, moleculeId="x"),
        "a molecule and orphans": partial(crowded_project.search, moleculeId="Shop", orphansOnly=True),
        "molecules of a molecule": partial(crowded_project.search, of="molecule", moleculeId="Shop"),
        "orphaned molecules": partial(crowded_project.search, of="molecule", orphansOnly=True),
        "a page of nothing": partial(crowded_project.search, limit=0),
        "a page before the first": partial(crowded_project.search, offset=-1),
        "an unknown argument": partial(crowded_project.search, text="x"),
    }

    assert {what: outcome_of(call) for what, call in refusals.items()} == {
        "an unknown project": ("NotFound", "not_found", None),
        "an unknown molecule": ("NotFound", "not_found", "moleculeId"),
        "a deleted molecule": ("NotFound", "not_found", "moleculeId"),
        "an atom as a molecule": ("NotFound", "not_found", "moleculeId"),
        "a molecule of another project": ("RuleViolated", "other_project", "moleculeId"),
        "a molecule that is no id": ("Invalid", "invalid_id", "moleculeId"),
        "a molecule and orphans": ("Invalid", "invalid_argument", "orphansOnly"),
        "molecules of a molecule": ("Invalid", "invalid_argument", "moleculeId"),
        "orphaned molecules": ("Invalid", "invalid_argument", "orphansOnly"),
        "a page of nothing": ("Invalid", "invalid_argument", "limit"),
        "a page before the first": ("Invalid", "invalid_argument", "offset"),
        "an unknown argument": ("Invalid", "unknown_argument", "text"),
    }
