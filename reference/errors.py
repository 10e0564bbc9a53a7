"""Every error code, read from the code: those of the classes, and those given where an error is raised."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import groundplan
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.input_gate.text_limits import NormalizedName
from groundplan.surfaces.http.answers import HttpProblem

SOURCES = Path(groundplan.__file__).parent

ErrorClass = type[GroundplanError]


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """An error code and its meaning."""

    code: str
    family: ErrorClass
    meaning: str


@cache
def load_error_classes() -> dict[str, ErrorClass]:
    """Every class of refusal by name, families included: those of operations, without what HTTP itself refuses."""
    for module in pkgutil.walk_packages([str(SOURCES)], "groundplan."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = list(_list_subclasses(GroundplanError))
    by_name = {one.__name__: one for one in found}
    assert len(by_name) == len(found), "two errors have one name"
    return by_name


def _list_subclasses(parent: ErrorClass) -> Iterator[ErrorClass]:
    for child in parent.__subclasses__():
        # The class of its module: a test may have loaded a module a second time.
        if child is not HttpProblem and (
            child.__module__.startswith("groundplan.")
            and vars(sys.modules[child.__module__]).get(child.__name__) is child
        ):
            yield child
            yield from _list_subclasses(child)


def list_families() -> list[ErrorClass]:
    """Return the families, in the order of kernel/errors.py."""
    return [found for found in load_error_classes().values() if GroundplanError in found.__bases__]


def get_family(found: ErrorClass) -> ErrorClass:
    """Return the family of an error, which decides status and exit code."""
    return next(parent for parent in found.__mro__ if GroundplanError in parent.__bases__)


@cache
def list_error_codes() -> list[ErrorCode]:
    """Return every code, once for each meaning: by family, the family itself first."""
    of_classes = [
        ErrorCode(found.code, get_family(found), _get_summary(found)) for found in load_error_classes().values()
    ]
    found = dict.fromkeys((*of_classes, *_find_codes_in_calls()))
    order = list_families()
    return sorted(found, key=lambda one: (order.index(one.family), one.code != one.family.code, one.code))


def _get_summary(found: ErrorClass) -> str:
    return (inspect.getdoc(found) or "").partition("\n\n")[0].replace("\n", " ")


def _find_codes_in_calls() -> Iterator[ErrorCode]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.rglob("*.py"))]
    # A source without any of these has no code in a call and no function that makes an error: it need not be parsed.
    telling = re.compile(rf"\bcode\s*=|\b{NormalizedName.__name__}\b|->\s*(?:{'|'.join(load_error_classes())})\b")
    nodes = [node for text in texts if telling.search(text) for node in ast.walk(ast.parse(text))]
    makers = _find_error_makers(nodes)
    for call in nodes:
        if isinstance(call, ast.Call):
            made = makers.get(_get_called_name(call))
            code = next((word.value for word in call.keywords if word.arg == "code"), None)
            if made and isinstance(code, ast.Constant) and isinstance(code.value, str):
                yield ErrorCode(code.value, get_family(made), _get_message(call))
            elif _get_called_name(call) == NormalizedName.__name__:
                yield from _list_name_codes(call)


def _list_name_codes(call: ast.Call) -> Iterator[ErrorCode]:
    """Yield the codes for a wrong name; a contract may have its own."""
    codes = [ast.literal_eval(code) for code in call.args[1:]]  # behind how long it may be
    named = NormalizedName(0, *codes)
    if codes:
        yield ErrorCode(named.empty_code, Invalid, '"must not be empty"')
    yield ErrorCode(named.long_code, Invalid, '"has … characters, the limit is …; shorten it"')


def _find_error_makers(nodes: Sequence[ast.AST]) -> dict[str, ErrorClass]:
    """Return what makes an error, by name: its class, or a function that returns one."""
    classes = load_error_classes()
    functions = {
        node.name: classes[node.returns.id]
        for node in nodes
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id in classes
    }
    return {**functions, **classes}


def _get_called_name(call: ast.Call) -> str:
    target = call.func
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def _get_message(call: ast.Call) -> str:
    for argument in call.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return _quote(argument.value)
        if isinstance(argument, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in argument.values)
            return _quote("".join(map(str, parts)).replace("……", "…"))
    return ""


def _quote(sentence: str) -> str:
    return f'"{sentence}"' if any(map(str.isalpha, sentence)) else ""
