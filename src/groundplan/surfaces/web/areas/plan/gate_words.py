"""The texts for each check of the gates: a heading for the problem, and the remedy."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.model import Profile


class CheckWords(NamedTuple):
    """The texts for a failing check: a heading, and the remedy."""

    title: str
    advice: str


CHECKS = {
    "GA_ASSUMPTIONS": CheckWords(
        "Links to outcomes and goals that rest on no stated assumption",
        "Write down what must hold for the link to work. Who reads the plan can then watch it.",
    ),
    "GA_CONTEXT": CheckWords(
        "The facts of the project are not committed",
        "Commit the facts that the plan stands on. Then this version names the facts that it was made with.",
    ),
    "GA_CROSS_VERSION": CheckWords(
        "Something refers to an item that is not in this version",
        "Remove what refers to it, or add the missing item again.",
    ),
    "GA_CYCLE": CheckWords(
        "Links lead in a circle",
        "An effect cannot be its own cause. Remove one link of the circle, or mark it as feedback.",
    ),
    "GA_DEAD_END": CheckWords(
        "Activities that lead to nothing", "Link each activity to what it brings about, or remove it."
    ),
    "GA_DUP_EDGE": CheckWords("Links that exist twice", "Remove the link, and add it once."),
    "GA_GOAL_COUNT": CheckWords(
        "The number of goals is not right",
        "A theory needs a goal. With the profile strict it has exactly one.",
    ),
    "GA_HIGH_RISK": CheckWords(
        "Assumptions of high risk that are not watched",
        "Name who watches the assumption, and the day by which it is reviewed.",
    ),
    "GA_LEAP": CheckWords(
        "Links that skip a level",
        "Say what comes between: add the missing output or outcome, and link through it.",
    ),
    "GA_LOW_CONFIDENCE": CheckWords(
        "Doubtful links without an assumption",
        "Say what the doubt is about: write down the assumption on which the link depends.",
    ),
    "GA_MECHANISM": CheckWords(
        "Links that do not say how they work", "Say in one sentence how the one brings about the other."
    ),
    "GA_MIN_TYPES": CheckWords(
        "A level of the theory is missing", "A theory needs a goal, an outcome and an output. Add what is missing."
    ),
    "GA_ORPHANS": CheckWords("Items that lead to no goal", "Link each item to what it contributes to, or remove it."),
    "GA_OUTCOME_COVERAGE": CheckWords(
        "Outcomes that are not measured", "Add an indicator that shows whether the outcome is reached."
    ),
    "GA_REFUTED": CheckWords(
        "Assumptions that turned out wrong, without a decision",
        "Decide what follows from it, and say why. Or change what depends on the assumption.",
    ),
    "GA_RLS": CheckWords(
        "The database does not separate organizations as it should",
        "This is for who runs the server: run the migrations as the owner of the database, and connect as the "
        "application.",
    ),
    "GA_SELF_EDGE": CheckWords("Links from an item to itself", "Remove the link."),
    "GA_STRUCTURE": CheckWords(
        "Items whose metadata says where they belong",
        "Link the items instead, and remove the parent, the children or the path from the metadata.",
    ),
    "GA_TITLE": CheckWords("Items without a title, or with the title of another", "Give each item its own title."),
    "GA_TYPE_CHAIN": CheckWords(
        "Links that lead against the levels",
        "Causes come before effects: activity, output, outcome, goal. Remove the link, change the type of one end, "
        "or mark the link as feedback.",
    ),
    "GB_BASELINE": CheckWords(
        "Indicators without a baseline", "Say where the indicator stood before the work began, so that change shows."
    ),
    "GB_FACTS": CheckWords("Required facts without a value", "Set the facts, and commit them."),
    "GB_INDICATORS": CheckWords(
        "Outcomes that are not measured", "Add an indicator to each outcome. Without one no effect can be shown."
    ),
    "GB_PLAN": CheckWords(
        "Indicators without a plan for measuring", "Say how, how often and by whom the indicator is measured."
    ),
    "GB_TARGET": CheckWords("Indicators without a target", "Say which value is the aim."),
    "GB_VERIFIED": CheckWords(
        "Baselines that are not verified", "Check where the number comes from, then mark it as verified."
    ),
    "GB_WORK": CheckWords(
        "Activities without any work", "Plan a task that does the activity, or link a task that serves it."
    ),
}

GATES = {
    "A": CheckWords("Gate A: the theory holds together", "Its items lead to a goal, and its risks are watched."),
    "B": CheckWords(
        "Gate B: ready to run and to measure", "Its effects can be measured, and its activities have work."
    ),
}

PROFILES = {
    Profile.LIGHT: "For a first sketch. Only what would make the plan unusable blocks: a goal must exist.",
    Profile.STANDARD: "For most projects. Gaps in the structure and unwatched high risks block; the rest is a warning.",
    Profile.STRICT: "For funded programmes. Almost every check blocks, exactly one goal, no level skipped.",
}
