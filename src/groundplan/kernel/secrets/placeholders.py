"""Tell random text from placeholders such as `ghp_xxxxxxxx` or `AKIAIOSFODNN7EXAMPLE`."""

from __future__ import annotations

from itertools import pairwise

DISTINCT_CHARS_MIN = 8
LONG_CHARS = 16  # shorter text, such as a password, may repeat itself
# In random text of 64 hexadecimal digits a run of 6 has a probability of 1 : 17,000.
REPEATED_CHARS_MAX = 5
SEQUENCE_CHARS_MAX = 5  # of characters that follow each other: `abcdef`, `123456`
PERIOD_CHARS = 8

PLACEHOLDER_WORDS = ("example", "placeholder", "redacted", "changeme", "dummy", "your", "xxxx", "....", "****", "fake")
# Passwords that stand for one, in documentation and on a developer's machine.
PASSWORD_WORDS = frozenset(
    {
        "password",
        "passwd",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "user",
        "username",
        "key",
        "postgres",
        "root",
        "admin",
    }
)
TEMPLATE_STARTS = ("$", "{", "<", "[", "%", "*")
HEX_DIGITS = frozenset("0123456789abcdef-")


def is_placeholder(text: str) -> bool:
    """Return whether a text is too regular to be a secret."""
    folded = text.casefold()
    if any(word in folded for word in PLACEHOLDER_WORDS):
        return True
    if len(text) < LONG_CHARS:
        return folded in PASSWORD_WORDS or text.startswith(TEMPLATE_STARTS)
    return (
        len(set(text)) < DISTINCT_CHARS_MIN
        or _is_made_of_words(text)
        or text[:PERIOD_CHARS] in text[PERIOD_CHARS:]
        or _find_longest_run(text, 0) > REPEATED_CHARS_MAX
        or _find_longest_run(text, 1) > SEQUENCE_CHARS_MAX
    )


def _is_made_of_words(text: str) -> bool:
    """Return whether a text is an identifier: in lower case, with separators or without digits."""
    is_separated = "_" in text or "-" in text or not any(map(str.isdigit, text))
    return text.islower() and is_separated and not HEX_DIGITS.issuperset(text)


def _find_longest_run(text: str, step: int) -> int:
    """Return the length of the longest part in which the next character is always `step` further."""
    longest = run = 1
    for before, after in pairwise(text):
        run = run + 1 if ord(after) - ord(before) == step else 1
        longest = max(longest, run)
    return longest
