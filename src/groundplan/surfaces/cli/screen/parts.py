"""Parts of what is printed: lines, texts in styles, tables, and gaps between them."""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.screen.table import TextTable

GAP = None  # a blank line, unless nothing comes before or after it

Part = str | StyledText | TextTable | None


def print_parts(parts: Iterable[Part]) -> None:
    """Print lines and tables. Lines are not wrapped."""
    output = Output()
    has_output = needs_gap = False
    for part in parts:
        if part is GAP:
            needs_gap = has_output
            continue
        if needs_gap:
            output.print()
        output.print(StyledText(escape_control_chars(part)) if isinstance(part, str) else part)
        has_output, needs_gap = True, False
