"""List the waivers of a picture below it, in words. A waiver is the only way past a check, so no picture hides it."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.purpose.observing.records import Waiver
from groundplan.purpose.picture.notes.blocks import Note, NoteBlock, draw_block
from groundplan.purpose.picture.tokens import Paint
from groundplan.purpose.picture.wording import clean_line

# What each check that can be waived asks for. A reader of the picture knows no codes.
EXPECTATIONS = {
    "GA_ASSUMPTIONS": "links to outcomes and goals have assumptions",
    "GA_CONTEXT": "the facts of the project are committed",
    "GA_CYCLE": "no chain of links leads back to its start",
    "GA_DEAD_END": "every activity contributes to something",
    "GA_GOAL_COUNT": "there is the right number of goals",
    "GA_HIGH_RISK": "assumptions of high risk have an owner and a review date",
    "GA_LEAP": "no link skips a level",
    "GA_LOW_CONFIDENCE": "links of low confidence have assumptions",
    "GA_MECHANISM": "every link says how it works",
    "GA_MIN_TYPES": "there are goals, outcomes and outputs",
    "GA_ORPHANS": "everything leads to a goal",
    "GA_OUTCOME_COVERAGE": "every outcome has an indicator",
    "GA_REFUTED": "refuted assumptions have a decision",
    "GA_TITLE": "titles are there, and differ",
    "GA_TYPE_CHAIN": "links lead up the levels",
    "GB_BASELINE": "indicators of outcomes and goals have a baseline",
    "GB_FACTS": "the required facts are set",
    "GB_INDICATORS": "outcomes have indicators",
    "GB_PLAN": "indicators have a method, a frequency and an owner",
    "GB_TARGET": "indicators of outcomes and goals have a target",
    "GB_VERIFIED": "baselines are verified",
    "GB_WORK": "every activity is served by work",
}
UNKNOWN = "a rule of this project"


def draw_waivers(waivers: Sequence[Waiver], place: tuple[float, float, float], scale: float, paint: Paint) -> NoteBlock:
    """Draw the waivers, each with the rule that does not apply, and until when."""
    return draw_block("Waivers", [_build_note(one) for one in waivers], place, scale, paint, "gp-waivers")


def _build_note(waiver: Waiver) -> Note:
    refs = ", ".join(ref.split("/")[0].replace("->", " to ") if "->" in ref else ref for ref in waiver.refs)
    about = f" ({refs})" if refs else ""
    rule = EXPECTATIONS.get(waiver.code, UNKNOWN)
    heading = f"Waived until {waiver.due} by {clean_line(waiver.owner)}"
    return Note(heading, f"The rule that {rule}{about}: {clean_line(waiver.reason)}")
