"""Rows that contain the words of a search, as slices return them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from groundplan.kernel.store.queries import to_json_array
from groundplan.kernel.text_search.words import SearchWords

MATCHES_MAX = 200  # rows that a slice returns
PROJECT_MATCHES_MAX = 60  # rows of one project among them; more than any answer shows
PROJECT_MATCHES_MIN = 3


class TextMatch(Struct):
    """A row that contains every word of a search."""

    project_id: str
    ref: str
    kind: str
    title: str
    text: str  # the other texts of the row


def build_parameters(projects: Sequence[str], words: SearchWords) -> dict[str, Any]:
    """Return the parameters of queries for words in projects: with many projects, fewer rows of each."""
    fair = 3 * MATCHES_MAX // max(len(projects), 1)
    return {
        **words.parameters,
        "projects": to_json_array(projects),
        "per_project": max(PROJECT_MATCHES_MIN, min(fair, PROJECT_MATCHES_MAX)),
        "at_most": MATCHES_MAX,
    }


def drop_repeated(matches: Sequence[TextMatch]) -> list[TextMatch]:
    """Return the matches without those whose ref occurs before in the same project."""
    found: dict[tuple[str, str], TextMatch] = {}
    for match in matches:
        found.setdefault((match.project_id, match.ref), match)
    return list(found.values())
