"""Several threads may be the first to decode a type."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import msgspec
import pytest

from groundplan.kernel.input_gate import types
from tests.proof import scaled

THREADS = 4

SOURCE = """
from __future__ import annotations
from typing import Annotated
from msgspec import Meta, Struct

class Inner(Struct, forbid_unknown_fields=True):
    text: Annotated[str, Meta(max_length=5)] | None = None
    numbers: list[int] = []
    named: dict[str, int] = {}
    either: str | int | None = None

class Outer(Struct, forbid_unknown_fields=True):
    inner: list[Inner]
    more: Inner | None = None
"""


def define_type(number: int) -> Any:
    """Return a type that no thread has decoded yet."""
    module = ModuleType(f"fresh_{number}")
    sys.modules[module.__name__] = module
    exec(SOURCE, module.__dict__)  # noqa: S102 - a fixed text, run for a new class each time
    return module.Outer


def decode_in_threads(rounds: int) -> None:
    """Let several threads decode a new type at the same time, again and again."""
    sys.setswitchinterval(1e-6)
    given = {"inner": [{"text": "hi", "numbers": [1], "either": 3}], "more": {"text": "q"}}
    for number in range(rounds):
        shape, barrier = define_type(number), threading.Barrier(THREADS)
        answers: list[Any] = []
        threads = [threading.Thread(target=decode, args=(shape, given, barrier, answers)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == THREADS


def decode(shape: Any, given: Any, barrier: threading.Barrier, answers: list[Any]) -> None:
    """Decode a value as soon as the other threads do."""
    barrier.wait()
    types.get_decoder(shape)
    answers.append(msgspec.convert(given, shape))


def run(code: str) -> int:
    """Run Python code in a process of its own, which may crash, and return its exit code."""
    program = f"from tests.kernel.input_gate import test_decoders as test; {code}"
    return subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, timeout=120).returncode


def test_several_threads_can_decode_a_type_for_the_first_time() -> None:
    assert run(f"test.decode_in_threads({scaled(150, 3_000)})") == 0


@pytest.mark.teeth
def test_without_the_lock_the_process_crashes() -> None:
    assert run("test.remove_lock(); test.decode_in_threads(3_000)") < 0


def remove_lock() -> None:
    """Let every thread build decoders at once."""
    vars(types)["_building"] = nullcontext()
