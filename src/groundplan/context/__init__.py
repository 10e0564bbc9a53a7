"""Context: the facts that a plan rests on, where they come from, and which are missing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundplan.context.refusals import PcivAuthRequiredError, PcivRlsDeniedError, PcivRuntimeInvariantError
    from groundplan.context.refusals import check_value_columns as invariantPCIVValueColumnsMatchKind  # noqa: N812 - the contract spells it like this
    from groundplan.context.values import is_unset

__all__ = [
    "PcivAuthRequiredError",
    "PcivRlsDeniedError",
    "PcivRuntimeInvariantError",
    "invariantPCIVValueColumnsMatchKind",
    "is_unset",
]

_ELSEWHERE = {
    "is_unset": ("groundplan.context.values", "is_unset"),
    # The contract spells it like this, and its error names it.
    "invariantPCIVValueColumnsMatchKind": ("groundplan.context.refusals", "check_value_columns"),
}


def __getattr__(name: str) -> Any:
    # Imported on first use: every module of this package imports the package, and few need these.
    if name in __all__:
        module, attribute = _ELSEWHERE.get(name, ("groundplan.context.refusals", name))
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
