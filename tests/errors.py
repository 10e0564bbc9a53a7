"""The error that a call ends with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError


def error_of(call: Callable[[], Any]) -> GroundplanError:
    """Return the error that the call raises; fail if it raises none."""
    with pytest.raises(GroundplanError) as caught:
        call()
    return caught.value
