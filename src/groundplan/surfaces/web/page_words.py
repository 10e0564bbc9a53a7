"""How the page names operations in sentences: by what a person does on it, else by the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.kernel.operations.registry import Registry
from groundplan.surfaces.vocabularies import CliVocabulary

WORDS = {  # each begins a sentence such as “… sets /site/owner”
    "purpose.edit": "an edit of the draft",
    "purpose.draft": "a new draft of the plan",
    "purpose.discard": "discarding the draft",
    "purpose.publish": "publishing the draft",
    "purpose.record": "a recorded decision, review or waiver",
    "purpose.check": "the check of the gates",
    "purpose.open": "the page of the plan",
    "context.edit": "an edit of the facts",
    "context.create_draft": "a new draft of the facts",
    "context.commit": "a commit of the facts",
    "context.discard": "discarding the draft of the facts",
    "context.view": "the page of the facts",
    "work.plan": "adding tasks",
    "work.update": "an edit of the task",
    "work.claim": "a claim",
    "work.connect": "a link between tasks",
    "work.restructure": "moving, merging or dropping tasks",
    "work.context": "the page of the task",
    "work.query": "a search in the tasks",
    "work.history": "the history of the task",
    "knowledge.create": "writing a note",
    "knowledge.update": "an edit of the note",
    "knowledge.delete": "deleting the note",
    "knowledge.append_changelog": "an entry of the changelog",
    "knowledge.search": "the page of knowledge",
    "knowledge.get": "the page of the note",
    "member.list": "the page of the members",
    "member.add": "adding a member",
    "event.list": "the history",
    "briefing.inbox": "the inbox",
    "briefing.search": "a search",
    "briefing.undo": "undoing it",
}


class PageVocabulary:
    """The vocabulary of the page."""

    def __init__(self, operations: Registry) -> None:
        self._commands = CliVocabulary(operations)

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return what a person does on the page; else the command."""
        return WORDS.get(operation) or self._commands.spell(operation, arguments)

    def call(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the command as data."""
        return self._commands.call(operation, arguments)
