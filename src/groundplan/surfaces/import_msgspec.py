"""Import msgspec without what a server over stdio or a short word does not use of it: half of its time.

msgspec prefers typing_extensions to typing where it is installed. Python has all those names itself since 3.11, and
typing_extensions would import inspect, ast and tokenize for them. The other modules are imported when one of their
names is first used, so msgspec stays complete.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

# Parts of msgspec that describe types, or read and write other formats than JSON.
LATE = ("msgspec.inspect", "msgspec.msgpack", "msgspec.toml", "msgspec.yaml")
SCHEMA = "msgspec._json_schema"
SCHEMA_FUNCTIONS = ("schema", "schema_components")


class LateModule(ModuleType):
    """A module that is imported when one of its names is first used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import system looks for such names
            raise AttributeError(name)
        return getattr(self.load(), name)

    def load(self) -> ModuleType:
        """Import the module in place of this one, and return it."""
        if sys.modules.get(self.__name__) is self:
            sys.modules.pop(self.__name__, None)  # another thread may have done it
        return import_module(self.__name__)


def import_msgspec() -> None:
    """Import msgspec, unless it or typing_extensions is imported already."""
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    late = {name: LateModule(name) for name in (*LATE, SCHEMA)}
    for name in SCHEMA_FUNCTIONS:
        setattr(late[SCHEMA], name, _call_late(late[SCHEMA], name))
    sys.modules |= late
    sys.modules["typing_extensions"] = None  # type: ignore[assignment] # the import fails, and msgspec takes typing
    _replace_platform()
    try:
        import_module("msgspec")
    except (ImportError, AttributeError):  # another version of msgspec, which needs one of them
        for name in ("msgspec", "msgspec.json", "msgspec.structs", *late):
            sys.modules.pop(name, None)
        del sys.modules["typing_extensions"]
        import_module("msgspec")
        return
    finally:
        if isinstance(sys.modules.get("platform"), LateModule):
            del sys.modules["platform"]
    del sys.modules["typing_extensions"]


def _call_late(module: LateModule, name: str) -> Any:
    def call(*args: Any, **options: Any) -> Any:
        return getattr(module.load(), name)(*args, **options)

    return call


def _replace_platform() -> None:
    """Put a module in the place of platform, unless that is imported, which has only the name of the system.

    uuid, which msgspec imports, asks for nothing else, and platform takes as long as msgspec.
    """
    if "platform" not in sys.modules:
        platform = LateModule("platform")
        vars(platform)["system"] = lambda: os.uname().sysname
        sys.modules["platform"] = platform
