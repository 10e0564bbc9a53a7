"""The types of the Python verbs, `src/groundplan/verbs.pyi`, from the registry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import reduce
from keyword import iskeyword
from operator import or_
from typing import Any

from msgspec import NODEFAULT, UNSET, Struct
from msgspec.structs import FieldInfo, fields

from groundplan.catalog import OPERATIONS
from groundplan.context_adapter import ContextAdapter
from groundplan.kernel.input_gate.types import TypeDescription, TypeKind, describe_type
from groundplan.kernel.operations.registry import Operation
from groundplan.verbs import to_python_name

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


class VerbsStub:
    """Writes the stub, and collects the modules and the TypedDicts that the verbs refer to."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.objects: dict[str, type[Struct]] = {}

    def write(self) -> str:
        """Return the text of the file."""
        groups: dict[str, list[Operation[Any, Any]]] = {}
        for operation in OPERATIONS:
            groups.setdefault(operation.name.partition(".")[0], []).append(operation)
        classes = [self._write_group(name, operations) for name, operations in groups.items()]
        objects = self._write_typed_dicts()
        attributes = "".join(f"    {name}: {_get_class_name(name)}\n" for name in groups)
        parts = [
            HEAD,
            "".join(f"import {module}\n" for module in sorted(self.modules)),
            "def to_python_name(wire_name: str) -> str: ...",
            f"class Verbs:\n{attributes}",
            *classes,
            *objects,
        ]
        return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"

    # --- Verbs ---

    def _write_group(self, name: str, operations: Iterable[Operation[Any, Any]]) -> str:
        base = f"({self._get_full_name(BASES[name])})" if name in BASES else ""
        return f"class {_get_class_name(name)}{base}:\n" + "\n".join(map(self._write_verb, operations))

    def _write_verb(self, operation: Operation[Any, Any]) -> str:
        parameters = "".join(f"        {self._write_parameter(field)},\n" for field in fields(operation.input))
        answers = (kind for one in (operation, *operation.variants) for kind in (one.output, *one.other_outputs))
        described = describe_type(reduce(or_, answers))
        options = [
            "None" if one.kind is TypeKind.NULL else self._get_full_name(one.type)
            for one in described.options or (described,)
        ]
        verb = to_python_name(operation.name.partition(".")[2])
        parameters = f"\n        self,\n        *,\n{parameters}    " if parameters else "self"
        return f'    def {verb}({parameters}) -> {" | ".join(options)}:\n        """{operation.summary}"""\n'

    def _write_parameter(self, field: FieldInfo) -> str:
        written = f"{to_python_name(field.encode_name)}: {self._write_type(describe_type(field.type))}"
        if field.required:
            return written
        default = field.default.value if isinstance(field.default, Enum) else field.default
        return f"{written} = {'...' if default is NODEFAULT or default is UNSET else _quote(default)}"

    # --- Types ---

    def _write_type(self, described: TypeDescription) -> str:
        """Return a type as a caller gives it: an argument that may be omitted has a default, and objects are dicts."""
        match described.kind:
            case TypeKind.UNION:
                return " | ".join(self._write_type(option) for option in described.options)
            case TypeKind.CHOICE:
                choices = f"Literal[{', '.join(map(_quote, described.choices))}]"
                is_enum = isinstance(described.type, type)
                return f"{self._get_full_name(described.type)} | {choices}" if is_enum else choices
            case TypeKind.MAP if described.item is not None:
                return f"dict[str, {self._write_type(described.item)}]"
            case TypeKind.ARRAY if described.item is not None:
                # A list of one type of objects is a Sequence of several types. A str is a Sequence of str, and refused.
                items = described.item.options or (described.item,)
                holds_objects = all(one.kind is TypeKind.STRUCT for one in items)
                return f"{'Sequence' if holds_objects else 'builtins.list'}[{self._write_type(described.item)}]"
            case TypeKind.NULL:
                return "None"
            case TypeKind.STRUCT:
                shape = described.type
                if self.objects.setdefault(shape.__name__, shape) is not shape:
                    raise ValueError(f"two objects inside requests are called {shape.__name__}")
        return str(described.type.__name__)

    def _write_typed_dicts(self) -> list[str]:
        """Return the TypedDicts of the objects inside requests, at any depth."""
        written: dict[str, str] = {}
        while waiting := self.objects.keys() - written.keys():
            for name in sorted(waiting):
                written[name] = self._write_typed_dict(self.objects[name])
        return [written[name] for name in sorted(written)]

    def _write_typed_dict(self, shape: type[Struct]) -> str:
        keys = dict(self._list_keys(shape))
        if any(map(iskeyword, keys)):
            rows = "".join(f'        "{key}": {kind},\n' for key, kind in keys.items())
            return f'{shape.__name__} = TypedDict(\n    "{shape.__name__}",\n    {{\n{rows}    }},\n)'
        rows = "".join(f"    {key}: {kind}\n" for key, kind in keys.items())
        return f"class {shape.__name__}(TypedDict):\n{rows}"

    def _list_keys(self, shape: type[Struct]) -> Iterator[tuple[str, str]]:
        config = shape.__struct_config__
        if config.tag_field:
            yield config.tag_field, f"Literal[{_quote(config.tag)}]"
        for field in fields(shape):
            kind = self._write_type(describe_type(field.type))
            yield field.encode_name, kind if field.required else f"NotRequired[{kind}]"

    def _get_full_name(self, kind: type) -> str:
        """Return the full name of a type, because two slices may have types of one name."""
        self.modules.add(kind.__module__)
        return f"{kind.__module__}.{kind.__qualname__}"


def _get_class_name(group: str) -> str:
    return f"{group.capitalize()}Verbs"


def _quote(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
