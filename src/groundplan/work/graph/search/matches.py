"""Nodes whose id is the text of a search, or whose summary contains its words; in any projects."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.kernel.search_words import SearchWords, TextMatch, build_parameters, drop_repeated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph.search.text import TRIGRAM_CHARS, index_term, list_trigrams

WORD_TRIGRAMS_MAX = 2  # of each word; the other trigrams of a word hardly exclude a node
READ_MAX = 200_000  # summaries that are read for words without trigrams, in all projects together
READ_PER_PROJECT_MIN = 1_000

sql = load_queries(__file__)


def find_nodes(tx: Transaction, projects: Sequence[str], words: SearchWords) -> list[TextMatch]:
    """Return nodes of some projects that match, newest first. For words without trigrams only new nodes are read."""
    asked = build_parameters(projects, words)
    matches = tx.all(sql.nodes_with_id, TextMatch, **asked)
    if match := _build_match(words):
        found = tx.all(sql.nodes_with_words, TextMatch, **asked, match=match)
    else:
        read_max = max(READ_MAX // max(len(projects), 1), READ_PER_PROJECT_MIN)
        found = tx.all(sql.nodes_with_short_words, TextMatch, **asked, read_max=read_max)
    if len(found) >= asked["per_project"]:  # the node with exactly this summary may be older than all of them
        matches += tx.all(sql.nodes_with_summary, TextMatch, **asked)
    return drop_repeated([*matches, *found])


def _build_match(words: SearchWords) -> str:
    """Return an index query that every matching summary fulfills; empty if no word has a trigram."""
    terms: dict[str, None] = {}
    for word in words.words:
        # The index folds characters in its own way, so those of ASCII are preferred.
        trigrams = [one for one in list_trigrams(word) if one.chars.isascii()] or list_trigrams(word)
        if len(word) >= TRIGRAM_CHARS:
            terms.update(dict.fromkeys(index_term(one) for one in (trigrams[0], trigrams[-1])[:WORD_TRIGRAMS_MAX]))
    return " AND ".join(terms)
