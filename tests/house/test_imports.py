"""Imports go one way, and slow modules are imported only where they are needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import groundplan

PACKAGE = Path(groundplan.__file__).parent
SLICES = ("purpose", "work", "knowledge", "context")

# Which modules may import it at start; all others only inside a function.
SLOW = {
    "typer": ("groundplan.surfaces.cli.",),
    "rich": ("groundplan.surfaces.cli.",),
    "click": ("groundplan.surfaces.cli.",),
    "yaml": (),
    "psycopg": ("groundplan.kernel.store.postgres.", "groundplan.kernel.store.postgres.commit_watch"),
    "openpyxl": ("groundplan.purpose.exchange.formats.workbook",),
    "resvg_py": (),
    "mcp": (),
    "mcp_types": (),
    "pydantic": (),
    "starlette": ("groundplan.surfaces.http.", "groundplan.surfaces.web."),
    "uvicorn": ("groundplan.surfaces.http.slow_clients",),
    "jinja2": (),
    "jwt": ("groundplan.surfaces.http.issuer", "groundplan.surfaces.http.issuer_tokens"),
    "cryptography": ("groundplan.surfaces.http.issuer", "groundplan.surfaces.http.issuer_tokens"),
    "httpx": ("groundplan.surfaces.http.issuer", "groundplan.surfaces.http.issuer_tokens"),
    "anyio": (),
}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def may_import(path: Path, name: str) -> bool:
    """Return whether the text of an import is in a module; parsing all modules would take most of the time."""
    package, _, last = name.rpartition(".")
    text = text_of(path)
    if last not in text:
        return False
    return bool(re.search(rf"\b(?:import|from)\b.*\b{re.escape(name)}\b", text)) or (
        bool(package) and bool(re.search(rf"\bfrom {re.escape(package)} import\b", text)) and last in text
    )


@cache
def imports_anywhere(path: Path) -> set[str]:
    return {name for node in ast.walk(ast.parse(text_of(path))) for name in imported(node)}


@cache
def imports_at_start(path: Path) -> set[str]:
    """Return what importing the module imports, without imports in functions and for type checkers."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(text_of(path))]
    while waiting:
        node = waiting.pop()
        found |= set(imported(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)
    return found


def test_the_kernel_imports_nothing_that_stands_on_it() -> None:
    # `providers` imports a slice when one of its functions is called.
    own = ("groundplan.kernel", "groundplan.migrations", "groundplan.providers")
    wrong = {
        f"{module_name(path)} imports {name}"
        for path in sorted((PACKAGE / "kernel").rglob("*.py"))
        for name in imports_anywhere(path)
        if name.startswith("groundplan.") and not name.startswith(own) and name != "groundplan.__version__"
    }
    assert not wrong


def test_surfaces_do_not_import_each_other() -> None:
    wrong = set()
    surfaces = {
        one.name for one in (PACKAGE / "surfaces").iterdir() if one.is_dir()
    }  # what all slices share is a module
    for path in sorted((PACKAGE / "surfaces").rglob("*.py")):
        if not may_import(path, "groundplan.surfaces"):
            continue
        surface = module_name(path).split(".")[2:3]
        for name in imports_anywhere(path):
            other = name.split(".")[2:3]
            # `groundplan mcp` and `groundplan serve` are commands like any other, so the command line starts them.
            # Pages are served by the same server as REST, and rest on it. That server has the tools of MCP, too.
            is_started = surface == ["cli"] and other in (["mcp"], ["http"], ["web"])
            is_own = other == surface or is_started or (surface, other) in ((["web"], ["http"]), (["http"], ["mcp"]))
            if name.startswith("groundplan.surfaces.") and surfaces.issuperset(other) and not is_own:
                wrong.add(f"{module_name(path)} imports {name}")
    assert not wrong


def test_slices_do_not_import_each_other() -> None:
    wrong = set()
    for path in sources():
        mine = path.relative_to(PACKAGE).parts[0]
        others = tuple(f"groundplan.{other}" for other in SLICES if other != mine)
        if mine in SLICES and any(may_import(path, other) for other in others):
            wrong |= {
                f"{module_name(path)} imports {name}" for name in imports_anywhere(path) if name.startswith(others)
            }
    assert not wrong


@pytest.mark.parametrize("slow", SLOW)
def test_what_is_slow_to_import_is_imported_late(slow: str) -> None:
    wrong = {
        module_name(path)
        for path in sources()
        if not module_name(path).startswith(SLOW[slow] or ("nobody",))
        and may_import(path, slow)
        and any(name.partition(".")[0] == slow for name in imports_at_start(path))
    }
    assert not wrong, f"import {slow} inside the function that needs it"


@pytest.mark.slow
def test_the_command_line_starts_without_the_server() -> None:
    printed = "import sys, groundplan.surfaces.cli.program; print(*{name.partition('.')[0] for name in sys.modules})"
    answered = subprocess.run([sys.executable, "-c", printed], capture_output=True, text=True, check=True)
    of_server = {"starlette", "uvicorn", "jinja2", "jwt", "anyio", "cryptography", "mcp", "mcp_types", "pydantic"}
    assert not set(answered.stdout.split()) & of_server
