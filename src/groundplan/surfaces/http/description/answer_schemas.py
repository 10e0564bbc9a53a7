"""JSON Schemas of answers, as shared components of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, defstruct

from groundplan.kernel.operations.registry import Operation
from groundplan.kernel.operations.schema import JsonSchema

REF = "#/components/schemas/{name}"


def list_outputs(operation: Operation[Any, Any]) -> list[Any]:
    """Return the types of the answers of an operation and its variants."""
    every = [output for one in (operation, *operation.variants) for output in (one.output, *one.other_outputs)]
    return [output for at, output in enumerate(every) if output not in every[:at]]


def build_answer_schemas(operations: Sequence[Operation[Any, Any]]) -> tuple[dict[str, JsonSchema], JsonSchema]:
    """Return the schema of the answers of each operation, by its name, and the components that they refer to.

    A lean answer leaves fields out. So no field is required in the answer of an operation that takes `lean`.
    """
    adapted = _Adapter()
    types = {one.name: [adapted.adapt(output) for output in list_outputs(one)] for one in operations}
    flat = [output for outputs in types.values() for output in outputs]
    made = msgspec.json.schema_components([*flat, *adapted.untagged.values()], ref_template=REF)
    schemas, components = msgspec.json.decode(msgspec.json.encode(made))  # as plain data: a default can be a tuple
    found = iter(schemas)
    by_name = {name: _combine([next(found) for _ in outputs]) for name, outputs in types.items()}
    lean = [by_name[one.name] for one in operations if "lean" in one.input.__struct_fields__]
    for name in _list_reachable(lean, components):
        components[name].pop("required", None)
    return by_name, {name: _without_titles(components[name]) for name in sorted(components)}


def _combine(schemas: list[JsonSchema]) -> JsonSchema:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _list_reachable(schemas: Iterable[JsonSchema], components: Mapping[str, JsonSchema]) -> set[str]:
    found: set[str] = set()
    waiting: list[Any] = list(schemas)
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                waiting.append(components[name])
            waiting += node.values()
    return found


def _without_titles(component: JsonSchema) -> JsonSchema:
    return {key: value for key, value in component.items() if key != "title"}  # the title is the name


class _Adapter:
    """Replaces types for which msgspec cannot make a schema: those with a list of several Structs without tags."""

    def __init__(self) -> None:
        self.untagged: dict[str, type[Struct]] = {}  # the Structs in such lists, by name
        self._adapted: dict[type[Struct], type[Struct]] = {}

    def adapt(self, shape: Any) -> Any:
        if not (isinstance(shape, type) and issubclass(shape, Struct)):
            return shape
        if shape not in self._adapted:
            self._adapted[shape] = self._make(shape)
        return self._adapted[shape]

    def _make(self, shape: type[Struct]) -> type[Struct]:
        fields: list[Any] = []
        has_untagged = False
        for field in msgspec.structs.fields(shape):
            options = get_args(get_args(field.type)[0]) if get_origin(field.type) is list else ()
            structs = [one for one in options if isinstance(one, type) and issubclass(one, Struct)]
            kind: Any = field.type
            if len(structs) > 1 and all(one.__struct_config__.tag is None for one in structs):
                has_untagged = True
                self.untagged |= {one.__name__: one for one in structs}
                refs = [{"$ref": REF.format(name=one.__name__)} for one in structs]
                kind = list[Annotated[Any, Meta(extra_json_schema={"anyOf": refs})]]
            fields.append((field.name, kind) if field.required else (field.name, kind, field.default))
        if not has_untagged:
            return shape
        names = {one.name: one.encode_name for one in msgspec.structs.fields(shape)}
        made = defstruct(shape.__name__, fields, rename=names)
        made.__doc__ = shape.__doc__
        return made
