"""The OpenAPI 3.1 document of the REST API, built from the table of routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, defstruct

from groundplan import __version__
from groundplan.argument_descriptions import describe_argument
from groundplan.kernel.operations.registry import Operation
from groundplan.kernel.operations.schema import JsonSchema, add_limits, build_json_schema
from groundplan.surfaces.http.answers import PROBLEM_TYPE
from groundplan.surfaces.http.routes import STREAMS, Endpoint, PathParameter, RouteTable, StreamEndpoint
from groundplan.surfaces.vocabularies import PREFIX, PROJECT

JSON = "application/json"
DESCRIPTION = (
    "Every operation of Groundplan. Answers are JSON; errors are problem details (RFC 9457) with a stable `code`. "
    "A write takes an `Idempotency-Key`, so that it can be sent again without a second effect. The `ETag` of an answer "
    "with a revision can be sent back as `If-Match`; if the thing has changed since, the answer is 412. "
    "A client reads long lists page by page with `cursor` or `offset`."
)
# The shared responses: what each status means here.
PROBLEMS = {
    400: "The request is malformed. Sending it again unchanged cannot succeed.",
    401: "The request names no actor.",
    403: "The role of the actor does not allow it.",
    404: "It does not exist, or the actor may not see it.",
    405: "The path has no such method.",
    406: "The client does not accept JSON.",
    409: "The caller read an older state, or the thing is final. Read it again, then decide.",
    412: "The thing has changed since the ETag in If-Match.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The server does not answer to the host in the request.",
    422: "The request is valid, but a rule of the plan forbids it.",
    429: "Too many requests. Try again after the time in Retry-After.",
    500: "A defect. The reference finds it in the log of the server.",
    503: "The store cannot serve the request now. Try again after the time in Retry-After.",
}
ALWAYS = (400, 401, 403, 404, 406, 409, 421, 422, 429, 500, 503)
WITH_BODY = (413, 415)
EVENT_STREAM = "text/event-stream"
STREAM_PROBLEMS = (400, 401, 404, 405, 406, 421, 429, 500, 503)
PROJECT_DESCRIPTION = "The id or name of the project."
TAGS = {
    "organization": "The organization: its people, settings and history.",
    "invitation": "Invitations of people who have not logged in yet.",
    "project": "Projects of the organization.",
    "member": "The members of a project and their roles.",
    "token": "Tokens of people, agents and services.",
    "event": "What happened: every change, with who made it and why.",
    "briefing": "What joins why, facts, work and knowledge.",
    "work": "What is next: the dependency graph of work.",
    "knowledge": "What to know about files.",
    "purpose": "Why: the theory of change.",
    "context": "The facts that a plan stands on.",
    "container": "Projects, features and tasks.",
    "dependency": "Dependencies between features and tasks.",
    "section": "Sections of projects, features and tasks.",
    "template": "Templates of sections, shared by the organization.",
    "tag": "Tags of projects, features and tasks.",
}


def build_openapi(table: RouteTable) -> dict[str, Any]:
    """Return the OpenAPI document. Equal registries give equal documents."""
    operations = list({endpoint.operation.name: endpoint.operation for endpoint in table.endpoints}.values())
    answers, components = build_answer_schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in table.endpoints:
        item = paths.setdefault(PREFIX + endpoint.route.path, {})
        item[endpoint.route.method.lower()] = _build_operation(endpoint, answers[endpoint.operation.name])
    for stream in STREAMS:
        paths[stream.template] = {"get": _build_stream(stream)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Groundplan",
            "version": __version__,
            "summary": "One durable planning memory, shared by people and AI agents.",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": {"Problem": _build_problem_schema(), **components},
            "responses": {f"Problem{status}": _build_problem(status) for status in PROBLEMS},
            "parameters": _build_header_parameters(),
            "headers": {
                "ETag": {"description": "The revision and a hash of the answer.", "schema": {"type": "string"}},
                "Location": {"description": "The address of what was created.", "schema": {"type": "string"}},
                "RetryAfter": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
            },
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _build_stream(endpoint: StreamEndpoint) -> dict[str, Any]:
    """Return the description of a stream of live events."""
    position = {"type": "string", "pattern": r"^\d+\.\d+$"}
    return {
        "operationId": endpoint.name,
        "tags": [endpoint.name.partition(".")[0]],
        "summary": endpoint.route.summary,
        "description": "Each message has the id `rev.n` and the data `{area, ids, actor}`. Needs the permission "
        f"`{endpoint.permission}`. It goes on until the client leaves or {endpoint.ends}.",
        "parameters": [
            *(
                {
                    "name": parameter.name,
                    "in": "path",
                    "required": True,
                    "description": PROJECT_DESCRIPTION,
                    "schema": {"type": "string"},
                }
                for parameter in endpoint.parameters
            ),
            {"name": "after", "in": "query", "description": "Go on after this event.", "schema": position},
            {
                "name": "Last-Event-ID",
                "in": "header",
                "description": "The same, as browsers send it.",
                "schema": position,
            },
        ],
        "responses": {
            "200": {"description": "The stream.", "content": {EVENT_STREAM: {"schema": {"type": "string"}}}},
            "204": {"description": "The project is archived, and the client has seen everything."},
            **{str(status): {"$ref": f"#/components/responses/Problem{status}"} for status in STREAM_PROBLEMS},
        },
    }


def get_operation_id(endpoint: Endpoint) -> str:
    """Return the operation id: the name of the operation, with a suffix if it has several routes."""
    route, operation = endpoint.route, endpoint.operation
    own = next((variant.name for variant in (operation, *operation.variants) if variant.http == route), None)
    if own is not None:
        return own
    if route.item_of is not None:
        return f"{operation.name}_one"
    if not endpoint.has_project:
        return f"{operation.name}_everywhere"
    return f"{operation.name}_by_{endpoint.parameters[-1].name}"


def _build_operation(endpoint: Endpoint, answer: JsonSchema) -> dict[str, Any]:
    operation, route = endpoint.operation, endpoint.route
    schema = build_request_schema(endpoint)
    parameters: list[dict[str, Any]] = [_build_path_parameter(endpoint, parameter) for parameter in endpoint.parameters]
    if not endpoint.takes_body:
        required = schema.get("required", ())
        parameters += [
            _build_query_parameter(name, property_schema, is_required=name in required)
            for name, property_schema in schema["properties"].items()
        ]
    parameters += [{"$ref": f"#/components/parameters/{name}"} for name in _list_headers(endpoint)]
    handled = next((variant for variant in (operation, *operation.variants) if variant.http == route), operation)
    description: dict[str, Any] = {
        "operationId": get_operation_id(endpoint),
        "tags": [operation.name.partition(".")[0]],
        "summary": route.summary or handled.summary,
        "description": f"Needs the permission `{handled.permission}`.",
    }
    if parameters:
        description["parameters"] = parameters
    if endpoint.takes_body:
        description["requestBody"] = {"required": bool(schema.get("required")), "content": {JSON: {"schema": schema}}}
    description["responses"] = _build_responses(endpoint, answer)
    return description


def build_request_schema(endpoint: Endpoint) -> JsonSchema:
    """Return the schema of the arguments in the query string or in the body."""
    schema = build_json_schema(endpoint.operation.input)
    add_limits(schema, endpoint.operation.input)
    _describe(endpoint.operation.name, schema, "")
    if endpoint.route.item_of is not None:
        item = schema["properties"].pop(endpoint.route.item_of)["items"]
        schema = {**item, "properties": {**item["properties"], **schema["properties"]}}
    left_out = {*endpoint.route.fixed, *endpoint.route.without, *(parameter.name for parameter in endpoint.parameters)}
    if endpoint.has_project and endpoint.project_field:
        left_out.add(endpoint.project_field)
    if endpoint.reads:
        left_out.add("op_id")
    names = endpoint.route.names
    properties = {names.get(name, name): value for name, value in schema["properties"].items() if name not in left_out}
    optional = {*left_out, endpoint.revision_field}  # If-Match can say the revision
    required = [names.get(name, name) for name in schema.get("required", ()) if name not in optional]
    request: JsonSchema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**request, "required": required} if required else request


def _describe(operation: str, schema: JsonSchema, path: str) -> None:
    """Add descriptions of the arguments to a schema, at every depth."""
    for name, member in schema.get("properties", {}).items():
        here = f"{path}{name}"
        if text := describe_argument(operation, here):
            member["description"] = text
        _describe(operation, member, f"{here}.")
        if isinstance(member.get("items"), dict):
            _describe(operation, member["items"], f"{here}[].")


def _build_path_parameter(endpoint: Endpoint, parameter: PathParameter) -> dict[str, Any]:
    path = parameter.name
    if endpoint.route.item_of is not None and path in endpoint.item_fields:
        path = f"{endpoint.route.item_of}[].{path}"
    text = PROJECT_DESCRIPTION if path == PROJECT else describe_argument(endpoint.operation.name, path)
    schema: JsonSchema = {"type": "string", "minLength": 1}
    if parameter.choices is not None:
        schema = {"enum": list(parameter.choices)}
    return {"name": parameter.name, "in": "path", "required": True, "description": text, "schema": schema}


def _build_query_parameter(name: str, schema: JsonSchema, *, is_required: bool) -> dict[str, Any]:
    schema = dict(schema)
    parameter: dict[str, Any] = {"name": name, "in": "query"}
    if is_required:
        parameter["required"] = True
    if "description" in schema:
        parameter["description"] = schema.pop("description")
    if _is_plain(schema):
        return {**parameter, "schema": schema}
    return {**parameter, "content": {JSON: {"schema": schema}}}


def _is_plain(schema: JsonSchema) -> bool:
    """Return True if a value is plain text in a query string; other values are JSON."""
    if schema.get("type") == "array":
        return _is_plain(schema.get("items", {"type": "object"})) and schema["items"].get("type") != "array"
    if "anyOf" in schema:
        return all(_is_plain(option) for option in schema["anyOf"])
    types = schema.get("type")
    return "enum" in schema or (types is not None and "object" not in ([types] if isinstance(types, str) else types))


def _list_headers(endpoint: Endpoint) -> list[str]:
    if endpoint.reads:
        return ["IfNoneMatch"]
    headers = ["IdempotencyKey"] if endpoint.takes_op_id else []
    return [*headers, "IfMatch"] if endpoint.revision_field else headers


def _build_header_parameters() -> dict[str, Any]:
    text: JsonSchema = {"type": "string"}
    key = {**text, "minLength": 1, "maxLength": 200, "pattern": "^[!#-~]+$"}
    tag = {**text, "pattern": '^"[!#-~]*"$'}
    return {
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Chosen by the caller; the same request with the same key has one effect. The `op_id`.",
            "schema": key,
        },
        "IfMatch": {
            "name": "If-Match",
            "in": "header",
            "description": "The ETag that you read; 412 if the thing has changed since.",
            "schema": tag,
        },
        "IfNoneMatch": {
            "name": "If-None-Match",
            "in": "header",
            "description": "The ETag of the answer that you have; 304 if it would be the same.",
            "schema": tag,
        },
    }


def _build_responses(endpoint: Endpoint, answer: JsonSchema) -> dict[str, Any]:
    is_creation = endpoint.route.location is not None
    headers = {"ETag": {"$ref": "#/components/headers/ETag"}}
    if is_creation:
        headers["Location"] = {"$ref": "#/components/headers/Location"}
    responses: dict[str, Any] = {
        "201" if is_creation else "200": {
            "description": "Created." if is_creation else "The answer.",
            "headers": headers,
            "content": {JSON: {"schema": answer}},
        }
    }
    if endpoint.reads:
        responses["304"] = {"description": "The answer is the one that you have."}
    statuses = {*ALWAYS, *(WITH_BODY if endpoint.takes_body else ()), *((412,) if _can_be_stale(endpoint) else ())}
    return responses | {str(status): {"$ref": f"#/components/responses/Problem{status}"} for status in sorted(statuses)}


def _can_be_stale(endpoint: Endpoint) -> bool:
    return endpoint.reads or endpoint.revision_field is not None


def _build_problem(status: int) -> dict[str, Any]:
    content = {PROBLEM_TYPE.decode(): {"schema": {"$ref": "#/components/schemas/Problem"}}}
    problem: dict[str, Any] = {"description": PROBLEMS[status], "content": content}
    if status in (429, 503):
        problem["headers"] = {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}}
    return problem


def _build_problem_schema() -> JsonSchema:
    return {
        "type": "object",
        "description": "What is wrong, where, and what to do next (RFC 9457).",
        "properties": {
            "type": {"type": "string", "format": "uri-reference", "description": "What the status means."},
            "title": {"enum": [HTTPStatus(status).phrase for status in PROBLEMS]},
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "A sentence for people."},
            "code": {"type": "string", "description": "A stable code for programs."},
            "name": {
                "type": "string",
                "description": "The class in the contract of facts; only of their operations, and of every 401.",
            },
            "details": {
                "type": "object",
                "description": "Data about the problem; `next` are requests that help.",
            },
        },
        "required": ["type", "title", "status", "detail", "code"],
    }


# --- Schemas of answers, as shared components -------------------------------------------------------------------------

REF = "#/components/schemas/{name}"


def list_outputs(operation: Operation[Any, Any]) -> list[Any]:
    """Return the answer types of an operation and its variants."""
    every = [
        output for variant in (operation, *operation.variants) for output in (variant.output, *variant.other_outputs)
    ]
    return [output for at, output in enumerate(every) if output not in every[:at]]


def build_answer_schemas(operations: Sequence[Operation[Any, Any]]) -> tuple[dict[str, JsonSchema], JsonSchema]:
    """Return the answer schema of each operation by name, and the components that the schemas refer to.

    A lean answer leaves fields out. So no field is required in the answer of an operation that takes `lean`.
    """
    adapted = _Adapter()
    types = {operation.name: [adapted.adapt(output) for output in list_outputs(operation)] for operation in operations}
    flat = [output for outputs in types.values() for output in outputs]
    made = msgspec.json.schema_components([*flat, *adapted.untagged.values()], ref_template=REF)
    schemas, components = msgspec.json.decode(msgspec.json.encode(made))  # as plain data: a default can be a tuple
    remaining = iter(schemas)
    by_name = {name: _combine([next(remaining) for _ in outputs]) for name, outputs in types.items()}
    lean = [by_name[operation.name] for operation in operations if "lean" in operation.input.__struct_fields__]
    for name in _list_reachable(lean, components):
        components[name].pop("required", None)
    return by_name, {name: _without_titles(components[name]) for name in sorted(components)}


def _combine(schemas: list[JsonSchema]) -> JsonSchema:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _list_reachable(schemas: Iterable[JsonSchema], components: Mapping[str, JsonSchema]) -> set[str]:
    names: set[str] = set()
    waiting: list[Any] = list(schemas)
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name and name not in names:
                names.add(name)
                waiting.append(components[name])
            waiting += node.values()
    return names


def _without_titles(component: JsonSchema) -> JsonSchema:
    return {key: value for key, value in component.items() if key != "title"}  # the title is the name


class _Adapter:
    """A replacement of types for which msgspec cannot make a schema: lists of several Structs without tags."""

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
            structs = [option for option in options if isinstance(option, type) and issubclass(option, Struct)]
            kind: Any = field.type
            if len(structs) > 1 and all(option.__struct_config__.tag is None for option in structs):
                has_untagged = True
                self.untagged |= {option.__name__: option for option in structs}
                refs = [{"$ref": REF.format(name=option.__name__)} for option in structs]
                kind = list[Annotated[Any, Meta(extra_json_schema={"anyOf": refs})]]
            fields.append((field.name, kind) if field.required else (field.name, kind, field.default))
        if not has_untagged:
            return shape
        names = {option.name: option.encode_name for option in msgspec.structs.fields(shape)}
        made = defstruct(shape.__name__, fields, rename=names)
        made.__doc__ = shape.__doc__
        return made
