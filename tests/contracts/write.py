"""Write anew what follows from the code: snapshots, types of the verbs, reference pages. --check says what differs."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTRACTS = ROOT / "tests" / "contracts"
REFERENCE = ROOT / "docs" / "reference"
VERBS = ROOT / "src" / "groundplan" / "verbs.pyi"
SCHEMA = CONTRACTS / "schema.json"


@cache
def contents() -> dict[Path, str]:
    """Every file that is derived from the code, as it should read."""
    from tests.contracts.pages import reference_pages
    from tests.contracts.snapshots import database, operations, rendered, tools
    from tests.contracts.stub import Stub

    return {
        CONTRACTS / "tools.json": rendered(tools()),
        CONTRACTS / "operations.json": rendered(operations()),
        SCHEMA: rendered(database()),
        VERBS: Stub().text(),
        **{REFERENCE / name: text for name, text in reference_pages().items()},
    }


def difference(path: Path, text: str) -> str:
    """How a file differs from what it should be; empty when it does not."""
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    if there == text:
        return ""
    name = str(path.relative_to(ROOT))
    lines = difflib.unified_diff(there.splitlines(), text.splitlines(), name, f"{name} (from the code)", lineterm="")
    return "\n".join(lines)


def orphans() -> list[Path]:
    """Pages that nothing in the code stands behind any more."""
    return sorted(set(REFERENCE.glob("*.md")) - contents().keys())


def frozen_schema_refusal(current: str) -> str | None:
    """Why the schema's snapshot may not be replaced, if it may not."""
    from tests.contracts.snapshots import FROZEN, frozen_changes

    if not SCHEMA.exists():
        return None
    changed = frozen_changes(json.loads(SCHEMA.read_text(encoding="utf-8")), json.loads(current))
    return FROZEN.format(changed=", ".join(changed)) if changed else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; print the differences and exit with 1")
    parser.add_argument(
        "--unreleased", action="store_true", help="no database with the latest schema exists outside this repository"
    )
    options = parser.parse_args()
    files = contents()
    if options.check:
        found = [text for text in (difference(path, wanted) for path, wanted in files.items()) if text]
        found += [f"{path.relative_to(ROOT)} describes nothing that exists" for path in orphans()]
        print(*found, sep="\n", end="\n" if found else "")
        return 1 if found else 0
    if not options.unreleased and (refusal := frozen_schema_refusal(files[SCHEMA])):
        print(refusal, file=sys.stderr)
        return 1
    for path in orphans():
        path.unlink()
    for path, text in files.items():
        if difference(path, text):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # started as a file, so `tests` is not a package yet
    sys.exit(main())
