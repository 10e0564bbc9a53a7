"""A checklist that is written says again what was read from one."""

from __future__ import annotations

import textwrap
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.exchange import checklists as reader
from groundplan.exchange.items import SourcePlan
from groundplan.work.importing.items import SourceItem, SourceSection
from tests.exchange.exported import to_exported
from tests.proof import scaled


def read(folder: Path, text: str) -> SourcePlan:
    path = folder / "PLAN.md"
    path.write_text(text, encoding="utf-8", newline="\n")
    return reader.read_markdown(path, skip_bad=False)


def test_a_checklist_comes_back_as_it_was(tmp_path: Path) -> None:
    text = textwrap.dedent(
        """\
        # Plan

        Why we do it.

        - [x] 1. Set up
          - Create the folders
            - src
          - _Requirements: 1.1, 2.3_
          - [X] Inner
            - [~] Deep
        - [-] Dropped
        - [ ]* Optional

        ## Later

        - [ ] 2. Build
        - [/] Begun
        - [✓] Ticked
        """
    )

    written = reader.write_markdown(to_exported(read(tmp_path, text)))

    assert (written.files, written.lost) == ({"": text}, [])


def test_what_a_box_cannot_say_is_named() -> None:
    plan = SourcePlan("markdown")
    plan.items = [
        SourceItem(source_id="g", title="Group", is_group=True),
        SourceItem(source_id="a", title="Two\nlines", parent="g", fate="held", hold_reason="why", depends_on=["b"]),
        SourceItem(source_id="b", title="Begun", source_status="~", sections=[SourceSection("Notes", "One.\n\nTwo.")]),
        SourceItem(source_id="c", title="Done here", fate="done", source_status="~", parent="b"),
        SourceItem(source_id="d", title="Dropped", fate="dropped", priority=2.0),
    ]

    written = reader.write_markdown(to_exported(plan))

    assert written.files[""] == textwrap.dedent(
        """\
        - [~] Begun
          **Notes**
          One.

          Two.
          - [x] Done here
        - [-] Dropped

        # Group

        - [ ] Two lines
        """
    )
    assert [(note.source_id, note.what) for note in written.lost] == [
        ("a", "hold"),
        ("a", "depends_on"),
        ("d", "priority"),
    ]


@st.composite
def plans(draw: st.DrawFn) -> SourcePlan:
    plan = SourcePlan("markdown")
    for number in range(draw(st.integers(1, 8))):
        groups = [one.source_id for one in plan.items if one.is_group]
        is_group = draw(st.booleans())
        parents = groups if is_group else [one.source_id for one in plan.items]
        plan.items.append(
            SourceItem(
                source_id=str(number),
                title=f"item {number}",
                is_group=is_group,
                fate="open" if is_group else draw(st.sampled_from(("open", "done", "dropped"))),
                parent=draw(st.sampled_from([None, *parents])),
            )
        )
    return plan


@settings(max_examples=scaled(60, 3000), deadline=None)
@given(plans())
def test_every_tree_comes_back(tmp_path_factory: object, plan: SourcePlan) -> None:
    folder = tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # a fixture of pytest
    parents = {item.source_id: item for item in plan.items}
    with_boxes: set[str | None] = set()
    for item in plan.items:
        above = None if item.is_group else item.parent
        while above is not None:
            with_boxes.add(above)
            above = parents[above].parent
    titles = {item.source_id: item.title for item in plan.items}
    expected = {
        (item.title, titles.get(item.parent or ""), item.fate, item.is_group)
        for item in plan.items
        if not item.is_group or item.source_id in with_boxes
    }

    back = read(folder, reader.write_markdown(to_exported(plan)).files[""])

    titles = {item.source_id: item.title for item in back.items}
    assert {(item.title, titles.get(item.parent or ""), item.fate, item.is_group) for item in back.items} == expected
