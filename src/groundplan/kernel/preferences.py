"""Session defaults: set once by the configuration or the surface, used where a request gives no value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from groundplan.kernel.next_steps import OPERATION_NAMES, Vocabulary

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Preferences:
    """Defaults of one session."""

    lean: bool = False  # leave null, empty and bookkeeping fields out of answers
    answer_tokens_max: int = 0  # the cap on an answer; 0: no cap
    vocabulary: Vocabulary = OPERATION_NAMES  # how hints in answers name operations
    of_slices: tuple[object, ...] = ()  # at most one object of each class that a slice declares

    def of(self, declared: type[D]) -> D:
        """Return the defaults of a slice, by the class that it declares for them."""
        return next((one for one in self.of_slices if isinstance(one, declared)), None) or declared()
