"""What a terminal shows fits its width, whatever alphabet it is in, and is plain where colours are not wanted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.surfaces.cli.screen.output import TextTable, choose_pager, takes_colours
from groundplan.surfaces.cli.screen.progress import Progress
from groundplan.surfaces.cli.screen.text import StyledText, cut, measure

texts = st.text(st.characters(blacklist_categories=("Cc", "Cs")), max_size=60)


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("日本語", 6), ("e\u0301", 1), ("한글!", 5), ("✓", 1), ("❤\ufe0f", 2), ("", 0)]
)
def test_wide_characters_take_two_columns_and_marks_none(text: str, columns: int) -> None:
    assert measure(text) == columns


@given(texts, st.integers(1, 40))
def test_a_cut_text_never_takes_more_columns_than_there_are(text: str, columns: int) -> None:
    assert measure(cut(text, columns)) <= columns


@given(st.lists(texts, min_size=1, max_size=4), st.integers(4, 40))
def test_wrapped_lines_fit_and_lose_nothing_but_spaces(parts: list[str], columns: int) -> None:
    whole = StyledText()
    for part in parts:
        whole.append(part, "bold")
    lines = whole.wrap(columns)

    assert all(line.cell_len <= columns or measure(line.plain[0]) > columns for line in lines if line.plain)
    assert "".join("".join(line.plain.split()) for line in lines) == "".join("".join(parts).split())


@given(st.lists(st.lists(texts, min_size=3, max_size=3), min_size=1, max_size=5), st.integers(40, 120))
def test_a_table_fits_the_width_of_the_terminal(rows: list[list[str]], columns: int) -> None:
    table = TextTable([[StyledText(cell) for cell in row] for row in rows], ("one", "two", "three"))

    assert all(line.cell_len <= columns for line in table.lay_out(columns))


def test_columns_that_must_stay_whole_are_not_narrowed() -> None:
    table = TextTable([[StyledText("0123456789abcdef"), StyledText("a long text " * 10)]], ("id", "text"), whole=(0,))

    assert any("0123456789abcdef" in line.plain for line in table.lay_out(40))


def test_styles_are_only_added_where_colours_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = StyledText("done", "bold green").append(" now")

    assert text.render(colours=False) == "done now"
    assert text.render(colours=True) == "\x1b[1;32mdone\x1b[0m now"
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert takes_colours()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not takes_colours()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not takes_colours()


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"TERM": "xterm"}, ["less"]),
        ({"TERM": "xterm", "PAGER": "more -f"}, ["more", "-f"]),
        ({"TERM": "xterm", "PAGER": ""}, []),
        ({"TERM": "xterm", "PAGER": "cat"}, []),
        ({"TERM": "xterm", "PAGER": "less 'x"}, []),
        ({"TERM": "dumb", "PAGER": "less"}, []),
        ({}, []),
    ],
)
def test_the_pager_is_the_one_that_the_user_names(environment: dict[str, str], command: list[str]) -> None:
    assert list(choose_pager(environment)) == command


def test_progress_shows_a_bar_when_the_total_is_known() -> None:
    progress = Progress("importing")
    assert progress.describe(3.2) == "importing, 3 s; Ctrl-C cancels"
    progress.name_step("reading issues")
    progress.update(50, 200)
    assert "[######" in progress.describe(3)
    assert "25%" in progress.describe(3)
    progress.name_step("x" * 200)
    assert measure(progress.describe(3)) <= 78
