"""The guide for practitioners can be followed step by step, as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as NotThere

from tests.surfaces.web.journeys.conftest import Site
from tests.surfaces.web.journeys.guide_steps import GUIDE, Reader, Step, read_steps

TEXT = GUIDE.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_manager_who_follows_the_guide_sends_a_published_theory(page: Page, site: Site, tmp_path: Path) -> None:
    pictures: list[str] = []
    reader = Reader(page, tmp_path, pictures.append)
    page.goto(f"/p/{site.project}/home")
    page.set_default_timeout(100)
    with pytest.raises(NotThere):
        reader.choose("A step that the page does not have")
    page.set_default_timeout(20_000)

    reader.follow(read_steps(TEXT))

    assert len(set(pictures)) == len(pictures) <= 6
    with site.open_as("ada") as ada:
        versions = ada.call("purpose.versions", project=site.project).versions
    assert [(one.label, one.status) for one in versions] == [
        ("Approved by the board", "PUBLISHED"),
        ("Two more wells", "PUBLISHED"),
    ]


def test_every_bold_text_of_the_guide_is_a_step() -> None:
    assert len(read_steps(TEXT)) > 60
    with pytest.raises(AssertionError, match="Jump over the fence"):
        read_steps("1. **Jump over the fence.**")
    with pytest.raises(AssertionError, match="a > b"):
        read_steps("```\na > b\n```")


def test_a_step_has_its_action_and_its_words() -> None:
    assert read_steps("1. **Type “35” into *Value (%)*.** You see the card “Wells”.") == [
        Step("type_text", ("35", "Value (%)")),
        Step("see_card", ("Wells",)),
    ]


def test_the_guide_has_no_command_line() -> None:
    for word in ("groundplan ", "terminal", "command", "```sh", "$ "):
        assert word not in TEXT
