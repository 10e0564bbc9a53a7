"""Rules for the text of every file in the repository."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "groundplan"

SKIPPED_FOLDERS = {"build", "dist", "node_modules", "__pycache__"}
TEXT_SUFFIXES = {".py", ".sql", ".md", ".toml", ".lock", ".txt", ".yaml", ".yml", ".json", ".cfg", ".sh", ""}

VAGUE_NAMES = re.compile(r"(?:^|_)(?:utils?|helpers?|managers?|services?|common|misc)(?:_|$)")
# Assembled from parts, so that this file does not match itself.
UNFINISHED = re.compile("|".join(rf"\b{one}\b" for one in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")))
HOMES = ("ro" + "ot", "ho" + "me", "Us" + "ers", "wo" + "rk")
MACHINE_PATH = re.compile(rf"(?<![\w.~}}\])/])/(?:{'|'.join(HOMES)})/\w")
INDEX_HOST = re.compile(r"https?://[^\s\"'<>)]*(?:py" + r"pi\b|/simple\b|python" + r"hosted|artifactory|nexus)")
WAIVER = re.compile(r"#\s*(?:noqa|type:\s*ignore)[^#]*")
WAIVER_WITH_REASON = re.compile(
    r"#\s*noqa: ?[A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)* +[-\N{EN DASH}:#] *\w|#\s*type: ?ignore\[[\w, -]+\] *#+ *\w"
)
SQL = re.compile(
    r"^\s*(?:SELECT\b.+\bFROM\b|INSERT\s+INTO\b|UPDATE\s+\w+\s+SET\b|DELETE\s+FROM\b|WITH\s+\w+\s+AS\s*\("
    r"|(?:CREATE|ALTER|DROP)\s+(?:TABLE|INDEX|TRIGGER|VIEW|ROLE|POLICY|FUNCTION|SCHEMA)\b|PRAGMA\b|ATTACH\b)",
    re.DOTALL,
)
SQL_WORD = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP|PRAGMA|ATTACH)\b")  # in all of SQL


@cache
def text_files() -> list[Path]:
    """Return every text file of the repository that people write, without asking git."""
    found = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if not is_hidden(name) and name not in SKIPPED_FOLDERS]
        paths = (Path(folder, name) for name in names if not is_hidden(name))
        found += [path for path in paths if path.suffix in TEXT_SUFFIXES and path.is_file()]
    return sorted(found)


def is_hidden(name: str) -> bool:
    return name.startswith(".") and name not in (".ci", ".gitignore")


def python_files() -> list[Path]:
    return [path for path in text_files() if path.suffix == ".py"]


def relative_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def lines_with(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    return [
        f"{relative_name(path)}:{number}: {line.strip()[:80]}"
        for path in files
        if pattern.search(text_of(path))  # most files have no such line, which a search of the whole text shows sooner
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if pattern.search(line)
    ]


def begins_with_docstring(text: str) -> bool:
    """Return whether a module begins with a docstring, by its first lines, because parsing takes seconds."""
    return re.match(r'(?:#.*\n|\s+)*r?"""\s*[^"\s]', text) is not None


def test_every_module_opens_with_its_idea() -> None:
    assert not [relative_name(path) for path in python_files() if not begins_with_docstring(text_of(path))]


def test_a_module_without_its_idea_is_found() -> None:
    opened = ('"""An idea."""', '#!/bin/sh\n\n# A remark\nr"""\nAn idea.\n"""\nx = 1')
    silent = ("", "x = 1", '""" """', '""""""', 'x = """No idea"""', "# A remark", 'import x\n"""Too late"""')

    assert [begins_with_docstring(text) for text in (*opened, *silent)] == [True] * len(opened) + [False] * len(silent)
    assert [bool(ast.get_docstring(ast.parse(text))) for text in (*opened, *silent)] == [
        begins_with_docstring(text) for text in (*opened, *silent)
    ]


def test_no_file_has_a_name_without_an_edge() -> None:
    names = {path for path in text_files() if path.suffix == ".py"} | {path.parent for path in python_files()}
    assert not [relative_name(path) for path in sorted(names) if VAGUE_NAMES.search(path.stem)]


def test_nothing_is_left_for_later() -> None:
    assert not lines_with(UNFINISHED, text_files())


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    assert not lines_with(MACHINE_PATH, text_files())


def test_no_file_names_a_package_index() -> None:
    assert not lines_with(INDEX_HOST, text_files())


def test_every_waiver_says_why() -> None:
    silent = []
    for line in lines_with(WAIVER, [path for path in python_files() if path != Path(__file__)]):
        path, number, _ = line.split(":", 2)
        text = (ROOT / path).read_text(encoding="utf-8").splitlines()[int(number) - 1]
        if not WAIVER_WITH_REASON.search(text):
            silent.append(line)
    assert not silent, "say after the code why it does not apply: # noqa: A001 - what one does to a plan"


def test_sql_stands_in_query_files_migrations_and_the_store() -> None:
    store = PACKAGE / "kernel" / "store"
    found = [
        f"{relative_name(path)}:{constant.lineno}: {str(constant.value).strip()[:60]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.is_relative_to(store) and SQL_WORD.search(text_of(path))
        for constant in string_constants(ast.parse(text_of(path)))
        if SQL.search(str(constant.value))
    ]
    assert not found, "put it into queries.sql and give it a name"


def string_constants(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


def test_the_search_for_sql_finds_it() -> None:
    text = "x = 'SELECT 1 FROM projects'\ny = f'DELETE FROM {table}'\nz = 'Select what you want from it.'"
    assert [node.lineno for node in string_constants(ast.parse(text)) if SQL.search(str(node.value))] == [1, 2]
