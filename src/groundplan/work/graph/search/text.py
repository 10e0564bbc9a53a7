"""Text search in summaries: how text is compared, and the query for the text index.

The comparison ignores the case of ASCII letters only, because that is what both engines do in the same way. Every
character is literal; there are no wildcards.
"""

from __future__ import annotations

TRIGRAM_CHARS = 3  # the index stores trigrams; a shorter text is searched in every summary
TRIGRAMS_MAX = 4  # per index query; with more, the query takes longer than rechecking the matches


def lower_ascii(text: str) -> str:
    """Return the text with its ASCII letters in lower case."""
    return text.encode().lower().decode()


def index_match(text: str) -> str | None:
    """Return an index query that finds every summary with this text, or None if the text is too short.

    It may also find summaries without the text, so the caller must check the matches.
    """
    trigrams = list(dict.fromkeys(text[at : at + TRIGRAM_CHARS] for at in range(len(text) - TRIGRAM_CHARS + 1)))
    if not trigrams:
        return None
    # Trigrams with a space are in nearly every summary: they cost the most and select the least.
    trigrams = [trigram for trigram in trigrams if " " not in trigram] or trigrams
    count = min(len(trigrams), TRIGRAMS_MAX)  # of a long text, spread over its whole length
    some = (trigrams[at * len(trigrams) // count] for at in range(count))
    return " AND ".join(f'"{trigram.replace(chr(34), chr(34) * 2)}"' for trigram in some)
