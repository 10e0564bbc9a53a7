"""Lines about the links of a node: what it serves and rests on, and what its evidence says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groundplan.kernel.links import LinkType
from groundplan.surfaces.cli.terminal import format_title
from groundplan.work.links import ShownLink


def list_links(node: Any) -> Iterator[tuple[str, str]]:
    """Yield a name and a line for each link of a node or a container."""
    for link_type in LinkType:
        for link in getattr(node, link_type) or ():
            yield link_type.replace("_", " "), _format_link(link)


def _format_link(link: ShownLink) -> str:
    notes = [f"from {link.inherited_from}"] if link.inherited_from else []
    notes += ["gone in the latest version"] if link.dangling else []
    title = "" if link.title == link.to else link.title or ""
    return format_title(link.to, title) + (f" ({', '.join(notes)})" if notes else "")
