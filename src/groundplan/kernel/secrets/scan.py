"""Find secrets in the texts of a request.

Almost no request has one, so the first look is cheap: nearly every secret has RUN_CHARS token characters without a
break, which are neither words nor only hexadecimal digits, and a sentence has not. Only a request that passes it is
matched against the formats.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec

from groundplan.kernel.wording import ArgumentPath

RUN_CHARS = 20
_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_TOKEN_MAP = bytes(ord("x") if byte in _TOKEN_BYTES else ord(" ") for byte in range(256))
_RUN = b"x" * RUN_CHARS
_WORD_BYTES = b"abcdefghijklmnopqrstuvwxyz_-"
_HEX_BYTES = b"0123456789abcdef-"
# Hexadecimal digits are a hash or a UUID, unless they follow a part of a secret or the name of a setting.
_JOINTS = frozenset(b".:=~")
_NAMES_OF_HEX = (b"_KEY", b"_TOKEN", b"_token", b"key_id")


class FoundSecret(msgspec.Struct, frozen=True):
    """The argument that a secret is in, and its kind; never the secret itself."""

    path: ArgumentPath
    kind: str


def find_secrets(request: Any) -> list[FoundSecret]:
    """Return the secrets in a parsed request, each kind once for an argument."""
    encoded = msgspec.json.encode(request)
    if not _may_have_secret(encoded):
        return []
    found: list[FoundSecret] = []
    _collect(msgspec.to_builtins(request, str_keys=True), (), found)
    return found


def find_kinds(text: str) -> list[str]:
    """Return the kinds of the secrets in a text."""
    if not _may_have_secret(text.encode("utf-8", "surrogatepass")):
        return []
    # Here, because most processes never meet a text that gets so far.
    from groundplan.kernel.secrets.formats import find_likely_formats

    found = [
        one.kind
        for one in find_likely_formats(text)
        if any(not is_placeholder(match[1]) for match in one.regex.finditer(text))
    ]
    return list(dict.fromkeys(found))


def _may_have_secret(encoded: bytes) -> bool:
    """Return False if no format can match."""
    return (
        _has_random_run(encoded)
        # These may be short, or have other characters in between. A single character is found ten times as fast.
        or (b"@" in encoded and b"://" in encoded)
        or (b"~" in encoded and b"Q~" in encoded)
        or b"-----BEGIN " in encoded
    )


def _has_random_run(encoded: bytes) -> bool:
    mapped = encoded.translate(_TOKEN_MAP)
    begin = mapped.find(_RUN)
    has_names = begin >= 0 and any(name in encoded for name in _NAMES_OF_HEX)
    while begin >= 0:
        end = mapped.find(b" ", begin)
        run = encoded[begin:] if end < 0 else encoded[begin:end]
        if not run.translate(None, _HEX_BYTES):
            is_random = has_names or encoded[begin - 1] in _JOINTS
        else:  # a name such as `test_a_cycle_is_refused` has only the characters of words
            is_random = bool(run.translate(None, _WORD_BYTES)) or b"secret" in run
        if is_random:
            return True
        begin = -1 if end < 0 else mapped.find(_RUN, end)
    return False


def _hide_secrets(path: ArgumentPath) -> ArgumentPath:
    """Return a path without names that are secrets themselves."""
    return tuple("…" if isinstance(step, str) and find_kinds(step) else step for step in path)


def _collect(value: Any, path: ArgumentPath, found: list[FoundSecret]) -> None:
    """Add the secrets in a value; the names in an object are texts, too."""
    if isinstance(value, str):
        # Only a password in a URL may be shorter.
        if len(value) >= RUN_CHARS or "@" in value:
            found += [FoundSecret(_hide_secrets(path), kind) for kind in find_kinds(value)]
    elif isinstance(value, dict):
        for name, one in value.items():
            if len(name) >= RUN_CHARS:
                _collect(name, path, found)
            _collect(one, (*path, name), found)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            _collect(one, (*path, index), found)


# --- Random text, and placeholders such as `ghp_xxxxxxxx` or `AKIAIOSFODNN7EXAMPLE` -----------------------------------

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
