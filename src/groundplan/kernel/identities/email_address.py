"""E-mail addresses and domains in the form in which they are stored and compared.

    Ada@Example.ORG        ada@example.org         ASCII letters are compared without their case
    zoë@example.org        zoë@example.org         NFC; other letters are compared exactly, case included
    ada@bücher.example     ada@xn--bcher-kva…      the ASCII form of the domain

Nothing else is unified: two addresses that a provider tells apart must not become one, as they would by NFKC or by
Unicode case folding, which take a ligature for two letters and the Kelvin sign for a k.
"""

from __future__ import annotations

import re
import unicodedata

from groundplan.kernel.wording import ArgumentPath, invalid_argument

ADDRESS_CHARS_MAX = 254
LOCAL_BYTES_MAX = 64
LABEL_CHARS_MAX = 63

_UPPER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_REFUSED_IN_LOCAL = re.compile(r'[\s@"(),:;<>\[\]\\]')
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")


def is_email(text: str) -> bool:
    """Return True if a name is an e-mail address: it has an `@`, and a domain with a dot after it."""
    local, _, domain = text.rpartition("@")
    return bool(local.strip()) and "." in domain


def normalize_email(text: str, path: ArgumentPath = ("email",)) -> str:
    """Return an e-mail address in its stored form."""
    if any(not char.isascii() and unicodedata.normalize("NFC", char).isascii() for char in text):
        raise invalid_argument(path, "has a letter that stands for an ASCII letter, such as the Kelvin sign")
    local, at, domain = unicodedata.normalize("NFC", text.strip()).rpartition("@")
    if not at:
        raise invalid_argument(path, "must be an e-mail address such as ada@example.org")
    local = local.translate(_UPPER)
    is_plain = bool(local) and not _REFUSED_IN_LOCAL.search(local) and not _has_invisible(local)
    if not is_plain or len(local.encode()) > LOCAL_BYTES_MAX or "" in local.split("."):
        raise invalid_argument(path, "must be an e-mail address such as ada@example.org, without spaces or quotes")
    address = f"{local}@{normalize_domain(domain, path)}"
    if len(address) > ADDRESS_CHARS_MAX:
        raise invalid_argument(path, f"has more than {ADDRESS_CHARS_MAX} characters")
    return address


def normalize_domain(text: str, path: ArgumentPath = ("domain",)) -> str:
    """Return a domain in its ASCII form, in lower case."""
    labels = [_encode_label(label, path) for label in text.strip().translate(_UPPER).split(".")]
    if len(labels) < 2 or not all(_LABEL.fullmatch(label) and len(label) <= LABEL_CHARS_MAX for label in labels):
        raise invalid_argument(path, "must have a domain such as example.org")
    return ".".join(labels)


def get_domain(email: str) -> str:
    """Return the domain of a normalized address."""
    return email.rpartition("@")[2]


def _has_invisible(text: str) -> bool:
    return any(unicodedata.category(char) in _INVISIBLE for char in text)


def _encode_label(label: str, path: ArgumentPath) -> str:
    if label.isascii():
        return label
    composed = unicodedata.normalize("NFC", label)
    # IDNA 2008 has only labels that are their own compatibility form in small letters.
    is_usual = composed == unicodedata.normalize("NFKC", composed) == composed.lower()
    if not is_usual or _has_invisible(composed):
        raise invalid_argument(path, "has a domain in an unusual spelling; write it in its ASCII form (xn--…)")
    return "xn--" + composed.encode("punycode").decode("ascii")
