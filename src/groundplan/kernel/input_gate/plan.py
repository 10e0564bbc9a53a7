"""What an input type accepts, compiled once, so that a wrong request is answered with the way to correct it.

    Plan            Any, bool, None, and types only msgspec knows
    ├── Text        str, with limits in characters and in bytes, and names
    ├── Number      int and float
    ├── Choice      Literal and enumerations
    └── in shapes:
        ├── Array       list
        ├── Map         dict with free keys
        ├── Record      Struct
        ├── Variants    Structs told apart by a tag
        └── Either      a union of the others

A plan does two things. `settle` runs on raw values that msgspec did not take as they are: it unwraps what a
client sent as a string and names what is wrong. `polish` runs on admitted values, and only where a marker
asks for it: it normalises names and measures bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from msgspec import Meta

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import INTEGER_MAX, decode
from groundplan.kernel.input_gate.text_limits import Marker, applied, too_many_characters
from groundplan.kernel.wording import Path, alternatives, nearest, refusal, rendered, shown, spelled

Kind = Literal["null", "boolean", "number", "string", "array", "object"]

KINDS: tuple[Kind, ...] = ("null", "boolean", "number", "string", "array", "object")

# In this order for subclasses: a bool is an int to Python, and a number it is not to us.
_KIND_OF: Mapping[type, Kind] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "object",
}


def kind_of(value: Any) -> Kind | None:
    """The JSON kind of a raw value; None for what is not JSON."""
    kind = _KIND_OF.get(type(value))
    return kind or next((kind for known, kind in _KIND_OF.items() if isinstance(value, known)), None)


class Plan:
    """How the values of one type are taken in. As it stands, by their kind alone."""

    def __init__(self, *kinds: Kind, wanted: str) -> None:
        self.kinds = frozenset(kinds)
        self.wanted = wanted  # as it reads after "must be"
        self.markers: tuple[Marker, ...] = ()

    def settle(self, value: Any, path: Path) -> Any:
        """The value as msgspec takes it, or the refusal that says what is allowed."""
        if isinstance(value, str) and not self.takes_text(value):
            value = self._unwrapped(value, path)
        if kind_of(value) not in self.kinds:
            raise self.refuse(value, path)
        return self.settle_kind(value, path)

    def settle_kind(self, value: Any, _path: Path) -> Any:
        """`settle` for a value of a kind that this plan takes."""
        return value

    def polish(self, value: Any, _path: Path) -> Any:
        """The admitted value with every marker below applied."""
        return value

    def parts(self) -> Iterable[Plan]:
        """The plans of what this one contains."""
        return ()

    def takes_text(self, _text: str) -> bool:
        """Whether a string here is meant as a string."""
        return "string" in self.kinds

    def refuse(self, value: Any, path: Path, *, wanted: str | None = None) -> Invalid:
        """The refusal of a value that is not wanted here."""
        return refusal(path, f"must be {wanted or self.wanted}, not {shown(value)}")

    @cached_property
    def marked(self) -> bool:
        """Whether a marker stands on this type or on anything it can contain."""
        return any(plan.markers for plan in _reachable(self))

    def _unwrapped(self, text: str, path: Path) -> Any:
        """The number, boolean, array, object or null that a client sent as its JSON text; else the text."""
        try:
            value = decode(text.encode("utf-8", "surrogatepass"), levels_above=len(path))
        except Invalid as error:
            if error.code == "invalid_json" or self.kinds <= {"string", "null"}:
                return text
            details = {**error.details, "field": rendered(path)}
            raise Invalid(f"{rendered(path)}: {error.message}", code=error.code, **details) from None
        return text if isinstance(value, str) or kind_of(value) not in self.kinds else value


class Text(Plan):
    """A string."""

    def __init__(self, metas: Sequence[Meta] = (), markers: Iterable[Marker] = ()) -> None:
        super().__init__("string", wanted="a string")
        self.chars_min = last_of(metas, "min_length")
        self.chars_max = last_of(metas, "max_length")
        self.markers = tuple(markers)

    def settle_kind(self, value: Any, path: Path) -> Any:
        if self.chars_max is not None and len(value) > self.chars_max:
            raise too_many_characters(path, self.chars_max, len(value))
        if self.chars_min is not None and len(value) < self.chars_min:
            sentence = f"must have at least {self.chars_min} characters, not {len(value)}"
            raise refusal(path, sentence, limit=self.chars_min)
        return value

    def polish(self, value: Any, path: Path) -> Any:
        if isinstance(value, str):
            for marker in self.markers:
                value = applied(marker, value, path)
        return value


class Number(Plan):
    """An integer, or any number."""

    def __init__(self, metas: Sequence[Meta] = (), *, whole: bool) -> None:
        bounds = ((words, test, last_of(metas, name)) for name, (words, test) in _BOUNDS.items())
        self.bounds = [(words, test, bound) for words, test, bound in bounds if bound is not None]
        limits = " and ".join(f"{words} {bound}" for words, _, bound in self.bounds)
        kind = "a whole number" if whole else "a number"
        super().__init__("number", wanted=f"{kind}, {limits}" if limits else kind)
        self.whole = whole

    def settle_kind(self, value: Any, path: Path) -> Any:
        if self.whole and isinstance(value, float):
            if not value.is_integer() or abs(value) > INTEGER_MAX:
                raise self.refuse(value, path)
            value = int(value)
        for _, test, bound in self.bounds:
            if not test(value, bound):
                raise refusal(path, f"must be {self.wanted}, not {shown(value)}", limit=bound)
        return value


class Choice(Plan):
    """One of a few values."""

    def __init__(self, values: Collection[Any]) -> None:
        kinds = {kind for value in values if (kind := kind_of(value))}
        super().__init__(*kinds, wanted=alternatives([spelled(value) for value in values]))
        self.values = tuple(values)

    def takes_text(self, text: str) -> bool:
        return text in self.values

    def settle_kind(self, value: Any, path: Path) -> Any:
        for allowed in self.values:
            if allowed == value:  # 1 == 1.0, and the first is what msgspec takes
                return allowed
        raise self.refuse(value, path)

    def refuse(self, value: Any, path: Path, *, wanted: str | None = None) -> Invalid:
        words = [allowed for allowed in self.values if isinstance(allowed, str)]
        near = nearest(value, words) if isinstance(value, str) else None
        sentence = f"must be {wanted or self.wanted}, not {shown(value)}"
        if near:
            return refusal(path, f"{sentence}; did you mean {near!r}?", allowed=list(self.values), near=near)
        return refusal(path, sentence, allowed=list(self.values))


_BOUNDS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "ge": ("at least", operator.ge),
    "gt": ("greater than", operator.gt),
    "le": ("at most", operator.le),
    "lt": ("less than", operator.lt),
    "multiple_of": ("a multiple of", lambda value, bound: value % bound == 0),
}


def last_of(metas: Sequence[Meta], name: str) -> Any:
    """A constraint by its name; the outermost annotation wins, as with msgspec."""
    return next((bound for meta in reversed(metas) if (bound := getattr(meta, name)) is not None), None)


def _reachable(start: Plan) -> Iterator[Plan]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        plan = waiting.pop()
        if id(plan) not in seen:
            seen.add(id(plan))
            waiting.extend(plan.parts())
            yield plan
