"""Optional extras of the package, which need additional libraries."""

from __future__ import annotations

from importlib import import_module

from groundplan.kernel.errors import Unavailable

# The library that each extra installs.
LIBRARIES = {"png": "resvg_py", "xlsx": "openpyxl"}


class ExtraMissing(Unavailable):
    """The extra for a file format is not installed."""

    code = "extra_missing"

    def __init__(self, extra: str) -> None:
        super().__init__(
            f"{extra.upper()} support is not installed; run: pip install 'groundplan[{extra}]'", extra=extra
        )


def require_extra(extra: str) -> None:
    """Check that an extra is installed, before work is done in vain."""
    try:
        import_module(LIBRARIES[extra])
    except ImportError:
        raise ExtraMissing(extra) from None
