"""How the page says next steps: as instructions for a person who looks at it, else by the command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from groundplan.kernel.errors import NextStep, Vocabulary
from groundplan.kernel.operations.registry import Registry
from groundplan.surfaces.vocabularies import CliVocabulary

WORDS = {  # each begins an instruction such as “edit the facts to set /site/owner”
    "purpose.edit": "edit the draft",
    "purpose.draft": "start a draft of the plan",
    "purpose.discard": "discard the draft",
    "purpose.publish": "publish the draft",
    "purpose.record": "record a decision, a review or a waiver",
    "purpose.check": "look at the gates",
    "purpose.open": "look at the plan",
    "purpose.versions": "look at the versions of the plan",
    "context.edit": "edit the facts",
    "context.create_draft": "start a draft of the facts",
    "context.commit": "commit the facts",
    "context.discard": "discard the draft of the facts",
    "context.view": "look at the facts",
    "work.plan": "add tasks",
    "work.update": "edit the task",
    "work.claim": "claim the task",
    "work.connect": "link the tasks",
    "work.restructure": "move, merge or drop tasks",
    "work.context": "look at the task",
    "work.query": "search in the tasks",
    "work.history": "look at the history of the task",
    "knowledge.create": "write a note",
    "knowledge.update": "edit the note",
    "knowledge.delete": "delete the note",
    "knowledge.append_changelog": "add to the changelog",
    "knowledge.search": "look at the knowledge",
    "knowledge.get": "look at the note",
    "member.list": "look at the members",
    "member.add": "add a member",
    "event.list": "look at the history",
    "briefing.inbox": "look at the inbox",
    "briefing.search": "search everything",
    "briefing.undo": "undo it",
}
PARTS = {  # of the edits that a step names
    r"\badd_node\b": "add an item",
    r"\badd_edge\b": "add a link",
    r"\badd_assumption\b": "add an assumption",
    r"\badd_indicator\b": "add an indicator",
    r"\bupdate_node\b": "change the item",
    r"\bupdate_edge\b": "change the link",
    r"\bupdate_assumption\b": "change the assumption",
    r"\bupdate_indicator\b": "change the indicator",
    r"\bremove_node\b": "remove the item",
    r"\bremove_edge\b": "remove the link",
    r"\bremove_assumption\b": "remove the assumption",
    r"\bremove_indicator\b": "remove the indicator",
    r"\b(?:new_edge|node)_type\b": "type",
    r"\breview_by\b": "review by",
    r"\bbaseline_verified true\b": "baseline verified",
}
TYPES = re.compile(r"\b(?:FEEDBACK|GOAL|OUTCOME|OUTPUT|ACTIVITY)\b")
SEEN = frozenset({"shows", "lists"})  # what a page shows, a person sees there
OWNER = re.compile(r"with \w+ lets an owner (?P<act>.+)")
HISSING = re.compile(r"(?:sh|ch|ss|x|z|o)es")


class PageVocabulary(Vocabulary):
    """The vocabulary of the page."""

    def __init__(self, operations: Registry) -> None:
        self._commands = CliVocabulary(operations)

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return what a person does on the page; else the command."""
        return WORDS.get(operation) or self._commands.spell(operation, arguments)

    def call(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the command as data."""
        return self._commands.call(operation, arguments)

    def tell(self, steps: Iterable[NextStep]) -> str:
        """Return the steps as instructions: `edit the draft to correct it, or waive it as an owner`."""
        sentence = ""
        for step in steps:
            # What only an owner may do is the other way out; all other steps follow each other.
            between = ", or " if OWNER.fullmatch(step.effect) else "; "
            sentence += f"{between if sentence else ''}{self._instruct(step)}"
        return sentence

    def _instruct(self, step: NextStep) -> str:
        if step.operation not in WORDS:
            return f"{self.spell(step.operation, step.arguments)} {step.effect}"
        if owner := OWNER.fullmatch(step.effect):
            return f"{owner['act']} as an owner"
        effect = step.effect.removeprefix("without allowPartial ").removesuffix(" begins one")
        first, _, rest = effect.partition(" ")
        if step.operation == "purpose.edit" and first == "with":
            return _say_edit(rest)
        if step.operation == "purpose.record" and rest.startswith("decisions "):
            return f"record a decision {rest.removeprefix('decisions ')}"
        if first == "with":
            return f"{WORDS[step.operation]} {effect}"
        act = _get_infinitive(first)
        is_said = WORDS[step.operation].startswith(f"{act} ")  # “publish the draft to publish it” says it twice
        return WORDS[step.operation] if is_said else f"{WORDS[step.operation]} to {act} {rest}".rstrip()


def _say_edit(instruction: str) -> str:
    for pattern, words in PARTS.items():
        instruction = re.sub(pattern, words, instruction)
    return TYPES.sub(lambda found: found[0].lower(), instruction)


def _get_infinitive(verb: str) -> str:
    """Return the verb of an effect as it stands after “to”."""
    if verb in SEEN:
        return "see"
    return verb[:-2] if HISSING.search(verb) else verb.removesuffix("s")
