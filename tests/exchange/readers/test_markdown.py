"""Boxes of Markdown files become items below their headings, and keep their ids when they are ticked."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.exchange import checklists
from groundplan.exchange.items import BadLineFound, SourcePlan, UnreadableSource
from groundplan.work.importing.items import SOURCE_ID_BYTES_MAX, SourceItem
from tests.proof import scaled


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def read(folder: Path, text: str, *, skip_bad: bool = False) -> SourcePlan:
    (folder / ".git").mkdir(exist_ok=True)
    return checklists.read_markdown(write(folder, "PLAN.md", text), skip_bad=skip_bad)


def tree(plan: SourcePlan) -> list[tuple[str, str | None]]:
    """Return the titles of all items with those of their parents."""
    titles = {item.source_id: item.title for item in plan.items}
    return [(item.title, titles.get(item.parent or "")) for item in plan.items]


def only(plan: SourcePlan) -> SourceItem:
    (item,) = plan.items
    return item


@pytest.mark.parametrize(
    ("mark", "fate", "state"),
    [
        (" ", "open", None),
        ("~", "open", "~"),
        ("/", "open", "/"),
        ("x", "done", None),
        ("X", "done", None),
        ("✓", "done", None),
        ("✔", "done", None),
        ("-", "dropped", None),
    ],
)
@pytest.mark.parametrize("bullet", ["-", "*", "+", "1.", "12)"])
def test_every_sign_in_a_box_has_its_fate(tmp_path: Path, bullet: str, mark: str, fate: str, state: str | None) -> None:
    item = only(read(tmp_path, f"{bullet} [{mark}] Ship it"))

    assert (item.title, item.fate, item.state, item.is_group) == ("Ship it", fate, state, False)
    assert [one.type for one in item.evidence] == (["dropped"] if fate == "dropped" else [])


@pytest.mark.parametrize(
    "line",
    [
        "- plain bullet",
        "- [P] in a legend",
        "- [x](https://example.org)",
        "- [x]y",
        "-[ ] no blank",
        "[ ] no bullet",
        "```\n- [ ] code\n```",
        "- a\n  ~~~md\n  - [ ] code\n  ~~~",
        "`- [ ] code`",
        "- [ ]",
        "1234567890. [ ] no number",
    ],
)
def test_what_is_no_box_is_no_item_and_a_file_without_one_is_no_error(tmp_path: Path, line: str) -> None:
    plan = read(tmp_path, f"# Plan\n\n{line}\n")

    assert plan.items == []
    assert plan.left_out["files without boxes"] == 1


def test_headings_with_boxes_are_groups_and_indentation_makes_children(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """\
        ---
        owner: ada
        # no heading
        ---
        # Plan
        ## Empty
        Text.
        ## Cart ##
        - [ ] one
          - [x] one a
        \t- [ ] one b
            - [ ] one b i
        - [ ] two
        ### Deep
        * [ ] three
        ## Later
        - [-] four
        """,
    )

    assert tree(plan) == [
        ("Plan", None),
        ("Cart", "Plan"),
        ("one", "Cart"),
        ("one a", "one"),
        ("one b", "one a"),
        ("one b i", "one a"),
        ("two", "Cart"),
        ("Deep", "Cart"),
        ("three", "Deep"),
        ("Later", "Plan"),
        ("four", "Later"),
    ]
    assert [item.title for item in plan.items if item.is_group] == ["Plan", "Cart", "Deep", "Later"]
    assert plan.items[2].line == 9


def test_numbers_make_children_where_indentation_does_not(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """\
        # Implementation Plan
        - [x] 1. Set up
        - [x] 1.1 Folders
          - [ ] 9. Indented
        - [ ] 2. Build
        - [ ] 2.1 Cart
        - [ ] 2.1.1 Prices
        - [ ]* 2.2 Tests
        - [ ] 3.1 Alone
        - [ ] 2 Again
        - [ ] 2.1 Cart
        # Other
        - [ ] 2.3 Elsewhere
        """,
    )

    assert tree(plan) == [
        ("Implementation Plan", None),
        ("1. Set up", "Implementation Plan"),
        ("1.1 Folders", "1. Set up"),
        ("9. Indented", "1.1 Folders"),
        ("2. Build", "Implementation Plan"),
        ("2.1 Cart", "2. Build"),
        ("2.1.1 Prices", "2.1 Cart"),
        ("2.2 Tests", "2. Build"),
        ("3.1 Alone", "Implementation Plan"),
        ("2 Again", "Implementation Plan"),
        ("2.1 Cart", "2 Again"),
        ("Other", None),
        ("2.3 Elsewhere", "Other"),
    ]
    assert [item.title for item in plan.items if "optional" in item.tags] == ["2.2 Tests"]
    assert [item.source_id for item in plan.items if item.title == "2.1 Cart"] == [
        "PLAN.md#Implementation Plan/2.1 Cart",
        "PLAN.md#Implementation Plan/2.1 Cart~2",
    ]


def test_text_below_a_box_is_a_section_and_requirements_are_a_property(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """\
        # Plan
        Why we do it.

        - [ ] 1. Set up
          - Create the folders
            - src
          ```
          - [ ] code
          ```
          - _Requirements: 1.1, 2.3_

          Last words.
        - plain bullet
        """,
    )

    group, item = plan.items
    assert [(one.title, one.text) for one in group.sections] == [("Text", "Why we do it.\n\n- plain bullet")]
    assert [(one.title, one.text) for one in item.sections] == [
        ("Text", "- Create the folders\n  - src\n```\n- [ ] code\n```\n\nLast words.")
    ]
    assert item.properties == {"requirements": ["1.1", "2.3"]}


def test_a_tick_keeps_the_id_another_text_is_another_item_and_equal_ones_are_counted(tmp_path: Path) -> None:
    text = "# A\n- [ ] same\n- [ ] same\n## B\n- [ ] same\n- [ ] other\n"
    before = [item.source_id for item in read(tmp_path, text).items]

    assert before == [
        "PLAN.md#A",
        "PLAN.md#A/same",
        "PLAN.md#A/same~2",
        "PLAN.md#A/B",
        "PLAN.md#A/B/same",
        "PLAN.md#A/B/other",
    ]
    assert [item.source_id for item in read(tmp_path, text.replace("[ ]", "[x]")).items] == before
    assert {item.source_id for item in read(tmp_path, text.replace("other", "new")).items} - {*before} == {
        "PLAN.md#A/B/new"
    }


def test_an_id_has_a_limit_and_stays_the_same_and_different(tmp_path: Path) -> None:
    text = "# é\n" + "".join(f"- [ ] {'ü' * 600}{end}\n" for end in ("a", "b"))

    ids = [item.source_id for item in read(tmp_path, text).items]

    assert len(set(ids)) == 3
    assert all(len(one.encode()) <= SOURCE_ID_BYTES_MAX for one in ids)
    assert [item.source_id for item in read(tmp_path, text).items] == ids


def test_a_folder_is_searched_and_each_file_is_a_group(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, "openspec/changes/add-cart/tasks.md", "## 1. Cart\n- [ ] 1.1 Build\n")
    write(tmp_path, "openspec/changes/archive/old/tasks.md", "## 1. Old\n- [x] 1.1 Built\n- [ ] 1.2 Forgotten\n")
    write(tmp_path, "openspec/README.md", "# No boxes\n")
    write(tmp_path, "openspec/node_modules/x/PLAN.md", "- [ ] theirs\n")
    write(tmp_path, "openspec/.hidden/PLAN.md", "- [ ] hidden\n")
    write(tmp_path, "openspec/notes.txt", "- [ ] no Markdown\n")
    (tmp_path / "openspec/link.md").symlink_to(tmp_path / "openspec/changes/add-cart/tasks.md")

    plan = checklists.read_markdown(tmp_path / "openspec", skip_bad=False)

    assert tree(plan) == [
        ("openspec/changes/add-cart/tasks.md", None),
        ("1. Cart", "openspec/changes/add-cart/tasks.md"),
        ("1.1 Build", "1. Cart"),
        ("openspec/changes/archive/old/tasks.md", None),
        ("1. Old", "openspec/changes/archive/old/tasks.md"),
        ("1.1 Built", "1. Old"),
        ("1.2 Forgotten", "1. Old"),
    ]
    assert [item.fate for item in plan.items if not item.is_group] == ["open", "done", "dropped"]
    assert [note.what for note in plan.placed] == ["status"]
    assert plan.left_out == {"files without boxes": 1, "files in the hidden folder .hidden": 1}


def test_the_specs_of_kiro_are_found_from_the_root_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, ".kiro/specs/cart/tasks.md", "- [ ] 1 Build\n")
    write(tmp_path, "src/.github/ISSUE_TEMPLATE/bug.md", "- [ ] I searched\n")

    plan = checklists.read_markdown(tmp_path, skip_bad=False)

    assert [item.title for item in plan.items] == [".kiro/specs/cart/tasks.md", "1 Build"]
    assert plan.left_out == {"files in the hidden folder src/.github": 1}


def test_a_file_has_the_same_ids_alone_in_its_folder_and_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    path = write(tmp_path, "docs/PLAN.md", "- [ ] one\n")
    (item,) = checklists.read_markdown(path, skip_bad=False).items
    monkeypatch.chdir(tmp_path / "docs")

    assert (
        checklists.read_markdown(Path("PLAN.md"), skip_bad=False).items[0].source_id
        == item.source_id
        == "docs/PLAN.md#one"
    )
    assert [one.source_id for one in checklists.read_markdown(tmp_path, skip_bad=False).items] == [
        "docs/PLAN.md",
        item.source_id,
    ]


def test_byte_order_marks_and_crlf_play_no_part(tmp_path: Path) -> None:
    path = tmp_path / "PLAN.md"
    path.write_bytes("\ufeff# A\r\n- [ ] one\r\n  more\r\n".encode())

    group, item = checklists.read_markdown(path, skip_bad=False).items

    assert (group.title, item.title, item.sections[0].text) == ("A", "one", "more")


def test_bad_files_are_named_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "- [ ] one\n<<<<<<< HEAD\n- [x] two\n=======\n- [ ] two\n>>>>>>> b\n")
    write(tmp_path, "b.md", f"- [ ] fine\n- [ ] {'x' * 5000}\n")

    with pytest.raises(BadLineFound) as refused:
        checklists.read_markdown(tmp_path, skip_bad=False)
    assert (refused.value.details["line"], Path(refused.value.details["file"]).name) == (2, "a.md")
    plan = checklists.read_markdown(tmp_path, skip_bad=True)
    assert [(Path(bad.file).name, bad.line) for bad in plan.skipped] == [("a.md", 2), ("b.md", 2)]
    assert [item.title for item in plan.items if not item.is_group] == ["fine"]
    with pytest.raises(UnreadableSource, match="no such file"):
        checklists.read_markdown(tmp_path / "missing.md", skip_bad=False)
    (tmp_path / "c.md").write_bytes(b"- [ ] caf\xe9\n")
    with pytest.raises(UnreadableSource, match="UTF-8"):
        checklists.read_markdown(tmp_path / "c.md", skip_bad=False)


_lines = st.lists(
    st.sampled_from(
        [
            "# A",
            "## A",
            "- [ ] a",
            "  - [x] a",
            "    * [-] b",
            "\t+ [~] 1.1 c",
            "- [ ] 1 c",
            "- [ ]* d",
            "```",
            "~~~~",
            "text",
            "  text",
            "---",
            "",
            "> - [ ] q",
        ]
    )
    | st.text(max_size=10),
    max_size=25,
)


@settings(max_examples=scaled(100, 5000))
@given(_lines)
def test_any_text_ends_in_items_whose_parents_come_before_them(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.md"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")

    seen: set[str | None] = {None}
    for item in checklists.read_markdown(path, skip_bad=True).items:
        assert item.source_id not in seen
        assert item.parent in seen
        seen.add(item.source_id)
