"""What contains the words of a search in the latest published version, the draft and the decisions; in any projects."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.kernel.search_words import SearchWords, TextMatch, build_parameters, drop_repeated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def find_items(tx: Transaction, projects: Sequence[str], words: SearchWords) -> list[TextMatch]:
    """Return nodes, assumptions, indicators and decisions of some projects that match, by their keys.

    What the published version and the draft have is returned once, as it is published. A decision has the position of
    its event. Those with all words in their titles come first.
    """
    return drop_repeated(tx.all(sql.items_with_words, TextMatch, **build_parameters(projects, words)))
