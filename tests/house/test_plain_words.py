"""Rules of plain wording that a machine can check. The exceptions listed here may only get fewer."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "groundplan"
MODULES_MAX = 15  # in a folder

PARTICIPLES = re.findall(
    r"\w+",
    """
    admitted asked assessed called checked chosen copied counted drawn found framed given held kept known
    listed loaded made marked meant measured moved named noted observed offered renamed said seen settled
    shown stored taken told wanted written
    """,
)
PRIVATE_WORDS = re.compile(r"\bMind:|\bwhat whoever\b|\bnobody's business\b|\bgoes unheard\b", re.IGNORECASE)
SLICE_WORDS = re.compile(
    r"\b(?:toc_\w+|pciv_\w+|provenance|theory|theories|atoms?|molecules?|pipelines?|assumptions?|indicators?|evidence|claims"
    r"|claim_\w+)\b",
    re.IGNORECASE,
)

SHARED_CLASS_NAMES = {"Op"}  # the events of a slice


@cache
def modules() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")
    }


def is_property(function: ast.FunctionDef) -> bool:
    names = {getattr(one, "id", getattr(one, "attr", "")) for one in function.decorator_list}
    return not names.isdisjoint({"property", "cached_property"})


def participles(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and begins_with_participle(node.name) and not is_property(node):
            yield node.name


def begins_with_participle(name: str) -> bool:
    return name.strip("_").split("_")[0] in PARTICIPLES


def test_a_folder_holds_no_more_modules_than_a_reader_can_survey() -> None:
    counts = Counter(str(Path(name).parent) for name in modules() if not name.endswith("__init__.py"))
    assert {folder: count for folder, count in counts.items() if count > MODULES_MAX} == {}


def test_functions_are_verbs() -> None:
    assert {f"{name}: {found}" for name, module in modules().items() for found in participles(module)} == set()


def test_a_participle_is_found_and_a_property_is_a_fact() -> None:
    text = "class A:\n    @property\n    def told(self): ...\n    def _shown_rows(self): ...\ndef tell(): ..."
    assert list(participles(ast.parse(text))) == ["_shown_rows"]


def test_one_class_has_one_name() -> None:
    names = Counter(
        node.name for module in modules().values() for node in module.body if isinstance(node, ast.ClassDef)
    )
    assert {name for name, count in names.items() if count > 1} == SHARED_CLASS_NAMES


def test_no_text_is_a_riddle() -> None:
    found = {
        name
        for name, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and PRIVATE_WORDS.search(node.value)
    }
    assert found == set()


def test_the_kernel_has_no_words_of_a_slice() -> None:
    paths = [path for suffix in ("py", "sql") for path in (PACKAGE / "kernel").rglob(f"*.{suffix}")]
    found = {str(path.relative_to(PACKAGE)) for path in paths if SLICE_WORDS.search(path.read_text(encoding="utf-8"))}
    assert found == set()
