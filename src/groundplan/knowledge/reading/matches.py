"""Atoms and molecules whose id is the text of a search, or that contain its words; in any projects."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.search_words import SearchWords, TextMatch, build_parameters, drop_repeated
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.words import parse_query_words

sql = load_queries(__file__)


class _MatchedEntity(Struct):
    project_id: str
    ref: str
    kind: str
    title: str


def find_entities(tx: Transaction, projects: Sequence[str], words: SearchWords) -> list[TextMatch]:
    """Return atoms and molecules of some projects that match; as in `knowledge.search`, a word may be incomplete.

    Those with all words in their names come first.
    """
    asked = build_parameters(projects, words)
    rows: list[_MatchedEntity] = []
    if entity_id := parse_uuid(words.text):
        rows += tx.all(sql.entities_with_id, _MatchedEntity, projects=asked["projects"], id=entity_id)
    if parsed := parse_query_words(words.text):
        # Words contain no quotation marks, so they need no escaping.
        match = " AND ".join(f'"{word}"*' for word in parsed)
        rows += tx.all(sql.entities_with_words, _MatchedEntity, **asked, match=match, words=to_json_array(parsed))
    texts: dict[str, str] = dict(tx.all(sql.entity_texts, ids=to_json_array(row.ref for row in rows)))
    return drop_repeated([TextMatch(row.project_id, row.ref, row.kind, row.title, texts[row.ref]) for row in rows])
