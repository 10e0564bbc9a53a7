"""Hints for people who use the words of every day: `pl find WORDS finds nodes by text`.

An operation without a word, and one that only the long command can express, is named by its command.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.kernel.errors import NextStep, Vocabulary
from groundplan.surfaces.cli.failures import load_vocabulary
from groundplan.surfaces.cli.program_name import get_program_name

TITLE = '"what is to be done"'
EVIDENCE = "-e TYPE:REF"


class WordHint(NamedTuple):
    """A word with its arguments, of which `{id}` is the node of the step; and its effect, if that differs."""

    line: str
    effect: str | None = None


# By operation.
HINTS: Mapping[str, WordHint] = {
    "work.query": WordHint("find WORDS"),
    "container.search": WordHint("find WORDS"),
    "briefing.search": WordHint("find WORDS"),
    "work.next": WordHint("next"),
    "work.claim": WordHint("take {id}"),
    "work.plan": WordHint(f"add {TITLE}"),
    "work.context": WordHint("show {id}"),
    "work.history": WordHint("log {id}"),
    "container.workflow_state": WordHint("show {id}"),
    "briefing.inbox": WordHint("inbox"),
    "event.list": WordHint("log"),
    "briefing.undo": WordHint("undo"),
    "container.block": WordHint("hold {id} -m WHY"),
    "container.unblock": WordHint("hold {id} --off"),
}
# By operation and effect, for effects that name arguments of the operation.
HINTS_OF_EFFECTS: Mapping[tuple[str, str], WordHint] = {
    ("briefing.undo", "takes back the change before it"): WordHint("undo {id}"),
    ("work.next", "offers another node without node_id"): WordHint("next", "offers another one"),
    ("work.next", "claims a node"): WordHint("take"),
    ("work.next", "claims it again"): WordHint("take {id}"),
    ("work.update", "adds it with add_evidence"): WordHint(f"done {{id}} {EVIDENCE}", "adds it"),
    ("work.update", "finishes a node with resolved: true"): WordHint("done {id}", "finishes a node"),
    ("work.update", "with resolved false reopens it"): WordHint("done {id} --off", "reopens it"),
    ("work.update", "finishes it all the same"): WordHint("done {id} --force -m WHY"),
}
_ID_ARGUMENTS = ("node_id", "id", "containerId", "event")


class WordVocabulary(Vocabulary):
    """A vocabulary of the words of every day, which begin with the name under which the program was started."""

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the word with its arguments, else the command."""
        hint = HINTS.get("work.claim" if operation == "work.next" and arguments.get("claim") else operation)
        return load_vocabulary().spell(operation, arguments) if hint is None else _fill(hint, arguments)

    def call(self, operation: str, arguments: Mapping[str, Any], fill: Sequence[str] = ()) -> dict[str, Any]:
        """Return the command line as data."""
        return {"command": self.spell(operation, arguments)}

    def tell(self, steps: Iterable[NextStep]) -> str:
        """Return one sentence with the effect of each step."""
        return "; ".join(map(self._describe, steps))

    def _describe(self, step: NextStep) -> str:
        hint = HINTS_OF_EFFECTS.get((step.operation, step.effect))
        if hint is None:
            return f"{self.spell(step.operation, step.arguments)} {step.effect}"
        return f"{_fill(hint, step.arguments)} {hint.effect or step.effect}"


def _fill(hint: WordHint, arguments: Mapping[str, Any]) -> str:
    given = {**arguments, **next(iter(arguments.get("updates", ())), {})}
    id_ = next((given[name] for name in _ID_ARGUMENTS if isinstance(given.get(name), str)), None)
    return f"{get_program_name()} {hint.line.format(id=shlex.quote(id_) if id_ else 'ID')}"
