"""Arguments of briefings."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "node_id": "The task: the id of its node, or an unambiguous prefix of at least 4 characters.",
    "budget": "Tokens that the whole answer may have; a token is 4 characters.",
    "markdown": "Return one text of Markdown, to paste into a chat, instead of data.",
}
