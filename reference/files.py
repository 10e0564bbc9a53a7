"""The files that are generated from the code: snapshots, types of the verbs, reference pages."""

from __future__ import annotations

import difflib
import json
from functools import cache
from pathlib import Path

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.http.openapi import build_openapi
from groundplan.surfaces.http.routes import RouteTable
from groundplan.surfaces.mcp.tools import PUBLISHED
from reference.man_page import ALIAS, build_man_page
from reference.pages import build_pages
from reference.verbs_stub import VerbsStub
from tests.contracts.snapshots import FROZEN, database, frozen_changes, operations, published_tools, rendered, tools

ROOT = Path(__file__).parents[1]
CONTRACTS = ROOT / "tests" / "contracts"
REFERENCE = ROOT / "docs" / "reference"
PACKAGING = ROOT / "packaging"
VERBS = ROOT / "src" / "groundplan" / "verbs.pyi"
SCHEMA = CONTRACTS / "schema.json"
SUMMARY = "a planning memory shared by people and AI agents"


@cache
def build_files() -> dict[Path, str]:
    """Return the text of every generated file."""
    return {
        CONTRACTS / "tools.json": rendered(tools()),
        CONTRACTS / "operations.json": rendered(operations()),
        CONTRACTS / "openapi.json": rendered(build_openapi(RouteTable(OPERATIONS))),
        PUBLISHED: published_tools(),
        SCHEMA: rendered(database()),
        VERBS: VerbsStub().write(),
        PACKAGING / "groundplan.1": build_man_page(SUMMARY),
        PACKAGING / "pl.1": ALIAS,
        **{REFERENCE / name: text for name, text in build_pages().items()},
    }


def diff_file(path: Path, text: str) -> str:
    """Return the difference between a file and its text; empty if there is none."""
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    if there == text:
        return ""
    name = str(path.relative_to(ROOT))
    lines = difflib.unified_diff(there.splitlines(), text.splitlines(), name, f"{name} (from the code)", lineterm="")
    return "\n".join(lines)


def find_orphans() -> list[Path]:
    """Return the pages that are no longer generated."""
    return sorted(set(REFERENCE.glob("*.md")) - build_files().keys())


def explain_frozen_schema(current: str) -> str | None:
    """Return why the snapshot of the schema must not be replaced; None if it may be."""
    if not SCHEMA.exists():
        return None
    changed = frozen_changes(json.loads(SCHEMA.read_text(encoding="utf-8")), json.loads(current))
    return FROZEN.format(changed=", ".join(changed)) if changed else None
