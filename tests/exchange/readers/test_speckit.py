"""Task lists of spec-kit: ids, tags and paths of tasks; dependencies in prose are named and not guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.exchange import checklists
from groundplan.exchange.checklists import split_task
from groundplan.exchange.items import find_paths
from tests.exchange.readers.test_markdown import tree, write

TASKS = """\
# Tasks: Cart

**Format**: `- [ ] [ID] [P?] [Story] Description`
- [P] means that it can run beside others

## Phase 1: Setup
- [x] T001 Create the folders in src/cart/
- [ ] T002 [P] [US1] Add prices in src/cart/prices.py (see `pyproject.toml`)
  **Depends**: T001
- [ ] T012a [US2] Round once
- [ ] T002 Again and/or never
- [ ] Without an id

## Dependencies & Execution Order
- T002 after T001
"""


def test_a_task_has_its_id_its_tags_and_its_paths(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    path = write(tmp_path, "specs/001-cart/tasks.md", TASKS)

    plan = checklists.read_speckit(path, skip_bad=False)

    file = "specs/001-cart/tasks.md"
    assert tree(plan) == [
        ("Tasks: Cart", None),
        ("Phase 1: Setup", "Tasks: Cart"),
        ("Create the folders in src/cart/", "Phase 1: Setup"),
        ("Add prices in src/cart/prices.py (see `pyproject.toml`)", "Phase 1: Setup"),
        ("Round once", "Phase 1: Setup"),
        ("Again and/or never", "Phase 1: Setup"),
        ("Without an id", "Phase 1: Setup"),
    ]
    assert [(item.source_id, item.aliases, item.tags, item.context_links) for item in plan.items[2:]] == [
        (f"{file}#T001", ["T001"], [], ["src/cart/"]),
        (f"{file}#T002", [], ["P", "US1"], ["src/cart/prices.py", "pyproject.toml"]),
        (f"{file}#T012a", ["T012a"], ["US2"], []),
        (f"{file}#T002~2", [], [], []),
        (f"{file}#Tasks: Cart/Phase 1: Setup/Without an id", [], [], []),
    ]
    assert plan.items[2].fate == "done"
    assert [one.text for one in plan.items[3].sections] == ["**Depends**: T001"]
    assert plan.items[3].depends_on == []
    assert [note.source_id for note in plan.placed] == [f"{file}#T002~2"]
    assert [(note.source_id, note.what) for note in plan.lost] == [(file, "dependencies")]


def test_only_task_lists_of_a_folder_are_read_and_an_id_of_two_of_them_is_no_alias(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, "specs/001-cart/tasks.md", "- [ ] T001 One\n- [ ] T002 Two\n")
    write(tmp_path, "specs/002-shop/tasks.md", "- [ ] T001 Other\n  - [ ] T003 Part\n")
    write(tmp_path, "specs/002-shop/checklists/quality.md", "- [ ] CHK001 Clear?\n")

    plan = checklists.read_speckit(tmp_path / "specs", skip_bad=False)

    assert tree(plan) == [
        ("001-cart", None),
        ("One", "001-cart"),
        ("Two", "001-cart"),
        ("002-shop", None),
        ("Other", "002-shop"),
        ("Part", "Other"),
    ]
    assert [item.aliases for item in plan.items] == [[], [], ["T002"], [], [], ["T003"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T001 [P] [US12] do it", ("T001", ["P", "US12"], "do it")),
        ("T001: do it", ("T001", [], "do it")),
        ("T12b [US1] [x] do", ("T12b", ["US1"], "[x] do")),
        ("[P] do it", ("", ["P"], "do it")),
        ("Test do it", ("", [], "Test do it")),
        ("T do", ("", [], "T do")),
        ("T001", ("T001", [], "")),
        ("T001 [P", ("T001", [], "[P")),
    ],
)
def test_the_beginning_of_a_task_is_split(text: str, expected: tuple[str, list[str], str]) -> None:
    assert split_task(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Create src/a.py, `b.toml` and (lib/c/d.ts).", ["src/a.py", "b.toml", "lib/c/d.ts"]),
        ("and/or https://x.org/a.html e.g. never", []),
        ("in backend/src/models/", ["backend/src/models/"]),
        ("`app/[id]/page.tsx`", ["app/[id]/page.tsx"]),
        ("", []),
    ],
)
def test_paths_are_found_in_prose(text: str, expected: list[str]) -> None:
    assert find_paths(text) == expected
