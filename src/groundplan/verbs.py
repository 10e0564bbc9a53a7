"""The operations as methods of a session: `plan.work.next(project="atlas")` runs `work.next`.

The methods are generated from the registry. `make contracts` writes `verbs.pyi`, the types for mypy and editors, from
the same registry. A Python name is the wire name in snake case: `scopeId` is `scope_id`. A Python keyword gets an
underscore: `import_`, `from_`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from msgspec import NODEFAULT

from groundplan.kernel.operations.registry import Operation, Registry
from groundplan.kernel.wording import find_nearest

if TYPE_CHECKING:
    from inspect import Signature

_CAPITAL = re.compile("[A-Z]")


class Verbs:
    """The base class of a session: one attribute for each group of operations, created on first use."""

    operations: Registry
    call: Callable[..., Any]

    def __getattr__(self, name: str) -> VerbGroup:
        if name.startswith("_"):  # copy and pickle look these up before the registry is set
            raise AttributeError(f"a session has no {name!r}", name=name)
        verbs = {}
        for operation in self.operations.names:
            group, _, verb = operation.partition(".")
            if group == name:
                verbs[to_python_name(verb)] = self.operations[operation]
        if not verbs:
            raise _no_attribute("a session", self, name)
        verb_group = _get_group_type(name)(name, self.call, verbs)
        setattr(self, name, verb_group)
        return verb_group

    def __dir__(self) -> Iterable[str]:
        return {*super().__dir__(), *(name.partition(".")[0] for name in self.operations.names)}


class VerbGroup:
    """The operations of one group as methods."""

    def __init__(self, name: str, call: Callable[..., Any], operations: Mapping[str, Operation[Any, Any]]) -> None:
        self._name = name
        self._call = call
        for verb, operation in operations.items():
            setattr(self, verb, _make_method(verb, call, operation))

    def __getattr__(self, name: str) -> Any:
        raise _no_attribute(f"the group {vars(self).get('_name')!r}", self, name)


def to_python_name(wire_name: str) -> str:
    """Return the Python name of a verb or parameter."""
    snake = _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", wire_name)
    return f"{snake}_" if iskeyword(snake) else snake


def _get_group_type(name: str) -> type[VerbGroup]:
    if name != "context":
        return VerbGroup
    from groundplan.context_adapter import ContextAdapter  # here, because most sessions do not use it

    class ContextVerbs(VerbGroup, ContextAdapter):
        """The operations of context as methods, and the methods of its contract."""

    return ContextVerbs


def _make_method(verb: str, call: Callable[..., Any], operation: Operation[Any, Any]) -> Callable[..., Any]:
    wire_names = {to_python_name(wire): wire for wire in operation.input.__struct_encode_fields__}

    def method(**arguments: Any) -> Any:
        # Wire names are accepted, too; the input gate rejects unknown names.
        on_the_wire = {wire_names.get(name, name): value for name, value in arguments.items()}
        if len(on_the_wire) < len(arguments):
            raise TypeError(f"{operation.name} got an argument twice: under its Python name and under its wire name")
        return call(operation.name, **on_the_wire)

    method.__name__ = verb
    method.__qualname__ = operation.name
    method.__doc__ = operation.summary
    vars(method)["__signature__"] = _make_signature(wire_names, operation)
    return method


def _make_signature(names: Iterable[str], operation: Operation[Any, Any]) -> Signature:
    """Return the signature that `help` and shells show."""
    from inspect import Parameter, Signature  # here, because a server has no methods

    defaults = operation.input.__struct_defaults__
    required = len(operation.input.__struct_fields__) - len(defaults)
    all_defaults = [*(NODEFAULT,) * required, *defaults]
    return Signature(
        [
            Parameter(name, Parameter.KEYWORD_ONLY, default=Parameter.empty if default is NODEFAULT else default)
            for name, default in zip(names, all_defaults, strict=True)
        ]
    )


def _no_attribute(owner: str, of: object, name: str) -> AttributeError:
    near = find_nearest(name, [attribute for attribute in dir(of) if not attribute.startswith("_")])
    hint = f"; did you mean {near!r}?" if near else ""
    # Without an object, a traceback does not add its own suggestion.
    return AttributeError(f"{owner} has no {name!r}{hint}", name=name)
