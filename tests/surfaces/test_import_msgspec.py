"""msgspec is imported in parts, and is complete for whoever uses the others."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

IMPORT = "import sys\nfrom groundplan.surfaces.import_msgspec import import_msgspec\nimport_msgspec()\nimport msgspec\n"


def run(program: str) -> list[str]:
    """Return the lines that a program prints after msgspec was imported in parts."""
    command = (sys.executable, "-c", IMPORT + program)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_the_parts_that_were_left_out_are_imported_when_they_are_used() -> None:
    printed = run(
        "print('textwrap' in sys.modules, 'msgspec._typing_utils' in sys.modules)\n"
        "print(msgspec.json.schema(int), msgspec.json.schema_components([int])[0][0])\n"
        "print(msgspec.inspect.type_info(int), sys.modules['msgspec.inspect'].__file__ is not None)\n"
        "print(msgspec.msgpack.decode(msgspec.msgpack.encode([1])), msgspec.toml.decode(b'a = 1'))\n"
        "from msgspec import inspect, yaml\n"
        "print(inspect.IntType.__module__, yaml.decode(b'a: 1'))\n"
    )

    assert printed == [
        "False False",
        "{'type': 'integer'} {'type': 'integer'}",
        "IntType(gt=None, ge=None, lt=None, le=None, multiple_of=None) True",
        "[1] {'a': 1}",
        "msgspec.inspect {'a': 1}",
    ]


def test_no_other_module_is_replaced_afterwards() -> None:
    printed = run(
        "import platform, typing_extensions, uuid\n"
        "print(platform.system() == uuid._platform_system if hasattr(uuid, '_platform_system') else True)\n"
        "print(type(platform).__name__, platform.python_implementation() != '', bool(typing_extensions))\n"
    )

    assert printed == ["True", "module True True"]


def test_a_version_that_needs_one_of_the_parts_is_imported_as_usual() -> None:
    begin = "from groundplan.surfaces import import_msgspec as module\nmodule.LATE = (*module.LATE, 'msgspec._core')\n"
    command = (sys.executable, "-c", f"{begin}{IMPORT}print(msgspec.json.encode(1), msgspec.json.schema(int))")
    ended = subprocess.run(command, check=True, capture_output=True, text=True)

    assert ended.stdout == "b'1' {'type': 'integer'}\n"


def test_a_module_that_was_imported_before_stays() -> None:
    program = "import platform, sys\n" + IMPORT + "print(sys.modules.get('platform') is platform)"
    command = (sys.executable, "-c", program)

    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "True\n"
