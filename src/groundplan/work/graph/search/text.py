"""A text to look for in summaries: what is compared, and what the text index is asked.

Upper and lower case are the same for the letters of ASCII, and only for those: it is what both engines can do alike.
Every character stands for itself.
"""

from __future__ import annotations

TRIGRAM_CHARS = 3  # what the index keeps; a shorter text is looked for in every summary
TRIGRAMS_MAX = 4  # asked of the index: with more of them it takes longer than to look again at what it found


def lower_ascii(text: str) -> str:
    """The text with its ASCII letters in lower case."""
    return text.encode().lower().decode()


def index_match(text: str) -> str | None:
    """What to ask the index so that it finds every summary with this text, and perhaps some without it.

    None for a text that is too short for it.
    """
    trigrams = list(dict.fromkeys(text[at : at + TRIGRAM_CHARS] for at in range(len(text) - TRIGRAM_CHARS + 1)))
    if not trigrams:
        return None
    # Those with a blank are in nearly every summary, and cost the most to say the least.
    trigrams = [trigram for trigram in trigrams if " " not in trigram] or trigrams
    asked = min(len(trigrams), TRIGRAMS_MAX)  # of a long text, some from everywhere
    some = (trigrams[at * len(trigrams) // asked] for at in range(asked))
    return " AND ".join(f'"{trigram.replace(chr(34), chr(34) * 2)}"' for trigram in some)
