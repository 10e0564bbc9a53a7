"""What contains the words of a search in the run in force and in drafts; in any projects."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.kernel.search_words import SearchWords, TextMatch, build_parameters, drop_repeated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def find_facts(tx: Transaction, projects: Sequence[str], words: SearchWords) -> list[TextMatch]:
    """Return inputs, constraints, sources and artifacts of some projects that match: by pointer, key or id.

    What the run in force and a draft have is returned once, as it is in force. Those with all words in their titles
    come first.
    """
    return drop_repeated(tx.all(sql.facts_with_words, TextMatch, **build_parameters(projects, words)))
