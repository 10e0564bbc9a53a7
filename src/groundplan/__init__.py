"""Groundplan: one durable planning memory, shared by people and AI agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundplan.context.hydrate import hydrate
    from groundplan.session import Session, open  # noqa: A004 - groundplan.open() is the public name

__all__ = ["Session", "__version__", "hydrate", "open"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Imported on first use, so that the command line and the MCP server start fast.
    if name in ("Session", "open"):
        from groundplan import session

        return getattr(session, name)
    if name == "hydrate":
        from groundplan.context.hydrate import hydrate

        return hydrate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
