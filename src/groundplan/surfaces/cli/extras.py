"""Parts of the package that are installed by whoever wants them, because they bring libraries of their own."""

from __future__ import annotations

from importlib import import_module

from groundplan.kernel.errors import Unavailable

# What each of them is there for.
LIBRARIES = {"png": "resvg_py", "xlsx": "openpyxl"}


class ExtraMissing(Unavailable):
    """A kind of file is an optional part, and it is not installed."""

    code = "extra_missing"

    def __init__(self, extra: str) -> None:
        super().__init__(
            f"{extra.upper()} support is not installed; run: pip install 'groundplan[{extra}]'", extra=extra
        )


def require(extra: str) -> None:
    """Look whether a part is there before work is done for nothing.

    Raises:
        ExtraMissing: it is not.
    """
    try:
        import_module(LIBRARIES[extra])
    except ImportError:
        raise ExtraMissing(extra) from None
