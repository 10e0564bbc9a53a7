"""What belongs to one slice is only in that slice: its table names, and the types of the contract."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import StrEnum
from inspect import getmembers, isclass
from pathlib import Path

import groundplan
from groundplan.context import schemas
from groundplan.context import tables as context_tables
from groundplan.kernel.store.schema import Table
from groundplan.knowledge import tables as knowledge_tables
from groundplan.purpose import tables as purpose_tables
from groundplan.work import tables as work_tables

PACKAGE = Path(groundplan.__file__).parent
ROOT = Path(__file__).parents[2]
CONTRACT = PACKAGE / "context" / "schemas.py"
CODE = (".py", ".sql")


def names(tables: tuple[Table, ...], others: tuple[str, ...]) -> list[str]:
    return [*(table.name for table in tables), *others]


TABLES = {
    "work": names(work_tables.TABLES, work_tables.INDEXES),
    "knowledge": names(knowledge_tables.TABLES, knowledge_tables.INDEXES),
    "context": names(context_tables.TABLES, context_tables.VIEWS),
    "purpose": names(purpose_tables.TABLES, ()),
}
# The enums of the contract by name and by words, so that a copy is found by either.
ENUMS = {
    name: frozenset(found)
    for name, found in getmembers(schemas, isclass)
    if issubclass(found, StrEnum) and found.__module__ == schemas.__name__
}
OF_THE_CONTRACT = re.compile(rf"Pciv\w*V\d+|{'|'.join(ENUMS)}")
MAYBE = re.compile(rf"{OF_THE_CONTRACT.pattern}|Enum")  # most files need no parsing


def find_foreign_tables(package: Path) -> list[str]:
    """Return where a table is named outside its slice, without migrations and parts of longer names."""
    patterns = {owner: re.compile(rf"\b(?:{'|'.join(tables)})\b") for owner, tables in TABLES.items()}
    found = []
    for path in sorted(path for path in package.rglob("*") if path.suffix in CODE):
        folder, text = path.relative_to(package).parts[0], path.read_text(encoding="utf-8")
        for owner, pattern in patterns.items():
            if folder not in (owner, "migrations") and pattern.search(text):
                found += [
                    f"{path.relative_to(package)}:{number}: {name}"
                    for number, line in enumerate(text.splitlines(), 1)
                    for name in pattern.findall(line)
                ]
    return found


def find_copies(root: Path, contract: Path = CONTRACT) -> list[str]:
    """Return where a type of the contract is defined again: under its name, or as an enum with its words."""
    return [
        f"{path.relative_to(root)}:{node.lineno}: {name}"
        for path in sorted(root.rglob("*.py"))
        if path != contract and MAYBE.search(text := path.read_text(encoding="utf-8"))
        for node, name in definitions(ast.parse(text))
        if OF_THE_CONTRACT.fullmatch(name) or (isinstance(node, ast.ClassDef) and words(node) in ENUMS.values())
    ]


def definitions(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Yield every class and every assigned name of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node, node.name
    for node in tree.body:
        if isinstance(node, ast.Assign):
            yield from ((node, target.id) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node, node.target.id


def words(found: ast.ClassDef) -> frozenset[str]:
    return frozenset(
        node.value.value
        for node in found.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )


def test_no_table_is_named_outside_its_slice() -> None:
    assert find_foreign_tables(PACKAGE) == []


def test_a_table_that_is_named_elsewhere_is_found(tmp_path: Path) -> None:
    texts = {
        "surfaces/cli/page.py": 'TEXT = "DELETE FROM pciv_runs"\n',
        "work/queries.sql": "SELECT 1\n  FROM pciv_scope_members;\n",
        "context/queries.sql": "SELECT 1 FROM pciv_inputs JOIN work_nodes ON true;\n",
        "purpose/queries.sql": "SELECT 1 FROM toc_nodes JOIN pciv_runs ON true;\n",
        "kernel/errors.py": 'CODE = "pciv_scope_members_last_owner_forbidden"  # and pciv_scope_already_initialized\n',
        "migrations/0001_all.sql": "CREATE TABLE pciv_runs (id);\n",
    }
    write(tmp_path, texts)

    assert sorted(find_foreign_tables(tmp_path)) == [
        "context/queries.sql:1: work_nodes",
        "purpose/queries.sql:1: pciv_runs",
        "surfaces/cli/page.py:1: pciv_runs",
        "work/queries.sql:2: pciv_scope_members",
    ]


def test_the_types_of_the_contract_are_defined_once() -> None:
    assert ENUMS.keys() >= {"RunStatus", "SourceKind", "ValueKind", "Provenance", "UpdatedBy"}
    assert [one for folder in ("src", "tests", "bench", "reference") for one in find_copies(ROOT / folder)] == []


def test_a_second_definition_is_found(tmp_path: Path) -> None:
    texts = {
        "schemas.py": 'class PcivRunV1: ...\nclass RunStatus(StrEnum):\n    DRAFT = "draft"\n',
        "views.py": "from schemas import PcivRunV1, RunStatus\ndef f():\n    class PcivInputV2: ...\n",
        "states.py": 'class State(StrEnum):\n    A = "user"\n    B = "model"\n    C = "system"\n',
        "words.py": 'Provenance = Literal["unknown"]\nValueKind: TypeAlias = str\nstatus = RunStatus.DRAFT\n',
    }
    write(tmp_path, texts)

    assert find_copies(tmp_path, tmp_path / "schemas.py") == [
        "states.py:1: State",
        "views.py:3: PcivInputV2",
        "words.py:1: Provenance",
        "words.py:2: ValueKind",
    ]


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
