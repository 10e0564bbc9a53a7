"""Facts on the desk: tests speak of sources by names of their own, and of inputs by their pointers.

desk.draft()
desk.source("survey")
desk.write("/site/size", 5000)
desk.agent.write("/site/size", 4800, rationale="measured on the map")
"""

from __future__ import annotations

import uuid
from typing import Any

from groundplan.context.schemas import ContextView, PcivInputV1, Suggestion
from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.session import Session

NOWHERE = "00000000-0000-4000-8000-000000000000"  # the id of nothing


class Facts:
    """Somebody at the facts of one scope, with one run in hand."""

    def __init__(self, session: Session, scope: str = "atlas", hand: dict[str, str] | None = None) -> None:
        self.session = session
        self.scope = scope
        self.hand = {} if hand is None else hand  # the run, and the sources by name; shared by everybody at this desk

    def by(self, who: str | Actor, kind: ActorKind = ActorKind.AGENT) -> Facts:
        """Somebody else at the same desk; a bare name is an agent."""
        actor = local_actor(who, kind=kind) if isinstance(who, str) else who
        return Facts(Session(self.session.store, actor, preferences=self.session.preferences), self.scope, self.hand)

    @property
    def agent(self) -> Facts:
        return self.by("claude")

    def call(self, operation: str, /, **arguments: Any) -> Any:
        return self.session.call(operation, **arguments)

    @property
    def run(self) -> str:
        """The run in hand."""
        return self.hand["run"]

    def __getitem__(self, name: str) -> str:
        return self.hand.get(name, name)

    def draft(self, **given: Any) -> str:
        """Begin a draft and take it in hand."""
        self.hand["run"] = self.call("context.create_draft", scopeId=self.scope, **given).run.id
        return self.run

    def edit(self, **given: Any) -> Any:
        return self.call("context.edit", **{"runId": self.run, **given})

    def source(self, name: str, **given: Any) -> str:
        """A source that the test calls by a name."""
        self.hand[name] = str(uuid.uuid4())
        row = {"id": self.hand[name], "kind": "url", "title": name, "uri": f"https://example.org/{name}", **given}
        self.edit(sources=[row])
        return self.hand[name]

    def write(self, pointer: str, value: Any = ..., /, **given: Any) -> Any:
        """Write one input; a new one is called as its pointer."""
        row = {"pointer": pointer, **({} if value is ... else {"value": value}), **given}
        if "sourceIds" in row:
            row["sourceIds"] = [self[name] for name in row["sourceIds"]]
        if "label" not in row and pointer not in self.view().inputs_by_pointer:
            row["label"] = pointer
        return self.edit(inputs=[row])

    def constrain(self, key: str, value: Any = ..., /, **given: Any) -> str:
        """Write one constraint, and give its id."""
        row = {"key": key, "label": key, **({} if value is ... else {"value": value}), **given}
        return str(self.edit(constraints=[row]).constraints[0].id)

    def commit(self, **given: Any) -> Any:
        return self.call("context.commit", **{"runId": self.run, **given})

    def view(self, **given: Any) -> ContextView:
        found: ContextView = self.call("context.view", **{"scopeId": self.scope, "runId": self.run, **given})
        return found

    def in_force(self, **given: Any) -> ContextView:
        found: ContextView = self.call("context.view", scopeId=self.scope, **given)
        return found

    def input(self, pointer: str) -> PcivInputV1:
        return self.view().inputs_by_pointer[pointer]

    def waiting(self) -> list[Suggestion]:
        return self.view().suggestions or []


def value_of(one: Any) -> Any:
    """The value that a row holds, by its kind."""
    return getattr(one, f"value_{one.value_kind.value}")
