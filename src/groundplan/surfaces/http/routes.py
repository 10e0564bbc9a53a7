"""The table of all routes below `/v1`, and the search for the endpoint of a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import Invalid, NextStep
from groundplan.kernel.input_gate.types import TypeDescription, TypeKind, describe_type
from groundplan.kernel.operations.registry import Effect, Operation, Registry, Route
from groundplan.surfaces.vocabularies import PREFIX, PROJECT, get_project_field

READS = ("GET", "HEAD")
WITHOUT_BODY = ("GET", "HEAD", "DELETE")
REVISION_FIELDS = ("expected_rev", "version")  # that a request compares with what is stored

PLAIN = (TypeKind.INTEGER, TypeKind.BOOLEAN)

AnyOperation = Operation[Any, Any]


class PathParameter(NamedTuple):
    """An input field in a path."""

    name: str
    suffix: str  # `s` in `/{containerType}s`
    choices: Mapping[str, Any] | None  # the values by their spelling in a path; None: any text


class PathEndpoint:
    """One method of one path, with the parameters in the path."""

    has_head = True  # HEAD is answered as GET

    def __init__(self, route: Route, parameters: Sequence[PathParameter]) -> None:
        self.route = route
        self.template = PREFIX + route.path  # of the address, for logs and metrics
        self.parameters = parameters

    def read_parameters(self, texts: Sequence[str]) -> dict[str, Any] | None:
        """Return the values of the parameters by name; None if one is not an allowed value, so that no path matches."""
        values: dict[str, Any] = {}
        for parameter, text in zip(self.parameters, texts, strict=True):
            if parameter.choices is None:
                values[parameter.name] = text
            elif text in parameter.choices:
                values[parameter.name] = parameter.choices[text]
            else:
                return None
        return values


class DocumentEndpoint(PathEndpoint):
    """A public description of the API."""

    def __init__(self, name: str) -> None:
        super().__init__(Route("GET", f"/{name}"), ())
        self.name = name


class StreamEndpoint(PathEndpoint):
    """A stream of live events. It is not an operation, because its answer has no end."""

    has_head = False

    def __init__(self, name: str, path: str, *, summary: str, ends: str, permission: Permission) -> None:
        has_project = f"{{{PROJECT}}}" in path
        super().__init__(Route("GET", path, summary=summary), [PathParameter(PROJECT, "", None)] if has_project else ())
        self.name = name
        self.ends = ends  # when the server ends it
        self.permission = permission


class Endpoint(PathEndpoint):
    """An operation at a method and path, with the sources of its arguments."""

    def __init__(self, operation: AnyOperation, route: Route) -> None:
        self.operation = operation
        self.wire_names = {name: wire_name for wire_name, name in route.names.items()}  # by the name in the body
        self.reads = route.method in READS
        self.takes_body = route.method not in WITHOUT_BODY
        fields = {field.encode_name: field for field in msgspec.structs.fields(operation.input)}
        self.item_fields = fields if route.item_of is None else _list_item_fields(fields[route.item_of].type)
        parts = _list_variable_parts(route)
        super().__init__(route, [_describe_parameter(self.item_fields, fields, part) for part in parts])
        project_field = get_project_field(operation.input)
        self.project_field = None if project_field in route.without else project_field
        self.has_project = any(parameter.name == PROJECT for parameter in self.parameters)
        # Of a request with one item: the fields beside the item.
        self.shared_fields = () if route.item_of is None else fields.keys() - {route.item_of} - self.item_fields.keys()
        described = {name: describe_type(field.type).options_without_null for name, field in fields.items()}
        # Input fields that can be given several times in a query string, and those that are always lists.
        self.lists = {name for name, options in described.items() if any(map(_is_array, options))}
        # Input fields that are numbers or booleans, which the input gate takes faster than text that it must decode.
        self.plain = {
            name: input_field[0].kind
            for name, input_field in described.items()
            if len(input_field) == 1 and input_field[0].kind in PLAIN
        }
        self.arrays = {
            name
            for name in self.lists
            if not any(input_field.kind is TypeKind.STRING for input_field in described[name])
        }
        self.takes_op_id = "op_id" in fields
        self.revision_field = None if self.reads else next((n for n in REVISION_FIELDS if n in self.item_fields), None)

    def spell_parameter(self, name: str, value: Any) -> Any:
        """Return a value in the spelling of a path."""
        choices = next((parameter.choices for parameter in self.parameters if parameter.name == name), None)
        return value if choices is None else next(text for text, choice in choices.items() if choice == value)


AnyEndpoint = Endpoint | StreamEndpoint | DocumentEndpoint
RequestedEndpoint = tuple[AnyEndpoint, dict[str, Any]]  # with the values in the path

DOCUMENTS = [DocumentEndpoint(name) for name in ("openapi.json", "docs", "docs.css")]
STREAMS = [
    StreamEndpoint(
        "event.stream",
        f"/projects/{{{PROJECT}}}/events",
        summary="Live events of a project, as server-sent events.",
        ends="may not read the project any more",
        permission=Permission.PROJECT_READ,
    ),
    StreamEndpoint(
        "organization.stream",
        "/organization/events",
        summary="Live events of the organization, as server-sent events.",
        ends="is not in the organization any more",
        permission=Permission.ORGANIZATION_READ,
    ),
]


@dataclass(slots=True)
class _Branch:
    """The paths that continue by one more segment."""

    by_word: dict[str, _Branch] = field(default_factory=dict)
    by_suffix: dict[str, _Branch] = field(default_factory=dict)  # a parameter, by the text after it
    endpoints: dict[str, AnyEndpoint] = field(default_factory=dict)  # by method


class RouteTable:
    """Every route below the prefix: operations, streams of events, and descriptions of the API."""

    def __init__(self, operations: Registry) -> None:
        self._root = _Branch()
        self.endpoints = list(_list_endpoints(operations))
        every: list[AnyEndpoint] = [*self.endpoints, *STREAMS, *DOCUMENTS]
        for endpoint in every:
            self._add(endpoint)

    def _add(self, endpoint: AnyEndpoint) -> None:
        branch = self._root
        for part in endpoint.route.path.split("/")[1:]:
            if part.startswith("{"):
                branch = branch.by_suffix.setdefault(part.partition("}")[2], _Branch())
            else:
                branch = branch.by_word.setdefault(part, _Branch())
        if endpoint.route.method in branch.endpoints:
            raise ValueError(f"{endpoint.route.method} {endpoint.route.path} is the route of two operations")
        branch.endpoints[endpoint.route.method] = endpoint

    def find(self, method: str, segments: list[str]) -> RequestedEndpoint | None:
        """Return the endpoint of a request and the values in its path; None if there is none.

        A fixed word is preferred to a parameter.
        """
        for branch, texts in _walk(self._root, segments, 0, ()):
            endpoint = branch.endpoints.get("GET" if method == "HEAD" else method)
            if endpoint is not None and (endpoint.has_head or method != "HEAD"):
                values = endpoint.read_parameters(texts)
                if values is not None:
                    return endpoint, values
            if _list_methods(branch, texts):
                return None
        return None

    def list_methods(self, segments: list[str]) -> list[str]:
        """Return the methods of a path; empty if the path does not exist."""
        return next(filter(None, (_list_methods(*step) for step in _walk(self._root, segments, 0, ()))), [])


def _walk(
    branch: _Branch, segments: list[str], at: int, texts: tuple[str, ...]
) -> Iterator[tuple[_Branch, tuple[str, ...]]]:
    """Yield the ends of a path in the tree, with the texts of its parameters. Most segments have only one branch."""
    for place in range(at, len(segments)):
        segment = segments[place]
        following = branch.by_word.get(segment)
        if branch.by_suffix:
            if following is not None:
                yield from _walk(following, segments, place + 1, texts)
            for suffix, behind in branch.by_suffix.items():
                if len(segment) > len(suffix) and segment.endswith(suffix):
                    yield from _walk(behind, segments, place + 1, (*texts, segment[: len(segment) - len(suffix)]))
            return
        if following is None:
            return
        branch = following
    yield branch, texts


def _list_methods(branch: _Branch, texts: Sequence[str]) -> list[str]:
    allowed = {
        method: endpoint for method, endpoint in branch.endpoints.items() if endpoint.read_parameters(texts) is not None
    }
    return sorted([*allowed, *(["HEAD"] if "GET" in allowed and allowed["GET"].has_head else [])])


def _list_endpoints(operations: Registry) -> Iterator[Endpoint]:
    for operation in operations:
        for route in operation.routes:
            answering = _restrict(operation) if route.method in READS else _without_envelope(operation)
            yield Endpoint(answering, route)
        for variant in operation.variants:
            if variant.name not in operations:
                creates = variant is operation.when_project_missing
                for route in variant.routes:
                    answering = _without_envelope(variant) if creates else _without_creation(operation)
                    yield Endpoint(answering, route)


def _without_envelope(operation: AnyOperation) -> AnyOperation:
    """Return the operation without the envelope that its tool puts around answers."""
    return replace(operation, tool=None)


def _without_creation(operation: AnyOperation) -> AnyOperation:
    """Return the operation for routes that change an existing project and must not create one."""

    def choose(request: Any) -> AnyOperation | None:
        chosen = operation.choose_variant and operation.choose_variant(request)
        return replace(chosen, when_project_missing=None) if chosen else None

    return replace(_without_envelope(operation), choose_variant=choose, when_project_missing=None)


def _restrict(operation: AnyOperation) -> AnyOperation:
    """Return the operation for GET, which must not change data."""
    if not operation.variants:
        return _without_envelope(operation)

    def choose(request: Any) -> AnyOperation | None:
        chosen = operation.choose_variant and operation.choose_variant(request)
        if chosen and chosen.effect is not Effect.READ:
            step = () if chosen.http is None else NextStep(chosen.name, "does it")
            raise Invalid("GET only reads, and this request would change something", code="read_only", next_steps=step)
        return chosen or None

    return replace(_without_envelope(operation), choose_variant=choose, when_project_missing=None)


def _list_variable_parts(route: Route) -> list[str]:
    return [part for part in route.path.split("/")[1:] if part.startswith("{")]


def _list_item_fields(hint: Any) -> dict[str, Any]:
    item = describe_type(hint).item
    shape: type[Struct] | None = None if item is None else item.type
    if shape is None:
        raise TypeError(f"{hint} is no list of objects")
    return {item_field.encode_name: item_field for item_field in msgspec.structs.fields(shape)}


def _describe_parameter(item_fields: Mapping[str, Any], fields: Mapping[str, Any], part: str) -> PathParameter:
    name, _, suffix = part[1:].partition("}")
    input_field = item_fields.get(name) or fields.get(name)
    described = None if input_field is None else describe_type(input_field.type)
    # Only with a suffix: `/versions/{version}` takes numbers beside its words.
    choices = described.choices if described and suffix else ()
    return PathParameter(name, suffix, {str(value).lower(): value for value in choices} or None)


def _is_array(option: TypeDescription) -> bool:
    return option.kind is TypeKind.ARRAY
