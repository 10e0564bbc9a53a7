"""Next steps on the page: instructions for a person, without names of operations."""

from __future__ import annotations

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.errors import NextStep
from groundplan.surfaces.web.words import WORDS, PageVocabulary
from tests.engines import Engine
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.plan_pages import fill_theory, read_page


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (
            [
                NextStep("purpose.edit", "corrects what gate A found"),
                NextStep("purpose.record", "with waivers lets an owner waive it"),
            ],
            "edit the draft to correct what gate A found, or waive it as an owner",
        ),
        (
            [NextStep("context.edit", "sets /site/owner"), NextStep("context.commit", "puts them in force")],
            "edit the facts to set /site/owner; commit the facts to put them in force",
        ),
        (
            [NextStep("context.commit", "without allowPartial puts all in force")],
            "commit the facts to put all in force",
        ),
        ([NextStep("purpose.open", "shows the keys")], "look at the plan to see the keys"),
        ([NextStep("purpose.edit", "with update_edge (mechanism) on OC1")], "change the link (mechanism) on OC1"),
        ([NextStep("purpose.edit", "with add_node (node_type GOAL)")], "add an item (type goal)"),
        ([NextStep("purpose.record", "with decisions about AS1")], "record a decision about AS1"),
        (
            [NextStep("purpose.draft", "with profile strict begins one")],
            "start a draft of the plan with profile strict",
        ),
        ([NextStep("purpose.publish", "publishes it")], "publish the draft"),
        ([NextStep("project.restore", "restores it", {"project": "a"})], "groundplan project restore a restores it"),
    ],
)
def test_next_steps_are_instructions(steps: list[NextStep], sentence: str) -> None:
    assert PageVocabulary(OPERATIONS).tell(steps) == sentence


def test_only_operations_that_exist_have_words() -> None:
    assert [name for name in WORDS if name not in OPERATIONS] == []


def test_the_checklist_says_what_to_do_first_as_instructions(browser: Browser, engine: Engine) -> None:
    fill_theory(engine)
    browser.log_in()
    page = read_page(browser, "view=gates")

    assert "<li>Edit the draft to correct what gate A found, or waive it as an owner." in page
    assert "update_assumption" not in page[page.index("To do first") : page.index('id="compliance-markdown"')]
