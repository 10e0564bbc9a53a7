"""Split a text into its front matter and its body."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from groundplan.front_matter.errors import UnreadableFrontMatter

FENCE = "---"
FRONT_CHARS_MAX = 65_536


@dataclass(frozen=True, slots=True)
class SplitText:
    """Front matter with both fences, empty if there is none, and the rest."""

    front: str
    body: str

    @property
    def body_line(self) -> int:
        """The line of the file in which the body begins."""
        return self.front.count("\n") + 1


def split_text(text: str) -> SplitText:
    """Split a text with LF as line breaks. Front matter, or the whole file, may be indented."""
    first, _, rest = text.partition("\n")
    if first.strip() != FENCE:
        return SplitText("", text)
    end = len(first) + 1
    for line in rest.split("\n"):
        end += len(line) + 1
        if line.strip() == FENCE:
            break
        if end > FRONT_CHARS_MAX:
            raise UnreadableFrontMatter(1, f"has front matter of more than {FRONT_CHARS_MAX} characters")
    else:
        raise UnreadableFrontMatter(1, f"opens with {FENCE}, but its front matter has no second {FENCE}")
    front, body = text[:end], text[end:]
    if first.startswith((" ", "\t")):
        return SplitText(textwrap.dedent(front), textwrap.dedent(body))
    return SplitText(front, body)
