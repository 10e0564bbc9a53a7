"""The types of the Python verbs, `src/groundplan/verbs.pyi`, from the registry."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import reduce
from keyword import iskeyword
from operator import or_
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, UNSET, Struct, UnsetType
from msgspec.structs import FieldInfo, fields

from groundplan.catalog import OPERATIONS
from groundplan.context_adapter import ContextAdapter
from groundplan.kernel.operations.registry import Operation
from groundplan.verbs import python_name

HEAD = '''\
"""What the verbs of a session take and answer. Written by `make contracts` from the registry; edit that instead.

Objects inside a request are written as dicts in the names of the wire, and have a TypedDict here. Only type checkers
see them: import them under `if TYPE_CHECKING`.
"""

import builtins
from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict
'''
BASES = {"context": ContextAdapter}


class Stub:
    """The text of the stub. Collects the modules and the TypedDicts that the verbs refer to."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.objects: dict[str, type[Struct]] = {}

    def text(self) -> str:
        """The whole file."""
        groups: dict[str, list[Operation[Any, Any]]] = {}
        for operation in OPERATIONS:
            groups.setdefault(operation.name.partition(".")[0], []).append(operation)
        classes = [self._group(name, operations) for name, operations in groups.items()]
        objects = self._typed_dicts()
        attributes = "".join(f"    {name}: {_class_name(name)}\n" for name in groups)
        parts = [
            HEAD,
            "".join(f"import {module}\n" for module in sorted(self.modules)),
            "def python_name(wire_name: str) -> str: ...",
            f"class Verbs:\n{attributes}",
            *classes,
            *objects,
        ]
        return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"

    # --- Verbs ---

    def _group(self, name: str, operations: Iterable[Operation[Any, Any]]) -> str:
        base = f"({self._dotted(BASES[name])})" if name in BASES else ""
        return f"class {_class_name(name)}{base}:\n" + "\n".join(map(self._verb, operations))

    def _verb(self, operation: Operation[Any, Any]) -> str:
        hints = get_type_hints(operation.input)
        parameters = [self._parameter(one, hints[one.name]) for one in fields(operation.input)]
        taken = "".join(f"        {one},\n" for one in parameters)
        answer = reduce(
            or_, (kind for one in (operation, *operation.variants) for kind in (one.output, *one.other_outputs))
        )
        verb = python_name(operation.name.partition(".")[2])
        taken = f"\n        self,\n        *,\n{taken}    " if taken else "self"
        return f'    def {verb}({taken}) -> {self._answer(answer)}:\n        """{operation.summary}"""\n'

    def _parameter(self, field: FieldInfo, hint: Any) -> str:
        written = f"{python_name(field.encode_name)}: {self._taken(hint)}"
        if field.required:
            return written
        default = field.default.value if isinstance(field.default, Enum) else field.default
        return f"{written} = {'...' if default is NODEFAULT or default is UNSET else _quoted(default)}"

    # --- Types ---

    def _answer(self, hint: Any) -> str:
        return " | ".join("None" if one is types.NoneType else self._dotted(one) for one in _options(hint))

    def _taken(self, hint: Any) -> str:
        """A type as a caller gives it: what may be left out has a default, and objects are dicts."""
        return " | ".join(self._one(option) for option in _options(hint) if option is not UnsetType)

    def _one(self, hint: Any) -> str:
        origin = get_origin(hint)
        if origin is Literal:
            return f"Literal[{', '.join(map(_quoted, get_args(hint)))}]"
        if origin is dict:
            return f"dict[str, {self._taken(get_args(hint)[1])}]"
        if origin is list:
            item = get_args(hint)[0]
            # A list of one sort of objects is a Sequence of several sorts. A text is a Sequence of texts, and refused.
            holds_objects = all(isinstance(one, type) and issubclass(one, Struct) for one in _options(item))
            return f"{'Sequence' if holds_objects else 'builtins.list'}[{self._taken(item)}]"
        if hint is Any:
            return "Any"
        if hint is types.NoneType:
            return "None"
        if issubclass(hint, Enum):
            return f"{self._dotted(hint)} | Literal[{', '.join(_quoted(member.value) for member in hint)}]"
        if issubclass(hint, Struct):
            if self.objects.setdefault(hint.__name__, hint) is not hint:
                raise ValueError(f"two objects inside requests are called {hint.__name__}")
            return hint.__name__
        return str(hint.__name__)

    def _typed_dicts(self) -> list[str]:
        """The objects inside requests, and those inside these."""
        written: dict[str, str] = {}
        while waiting := self.objects.keys() - written.keys():
            for name in sorted(waiting):
                written[name] = self._typed_dict(self.objects[name])
        return [written[name] for name in sorted(written)]

    def _typed_dict(self, shape: type[Struct]) -> str:
        keys = dict(self._keys(shape))
        if any(map(iskeyword, keys)):
            rows = "".join(f'        "{key}": {kind},\n' for key, kind in keys.items())
            return f'{shape.__name__} = TypedDict(\n    "{shape.__name__}",\n    {{\n{rows}    }},\n)'
        rows = "".join(f"    {key}: {kind}\n" for key, kind in keys.items())
        return f"class {shape.__name__}(TypedDict):\n{rows}"

    def _keys(self, shape: type[Struct]) -> Iterator[tuple[str, str]]:
        config = shape.__struct_config__
        if config.tag_field:
            yield config.tag_field, f"Literal[{_quoted(config.tag)}]"
        hints = get_type_hints(shape)
        for field in fields(shape):
            kind = self._taken(hints[field.name])
            yield field.encode_name, kind if field.required else f"NotRequired[{kind}]"

    def _dotted(self, kind: type) -> str:
        """Two slices may have a word for two things, so types are called by their full names."""
        self.modules.add(kind.__module__)
        return f"{kind.__module__}.{kind.__qualname__}"


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _class_name(group: str) -> str:
    return f"{group.capitalize()}Verbs"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
