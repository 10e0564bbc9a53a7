"""Answers as clients receive them."""

from __future__ import annotations

import json
from typing import Any

from groundplan.kernel.answers import encode


def to_json(answer: Any) -> Any:
    """Return an answer as decoded JSON, as a client receives it."""
    return json.loads(encode(answer))
