"""Split texts and queries into words for search, in the same way on both engines.

A word is a run of letters and digits; case and accents are ignored. In `BaseWebhookHandler` every hump also starts a
word, so that `webhook` finds it. A character of a script without blanks between words is a word by itself. A query word
matches words that begin with it, and one of four letters or more also those that contain it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from groundplan.kernel.search_words import index_term, list_trigrams
from groundplan.kernel.store.queries import to_json_array

WORD_CHARS_MAX = 64  # longer runs, such as keys and checksums, are cut
INSIDE_CHARS_MIN = 4  # of a query word that is also found inside of words
TERMS_MAX = 64  # trigrams that are looked up; what they find is compared with all of the words
NO_TRIGRAM = '"   "'  # there is one blank between words
HUMPS_MAX = 8  # the rest of a longer name is one word

_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def build_word_index(*texts: str) -> str:
    """Return the distinct words of texts as one text, with a blank before each word and after the last."""
    words: dict[str, None] = {}
    for run in _RUN.findall("\n".join(_strip_accents(text) for text in texts)):
        humps = _HUMP.split(run, maxsplit=HUMPS_MAX)
        for start in range(len(humps)):
            words.update(dict.fromkeys(_fold_words("".join(humps[start:]))))
    return f" {' '.join(words)} "


def parse_query_words(text: str) -> list[str]:
    """Return the distinct words of a query. All of them must match."""
    return list(dict.fromkeys(word for run in _RUN.findall(_strip_accents(text)) for word in _fold_words(run)))


class WordMatch(NamedTuple):
    """The parameters of queries that compare the words of a row with those of a query.

    All `words` begin words in a row that `match` finds. `parts` are what a row contains if each word begins one or,
    from INSIDE_CHARS_MIN letters on, is inside of one; it is among the rows that `inside_match` finds.
    """

    match: str
    words: str
    inside_match: str
    parts: str


def build_word_match(words: Sequence[str]) -> WordMatch:
    """Return the parameters for the words of a query, of which there is at least one."""
    parts = [word if len(word) >= INSIDE_CHARS_MIN else f" {word}" for word in words]
    terms: list[str] = []
    if max(map(len, words)) >= INSIDE_CHARS_MIN:
        terms = list(dict.fromkeys(index_term(trigram) for part in parts for trigram in list_trigrams(part)))
    return WordMatch(
        " AND ".join(f'"{word}"*' for word in words),  # words contain no quotation marks, so they need no escaping
        to_json_array(words),
        " AND ".join(terms[:TERMS_MAX]) or NO_TRIGRAM,
        to_json_array(parts),
    )


def _strip_accents(text: str) -> str:
    """Return the text without accents and vowel signs, and with compatibility forms unified (NFKD)."""
    if text.isascii():
        return text
    import unicodedata  # a megabyte of tables that plain text does not need

    return "".join(char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char)[0] != "M")


def _fold_words(run: str) -> list[str]:
    if run.isascii():
        return [run.lower()[:WORD_CHARS_MAX]]
    apart = _UNSPACED.sub(lambda char: f" {char[0]} ", run.casefold())
    return [word[:WORD_CHARS_MAX] for word in apart.split()]
