"""Entity tags: `"r42.9f86d081884c7d65"` is revision 42 of a thing, and what this answer says about it.

The first part is the revision (or version) that the answer contains; `If-Match` compares it with what is stored. The
second part is a hash of the answer, because an answer can change without a write: a claim expires, or a day ends. So
`If-None-Match` is true only if the answer has the same bytes. An answer in gzip has a tag of its own, as RFC 9110 asks
of strong tags.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from groundplan.surfaces.http.problems import HttpProblem

HASH_BYTES = 8
GZIP_SUFFIX = "-gzip"
ANY = "*"
_TAG = re.compile(r'"r(\d{1,16})(?:\.[0-9a-f]+)?(?:-gzip)?"')
_LISTED = re.compile(r'\s*((?:W/)?"[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)')


def find_revision(answer: Any) -> int | None:
    """Return the `rev` or `version` of an answer, or of the only object in it that has one."""
    if (own := _get_revision(answer)) is not None:
        return own
    if not isinstance(answer, Struct):
        return None
    inside = [_get_revision(getattr(answer, name)) for name in answer.__struct_fields__]
    found = [revision for revision in inside if revision is not None]
    return found[0] if len(found) == 1 else None


def find_item_revision(answer: Struct) -> int | None:
    """Return the revision of the only item in the answer of an operation on a list."""
    for name in answer.__struct_fields__:
        items = getattr(answer, name)
        if isinstance(items, list) and len(items) == 1 and (revision := _get_revision(items[0])) is not None:
            return revision
    return None


def _get_revision(value: Any) -> int | None:
    if isinstance(value, Struct):
        for name in ("rev", "version"):
            if type(found := getattr(value, name, None)) is int:
                return found
    return None


def build_tag(revision: int | None, body: bytes | None) -> str | None:
    """Return the tag of an answer; without a body that of a thing that was changed."""
    parts = [] if revision is None else [f"r{revision}"]
    if body is not None:
        parts.append(blake2b(body, digest_size=HASH_BYTES).hexdigest())
    return f'"{".".join(parts)}"' if parts else None


def mark_compressed(tag: str) -> str:
    """Return the tag of the same answer in gzip."""
    return f'{tag[:-1]}{GZIP_SUFFIX}"'


def is_unchanged(if_none_match: str, tag: str) -> bool:
    """Return whether the client has this answer already, compressed or not."""
    return if_none_match.strip() == ANY or any(
        given.removeprefix("W/") in (tag, mark_compressed(tag)) for given in parse_tags(if_none_match)
    )


def read_expected_revision(if_match: str) -> int | None:
    """Return the revision that `If-Match` asks for; None if any will do.

    Raises:
        HttpProblem: it asks for none that a thing can have, or for several.
    """
    if if_match.strip() == ANY:
        return None
    tags = parse_tags(if_match)
    if len(tags) > 1:
        raise HttpProblem(400, "invalid_if_match", "If-Match has several entity tags; send the one that you read")
    found = _TAG.fullmatch(tags[0]) if tags else None
    if found is None:
        raise HttpProblem(
            412,
            "precondition_failed",
            'If-Match is no ETag with a revision, such as "r42"; read it again and send its ETag unchanged',
        )
    return int(found[1])


def parse_tags(header: str) -> list[str]:
    """Return the entity tags in a header.

    Raises:
        HttpProblem: it is no list of entity tags.
    """
    tags: list[str] = []
    at = 0
    while at < len(header):
        found = _LISTED.match(header, at)
        if found is None:
            raise HttpProblem(
                400, "invalid_entity_tag", 'an entity tag stands in quotes, such as "r42"; send the ETag as you got it'
            )
        tags.append(found[1])
        at = found.end()
    return tags
