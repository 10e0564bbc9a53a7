"""The briefing as Markdown: the same content under headings, and no stored text becomes structure."""

from __future__ import annotations

import re

from tests.briefing.client import BriefingClient
from tests.purpose.client import op

HOSTILE = "# not a heading\n\n```\n<script>alert(1)</script> [x](javascript:alert(1)) | `` **bold**\n> quote\n"


def write(plan: BriefingClient, budget: int = 4_000) -> str:
    text: str = plan.call("briefing.brief", node_id=plan["task"], budget=budget, markdown=True).markdown
    return text


def test_every_list_has_its_heading_and_empty_ones_have_none(plan: BriefingClient) -> None:
    plan.update("phase", state="begun", decision="two people only")

    headings = re.findall(r"^## (.*)$", write(plan), re.MULTILINE)

    assert headings == ["Knowledge", "Missing", "Constraints", "Facts", "Before", "Why", "Decisions"]


def test_the_description_stands_in_it_whether_the_node_or_the_briefing_has_it(plan: BriefingClient) -> None:
    description = "\n".join(f"# step {number}" for number in range(30))
    plan.update("task", properties={"description": description})

    for budget in (300, 4_000):
        text = write(plan, budget)
        assert text.count("## Description\n\n```\n# step 0\n# step 1\n") == 1, budget


def test_it_says_what_the_data_says(plan: BriefingClient) -> None:
    text = write(plan)

    for part in (
        "a printed map",
        "shops give it away",
        "shops take part",
        "25000",
        "/colour",
        "A2",
        "Longitude",
        "north",
    ):
        assert part in text


def test_an_empty_text_is_a_value_that_can_be_seen(plan: BriefingClient) -> None:
    plan.facts.draft()
    plan.facts.write("/area", "", label="Area", valueKind="string")
    plan.facts.commit(allowPartial=True)

    assert '- Area `/area`: `""` (user-entered' in write(plan)


def test_hostile_text_stays_text(plan: BriefingClient) -> None:
    plan.know("`# x", "src/map.py", f"{HOSTILE}````\n# inside\n````")
    plan.purpose.edit(op("update_node", node="OP1", title=HOSTILE.replace("\n", " ")))
    plan.update("task", summary=HOSTILE.replace("\n", " "))

    text = write(plan)
    outside = re.sub(r"^(`{3,})\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)

    assert "<script>" not in outside.replace("\\<script>", "")
    assert re.findall(r"^# ", outside, re.MULTILINE) == ["# "]
    assert "# inside" not in outside


def test_it_fits_its_budget_and_says_what_is_not_shown(plan: BriefingClient) -> None:
    for number in range(30):
        plan.know(f"Atom {number}", "src/**", "\\*_[]`" * 40)

    for budget in (200, 300, 700, 1_500):
        text = write(plan, budget)
        assert len(text) <= budget * 4
    assert "Not shown: " in write(plan, 700)
