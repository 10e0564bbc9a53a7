"""Convert the fields of a form to the arguments of an operation.

A field is named by the path of its argument: `updates.0.resolved`. A word after a bar says how to read the text:

    updates.0.add_context_links|lines    a list, one entry on each line
    updates.0.serves|list                the same; an empty field is an empty list
    updates.0.state|clear                as it is; an empty field is null
    updates.0.properties.priority|value  a number or other JSON, else text; an empty field is null
    updates.0.properties|pairs           an object, `name: value` on each line; no value is null
    nodes|outline                        nodes to plan: indentation makes children, `after: a, b` makes dependencies
    updates.0.summary|text               as it is, also if it is empty
    inputs.0.value|json                  JSON
    inputs.0.value|null                  null, whatever the text is

An area may have words of its own.

A form with a field `compare`, the path of an object, changes only what a person changed there: an argument below that
path is left out if its field is as it was, and else sent with its former value, as `PATH.was.NAME`.

Other empty fields are left out: a person who types nothing says nothing. Numbers, booleans and JSON stay text here;
the input gate reads them by the type of the argument.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate import strict_json

COMPARE = "compare"
RESERVED = frozenset({"csrf", "operation", "form", "to", COMPARE})
STEPS_MAX = 32  # of a path, as deep as JSON may be
BEFORE = "was|"  # and the name of a field: its value before a person typed
LINE = "line "  # and a number: the ref of a node in an outline
_STEP = re.compile(r"[A-Za-z_]+|[0-9]{1,3}")
_AFTER = re.compile(r"\bafter:\s*(.+)$")


class NotJson(NamedTuple):
    """The text is not JSON. The error has the position of the failure."""

    place: str


class InvalidForm(Invalid):
    """The fields of a form are not the names of arguments."""

    code = "invalid_form"


class Steps(dict[str, Any]):
    """The arguments below a step of the paths of fields. What a field holds is never one of these."""


Reader = Callable[[str], Any]


def read_arguments(fields: Mapping[str, str], area_readers: Mapping[str, Reader] | None = None) -> dict[str, Any]:
    """Return the arguments in the fields of a form."""
    readers = {**READERS, **(area_readers or {})}
    arguments = Steps()
    for name, text in fields.items():
        if name in RESERVED or name.startswith(BEFORE):
            continue
        path, _, word = name.partition("|")
        if word not in readers:
            raise InvalidForm(f"the field {name} is not of this page; reload it and try again", field=name)
        compared = fields.get(COMPARE, "")
        before = fields.get(f"{BEFORE}{name}") if compared and path.startswith(f"{compared}.") else None
        if before is not None:
            if _unify_lines(text) == _unify_lines(before):
                continue
            read = _read_value(before) if word == "value" else _unify_lines(before) or None
            _set(arguments, [*compared.split("."), "was", path.removeprefix(f"{compared}.")], read, name)
        value = readers[word](_unify_lines(text))
        if isinstance(value, NotJson):
            raise InvalidForm(f"this is not JSON, {value.place}; numbers, true, lists and objects are", field=path)
        if value is not UNSET:
            _set(arguments, path.split("."), value, name)
    return {name: _number_lists(value) for name, value in arguments.items()}


def _unify_lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _set(arguments: Steps, path: list[str], value: Any, name: str) -> None:
    target = arguments
    if len(path) > STEPS_MAX:
        raise InvalidForm("a field has too many steps; reload the page and try again", limit=STEPS_MAX)
    for step in path[:-1]:
        target = target.setdefault(step, Steps()) if _STEP.fullmatch(step) else Steps()
        if not isinstance(target, Steps):
            break
    if not isinstance(target, Steps) or not all(map(_STEP.fullmatch, path)) or path[-1] in target:
        raise InvalidForm(f"the field {name} is not of this page; reload it and try again", field=name)
    target[path[-1]] = value


def _number_lists(value: Any) -> Any:
    """Return the value with lists in place of steps that are numbers."""
    if not isinstance(value, Steps):
        return value
    if value and all(name.isdigit() for name in value):
        return [_number_lists(value[name]) for name in sorted(value, key=int)]
    return {name: _number_lists(inner) for name, inner in value.items()}


def _read_list(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def read_pairs(text: str) -> dict[str, Any]:
    """Return the properties in lines of `name: value`. A value is JSON if it parses as such, and text otherwise."""
    pairs: dict[str, Any] = {}
    for line in _read_list(text):
        name, _, value = line.partition(":")
        pairs[name.strip()] = _read_value(value)
    return pairs


def write_pairs(properties: Mapping[str, Any]) -> str:
    """Return properties as lines that `read_pairs` parses, without those that do not fit on such a line."""
    lines = []
    for name, value in properties.items():
        is_plain = isinstance(value, str) and _read_value(value) == value
        line = f"{name}: {value if is_plain else msgspec.json.encode(value).decode()}"
        if read_pairs(line) == {name: value}:
            lines.append(line)
    return "\n".join(lines)


def _read_value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text.strip() or None


def find_line(text: str, field: str, ref: str) -> int | None:
    """Return the line of an outline that caused a refusal, by its argument (nodes.2.summary) or by its text."""
    nodes = read_outline(text) or []
    at = re.match(r"nodes\.(\d+)", field)
    if at is not None and int(at[1]) < len(nodes):
        return _get_line(nodes[int(at[1])])
    return next((_get_line(node) for node in nodes if ref and ref in node.get("depends_on", ())), None)


def _get_line(node: Mapping[str, Any]) -> int:
    return int(node["ref"].removeprefix(LINE))


def _read_json(text: str) -> Any:
    if not text.strip():
        return UNSET
    try:
        value = strict_json.decode(text.encode())
    except Invalid as error:
        place = f"at line {error.details['line']}, column {error.details['column']}" if "line" in error.details else ""
        return NotJson(place or error.message)
    return value


def read_outline(text: str) -> list[dict[str, Any]] | None:
    """Return the nodes of an outline, one per line. Dependencies are texts of other lines, or ids."""
    nodes: list[dict[str, Any]] = []
    refs: dict[str, str] = {}
    open_lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.expandtabs(4).split("\n"), 1):
        written = line.strip().lstrip("-*").strip()
        if not written:
            continue
        indent = len(line) - len(line.lstrip())
        found = _AFTER.search(written)
        summary = written[: found.start()].strip() if found else written
        while open_lines and open_lines[-1][0] >= indent:
            open_lines.pop()
        node: dict[str, Any] = {"ref": f"{LINE}{number}", "summary": summary}
        if open_lines:
            node["parent_ref"] = open_lines[-1][1]
        if found:
            node["depends_on"] = [one.strip() for one in found[1].split(",") if one.strip()]
        open_lines.append((indent, node["ref"]))
        refs.setdefault(summary, node["ref"])
        nodes.append(node)
    for node in nodes:
        if "depends_on" in node:
            node["depends_on"] = [refs.get(one, one) for one in node["depends_on"]]
    return nodes or None


READERS: Mapping[str, Reader] = {
    "": lambda text: text.strip() or UNSET,
    "text": lambda text: text,
    "clear": lambda text: text.strip() or None,
    "value": _read_value,
    "lines": lambda text: _read_list(text) or UNSET,
    "list": _read_list,
    "pairs": lambda text: read_pairs(text) or UNSET,
    "json": _read_json,
    "null": lambda _text: None,
    "outline": lambda text: read_outline(text) or UNSET,
}
