"""The words of a text, as search compares them: the same on both engines, because both are given the same words.

A word is a run of letters and digits, without regard to case and accents. In `BaseWebhookHandler` every hump begins a
word as well, so that `webhook` finds it; a character of a script that is written without blanks is a word by itself.
What is looked for is found where a word begins with it.
"""

from __future__ import annotations

import re

WORD_CHARS_MAX = 64  # of a longer run, keys and checksums for example, the beginning is enough to find it
HUMPS_MAX = 8  # of a longer name the rest is one word

_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def build_word_index(*texts: str) -> str:
    """Every word of some texts once, as it is kept beside them: between blanks, one before each word."""
    found: dict[str, None] = {}
    for run in _RUN.findall("\n".join(_strip_accents(text) for text in texts)):
        humps = _HUMP.split(run, maxsplit=HUMPS_MAX)
        for place in range(len(humps)):
            found.update(dict.fromkeys(_fold_words("".join(humps[place:]))))
    return f" {' '.join(found)} "


def parse_query_words(text: str) -> list[str]:
    """The words that a query asks for, each of which must be there."""
    return list(dict.fromkeys(word for run in _RUN.findall(_strip_accents(text)) for word in _fold_words(run)))


def _strip_accents(text: str) -> str:
    """The text without accents and vowel signs; letters that differ by width or form alone are made equal."""
    if text.isascii():
        return text
    import unicodedata  # a megabyte of tables that plain text does not need

    return "".join(char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char)[0] != "M")


def _fold_words(run: str) -> list[str]:
    if run.isascii():
        return [run.lower()[:WORD_CHARS_MAX]]
    apart = _UNSPACED.sub(lambda char: f" {char[0]} ", run.casefold())
    return [word[:WORD_CHARS_MAX] for word in apart.split()]
