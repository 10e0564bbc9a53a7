"""The words of a text: what people search for, in any script, and at least the text itself."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from groundplan.knowledge.words import WORD_CHARS_MAX, build_word_index, parse_query_words
from tests.machines.budget import fixed_settings
from tests.proof import scaled

# Names with humps, digits, underscores and several scripts.
PIECES = st.sampled_from(
    [
        "Base",
        "webhook",
        "HTTP",
        "x",
        "X",
        "2",
        "_",
        "-",
        " ",
        ".",
        "é",
        "É",
        "ß",
        "\u017f",
        "日本",
        "テ",
        "\uff71",
        "ﬁ",
        "İ",
        "№",
        "½",
    ]
)
TRIES = settings(fixed_settings(0), max_examples=scaled(60, 300))
IDENTIFIERS = st.lists(PIECES, max_size=40).map("".join)


def finds(query: str, *texts: str) -> bool:
    """Return whether a query finds an atom with these texts."""
    stored = build_word_index(*texts).split()
    return all(any(word.startswith(wanted) for word in stored) for wanted in parse_query_words(query))


FOUND = {
    "webhook handler": "The handler of every webhook",
    "HANDLER webhook": "The handler of every webhook",
    "hand web": "The handler of every webhook",
    "webhook": "class BaseWebhookHandler",
    "webhookhandler": "class BaseWebhookHandler",
    "basewebhook": "class BaseWebhookHandler",
    "BaseWebhookHandler": "class BaseWebhookHandler",
    "handler": "class BaseWebhookHandler",
    "request": "HTTPRequest2Go",
    "http": "HTTPRequest2Go",
    "go": "HTTPRequest2Go",
    "snake": "a_snake_case_name",
    "case": "kebab-case-name",
    "ts": "src/pages/cart.page.ts",
    "cart": "src/pages/cart.page.ts",
    "uber": "Überblick",
    "ÜBERBLICK": "überblick",
    "u\u0308ber": "Über",
    "strasse": "Straße",
    "STRASSE": "straße",
    "naïve": "naive",
    "file": "\ufb01le",
    "ABC": "\uff41\uff42\uff43",
    "日本": "これは日本語です",
    "語": "これは日本語です",
    "ΣΊΣΥΦΟΣ": "σίσυφος",
    "привет": "Привет, мир",
    "42": "answer42 and 42",
    "v2": "the v2 API",
    "don't": "we don't know",
    "C++": "written in C++",
}
NOT_FOUND = {
    "hook": "The handler of every webhook",
    "ookhandler": "class BaseWebhookHandler",
    "basehandler": "class BaseWebhookHandler",
    "handlers": "class BaseWebhookHandler",
    "webhook missing": "The handler of every webhook",
    "英": "これは日本語です",
    "22": "answer42",
}


@pytest.mark.parametrize("query", FOUND)
def test_a_query_finds_what_people_would_expect(query: str) -> None:
    assert finds(query, FOUND[query])


@pytest.mark.parametrize("query", NOT_FOUND)
def test_a_query_does_not_find_what_only_looks_alike(query: str) -> None:
    assert not finds(query, NOT_FOUND[query])


@pytest.mark.parametrize("text", ["", "  ", "!?*", '"" AND', "---", "🙂", "\u0301", "_"])
def test_what_has_no_letter_has_no_word(text: str) -> None:
    assert parse_query_words(text.replace("AND", "")) == []


def test_words_of_several_texts_are_of_one_atom() -> None:
    assert finds("cart prices", "Cart", "Prices come from outside")
    assert not finds("cartprices", "Cart", "Prices come from outside")


@pytest.mark.parametrize(
    "name",
    [
        "thisIsAVeryLongFunctionNameThatDoesFarTooMuch",
        "AbstractSingletonProxyFactoryBeanDefinitionParserAdapterProviderRegistry",
        "aBcDeFgHiJkLmNoP",
    ],
)
def test_a_name_of_many_humps_is_found_by_itself(name: str) -> None:
    assert finds(name, name)


@TRIES
@given(st.one_of(IDENTIFIERS, st.text(max_size=200)))
@example("thisIsAVeryLongFunctionNameThatDoesFarTooMuch")
def test_every_text_is_found_by_itself(text: str) -> None:
    assert finds(text, "a name", text)


@TRIES
@given(IDENTIFIERS)
def test_a_text_is_found_by_the_beginning_of_each_of_its_words(text: str) -> None:
    for word in text.split():
        for end in range(1, min(len(word), 80) + 1):
            assert finds(word[:end].rstrip("\u0301"), text), word[:end]


@TRIES
@given(st.text(max_size=200))
def test_case_does_not_matter_to_the_words_that_are_wanted(text: str) -> None:
    assert finds(text.casefold(), text.casefold())
    if text.isascii():
        assert finds(text.upper(), text)


@TRIES
@given(st.text(max_size=200))
def test_words_are_letters_and_digits_between_single_blanks(text: str) -> None:
    stored = build_word_index(text)
    words = stored.split(" ")[1:-1]
    assert stored == f" {' '.join(words)} "
    for word in (*filter(None, words), *parse_query_words(text)):
        assert word.isalnum(), word
        assert 0 < len(word) <= WORD_CHARS_MAX
    assert len(set(words)) == len(words)
