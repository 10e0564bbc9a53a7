"""Context: the facts that a plan rests on, where they come from, and which are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundplan.context.refusals import PcivAuthRequiredError, PcivRlsDeniedError, PcivRuntimeInvariantError
    from groundplan.context.values import is_unset

__all__ = ["PcivAuthRequiredError", "PcivRlsDeniedError", "PcivRuntimeInvariantError", "is_unset"]


def __getattr__(name: str) -> Any:
    # Imported on first use: every module of this package imports the package, and few need these.
    if name == "is_unset":
        from groundplan.context.values import is_unset

        return is_unset
    if name in __all__:
        from groundplan.context import refusals

        return getattr(refusals, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
