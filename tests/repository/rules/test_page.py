"""The page about rule files is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groundplan.repository.rules.formats import agents, claude, copilot, cursor
from groundplan.repository.rules.formats.registry import SUBFOLDER, RuleFormat, render_piece
from tests.repository.rules import rule_strategies

PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "rules-files.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^````markdown\n(.*?)^````$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("form", "example"), list(zip(RuleFormat, EXAMPLES, strict=True)))
def test_an_example_is_what_the_writer_writes(form: RuleFormat, example: str) -> None:
    piece = render_piece(rule_strategies.subject(), form)

    assert example == (piece.as_block if form is RuleFormat.AGENTS else piece.as_file)


def test_the_files_are_where_the_page_says() -> None:
    assert f"`{claude.FOLDER}/{SUBFOLDER}/NAME{claude.SUFFIX}`" in PAGE
    assert f"`{cursor.FOLDER}/{SUBFOLDER}/NAME{cursor.SUFFIX}`" in PAGE
    assert f"`{copilot.FOLDER}/{SUBFOLDER}/NAME{copilot.SUFFIX}`" in PAGE
    assert f"here `{agents.choose_file(rule_strategies.subject().patterns)}`" in PAGE
