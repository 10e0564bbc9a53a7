"""Every way Groundplan says no, read from the code: the classes, and the codes that are given where one is raised."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import groundplan
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.input_gate.text_limits import NormalizedName

SOURCES = Path(groundplan.__file__).parent

ErrorClass = type[GroundplanError]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One code, and what it means."""

    code: str
    family: ErrorClass
    meaning: str


@cache
def error_classes() -> dict[str, ErrorClass]:
    """Every class of refusal by name, families included."""
    for module in pkgutil.walk_packages([str(SOURCES)], "groundplan."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = list(_below(GroundplanError))
    by_name = {one.__name__: one for one in found}
    assert len(by_name) == len(found), "two errors have one name"
    return by_name


def _below(parent: ErrorClass) -> Iterator[ErrorClass]:
    for child in parent.__subclasses__():
        if child.__module__.startswith("groundplan."):
            yield child
            yield from _below(child)


def families() -> list[ErrorClass]:
    """The families, in the order of the tree on top of the module."""
    return [found for found in error_classes().values() if GroundplanError in found.__bases__]


def family_of(found: ErrorClass) -> ErrorClass:
    """The family that decides status and exit code."""
    return next(parent for parent in found.__mro__ if GroundplanError in parent.__bases__)


@cache
def refusals() -> list[Refusal]:
    """Every code once for each meaning it has: by family, the family itself first."""
    of_classes = [Refusal(found.code, family_of(found), _first_line(found)) for found in error_classes().values()]
    found = dict.fromkeys((*of_classes, *_codes_in_calls()))
    order = families()
    return sorted(found, key=lambda one: (order.index(one.family), one.code != one.family.code, one.code))


def _first_line(found: ErrorClass) -> str:
    return (inspect.getdoc(found) or "").partition("\n\n")[0].replace("\n", " ")


def _codes_in_calls() -> Iterator[Refusal]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.rglob("*.py"))]
    # A source without any of these has no code in a call and no function that makes an error: it need not be parsed.
    telling = re.compile(rf"\bcode\s*=|\b{NormalizedName.__name__}\b|->\s*(?:{'|'.join(error_classes())})\b")
    nodes = [node for text in texts if telling.search(text) for node in ast.walk(ast.parse(text))]
    makers = _makers(nodes)
    for call in nodes:
        if isinstance(call, ast.Call):
            made = makers.get(_called(call))
            code = next((word.value for word in call.keywords if word.arg == "code"), None)
            if made and isinstance(code, ast.Constant) and isinstance(code.value, str):
                yield Refusal(code.value, family_of(made), _sentence(call))
            elif _called(call) == NormalizedName.__name__:
                yield from _codes_of_name(call)


def _codes_of_name(call: ast.Call) -> Iterator[Refusal]:
    """A name has codes for what may be wrong with it, of its own where a contract says so."""
    codes = [ast.literal_eval(code) for code in call.args[1:]]  # behind how long it may be
    named = NormalizedName(0, *codes)
    if codes:
        yield Refusal(named.empty_code, Invalid, '"must not be empty"')
    yield Refusal(named.long_code, Invalid, '"has … characters, the limit is …; shorten it"')


def _makers(nodes: Sequence[ast.AST]) -> dict[str, ErrorClass]:
    """What makes an error: its class, or a function that is declared to return one."""
    classes = error_classes()
    functions = {
        node.name: classes[node.returns.id]
        for node in nodes
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id in classes
    }
    return {**functions, **classes}


def _called(call: ast.Call) -> str:
    target = call.func
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def _sentence(call: ast.Call) -> str:
    for argument in call.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return _quoted(argument.value)
        if isinstance(argument, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in argument.values)
            return _quoted("".join(map(str, parts)).replace("……", "…"))
    return ""


def _quoted(sentence: str) -> str:
    return f'"{sentence}"' if any(map(str.isalpha, sentence)) else ""
