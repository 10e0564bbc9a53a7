"""Content negotiation: whether a client accepts what the server has."""

from __future__ import annotations

from collections.abc import Sequence

JSON_RANGES = ("application/json", "application/*", "*/*")  # the most specific first
GZIP_CODINGS = ("gzip", "x-gzip", "*")


def accepts(header: str, names: Sequence[str]) -> bool:
    """Return whether a header accepts something under the first of its names that the header lists."""
    if header in names:  # what most clients send
        return True
    qualities: dict[str, float] = {}
    for part in header.split(","):
        name, *parameters = part.split(";")
        qualities[name.strip().lower()] = _read_quality(parameters)
    return next((qualities[name] > 0 for name in names if name in qualities), False)


def _read_quality(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
