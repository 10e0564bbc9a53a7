"""The one walk over annotations: the parser, the JSON Schemas, the options of commands and the reference read it."""

from __future__ import annotations

import types
from enum import Enum, auto
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct, UnsetType


class TypeKind(Enum):
    """What an annotation is, as far as input types need to tell it."""

    ANY = auto()
    NULL = auto()
    BOOLEAN = auto()
    INTEGER = auto()
    NUMBER = auto()
    STRING = auto()
    CHOICE = auto()  # a Literal or an Enum
    ARRAY = auto()
    MAP = auto()  # a dict with arbitrary keys
    STRUCT = auto()
    UNION = auto()
    OTHER = auto()  # dates and similar types, which are strings on the wire


class TypeDescription(msgspec.Struct, frozen=True):
    """An annotation without `Annotated` and `NewType`."""

    kind: TypeKind
    type: Any
    extras: tuple[Any, ...] = ()  # its metadata, outermost last
    options: tuple[TypeDescription, ...] = ()  # of a union, without UNSET
    item: TypeDescription | None = None  # the items of an array, the values of a map
    choices: tuple[Any, ...] = ()

    @property
    def options_without_null(self) -> tuple[TypeDescription, ...]:
        """The options of a union except null; of any other type the type itself."""
        if self.kind is not TypeKind.UNION:
            return (self,)
        return tuple(option for option in self.options if option.kind is not TypeKind.NULL)


_PLAIN = {
    Any: TypeKind.ANY,
    types.NoneType: TypeKind.NULL,
    bool: TypeKind.BOOLEAN,
    int: TypeKind.INTEGER,
    float: TypeKind.NUMBER,
    str: TypeKind.STRING,
}


def describe_type(hint: Any) -> TypeDescription:
    """Return the description of an annotation. The fields of a Struct are not part of it.

    Raises:
        TypeError: the annotation is a container other than list and dict.
    """
    hint, extras = _strip_annotated(hint)
    if isinstance(hint, type) and (kind := _PLAIN.get(hint)):  # other annotations need not be hashable
        return TypeDescription(kind, hint, extras)
    origin, args = get_origin(hint) or hint, get_args(hint)
    if origin is Union or origin is types.UnionType:
        options = tuple(describe_type(arg) for arg in args if arg is not UnsetType)
        return TypeDescription(TypeKind.UNION, hint, extras, options)
    if origin is Literal:
        return TypeDescription(TypeKind.CHOICE, hint, extras, choices=args)
    if origin is list:
        return TypeDescription(TypeKind.ARRAY, hint, extras, item=describe_type(args[0] if args else Any))
    if origin is dict:
        return TypeDescription(TypeKind.MAP, hint, extras, item=describe_type(args[1] if args else Any))
    if args:
        raise TypeError(f"{hint} is not supported as an input type; use list or dict")
    if not isinstance(origin, type):
        return TypeDescription(TypeKind.ANY, hint, extras)
    if issubclass(origin, Enum):
        return TypeDescription(TypeKind.CHOICE, hint, extras, choices=tuple(member.value for member in origin))
    return TypeDescription(TypeKind.STRUCT if issubclass(origin, Struct) else TypeKind.OTHER, hint, extras)


def _strip_annotated(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    extras: tuple[Any, ...] = ()
    while True:
        if get_origin(hint) is Annotated:
            hint, extras = hint.__origin__, (*hint.__metadata__, *extras)
        elif hasattr(hint, "__supertype__"):  # a NewType
            hint = hint.__supertype__
        else:
            return hint, extras
