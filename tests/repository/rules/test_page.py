"""The page about rule files is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groundplan.repository.rules import formats
from groundplan.repository.rules.formats import OWN_FILES, SUBFOLDER, RuleFormat, render_piece
from tests.repository.rules import rule_strategies

PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "rules-files.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^````markdown\n(.*?)^````$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("form", "example"), list(zip(RuleFormat, EXAMPLES, strict=True)))
def test_an_example_is_what_the_writer_writes(form: RuleFormat, example: str) -> None:
    piece = render_piece(rule_strategies.subject(), form)

    assert example == (piece.as_block if form is RuleFormat.AGENTS else piece.as_file)


def test_the_files_are_where_the_page_says() -> None:
    assert f"`{OWN_FILES[RuleFormat.CLAUDE].folder}/{SUBFOLDER}/NAME{OWN_FILES[RuleFormat.CLAUDE].suffix}`" in PAGE
    assert f"`{OWN_FILES[RuleFormat.CURSOR].folder}/{SUBFOLDER}/NAME{OWN_FILES[RuleFormat.CURSOR].suffix}`" in PAGE
    assert f"`{OWN_FILES[RuleFormat.COPILOT].folder}/{SUBFOLDER}/NAME{OWN_FILES[RuleFormat.COPILOT].suffix}`" in PAGE
    assert f"here `{formats.choose_file(rule_strategies.subject().patterns)}`" in PAGE
