"""A client of one scope's facts for tests: sources have names instead of ids, and inputs are named by pointer.

client.draft()
client.source("survey")
client.write("/site/size", 5000)
client.agent.write("/site/size", 4800, rationale="measured on the map")
"""

from __future__ import annotations

import uuid
from typing import Any

from groundplan.context.schemas import ContextView, PcivInputV1, Suggestion
from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.session import Session

NOWHERE = "00000000-0000-4000-8000-000000000000"  # an id that does not exist


class ContextClient:
    """An actor at the facts of one scope, with a current run."""

    def __init__(self, session: Session, scope: str = "atlas", ids: dict[str, str] | None = None) -> None:
        self.session = session
        self.scope = scope
        self.ids = (
            {} if ids is None else ids
        )  # the run, and the sources by name; shared with the clients that `by` returns

    def by(self, who: str | Actor, kind: ActorKind = ActorKind.AGENT) -> ContextClient:
        """Return a client of another actor with the same run and names; a bare name is an agent."""
        actor = local_actor(who, kind=kind) if isinstance(who, str) else who
        return ContextClient(
            Session(self.session.store, actor, preferences=self.session.preferences), self.scope, self.ids
        )

    @property
    def agent(self) -> ContextClient:
        return self.by("claude")

    def call(self, operation: str, /, **arguments: Any) -> Any:
        return self.session.call(operation, **arguments)

    @property
    def run(self) -> str:
        """The current run."""
        return self.ids["run"]

    def __getitem__(self, name: str) -> str:
        return self.ids.get(name, name)

    def draft(self, **given: Any) -> str:
        """Create a draft and make it the current run."""
        self.ids["run"] = self.call("context.create_draft", scopeId=self.scope, **given).run.id
        return self.run

    def edit(self, **given: Any) -> Any:
        return self.call("context.edit", **{"runId": self.run, **given})

    def source(self, name: str, **given: Any) -> str:
        """Add a source with this name."""
        self.ids[name] = str(uuid.uuid4())
        row = {"id": self.ids[name], "kind": "url", "title": name, "uri": f"https://example.org/{name}", **given}
        self.edit(sources=[row])
        return self.ids[name]

    def write(self, pointer: str, value: Any = ..., /, **given: Any) -> Any:
        """Write one input; a new one has its pointer as its label."""
        row = {"pointer": pointer, **({} if value is ... else {"value": value}), **given}
        if "sourceIds" in row:
            row["sourceIds"] = [self[name] for name in row["sourceIds"]]
        if "label" not in row and pointer not in self.view().inputs_by_pointer:
            row["label"] = pointer
        return self.edit(inputs=[row])

    def constrain(self, key: str, value: Any = ..., /, **given: Any) -> str:
        """Write one constraint and return its id."""
        row = {"key": key, "label": key, **({} if value is ... else {"value": value}), **given}
        return str(self.edit(constraints=[row]).constraints[0].id)

    def commit(self, **given: Any) -> Any:
        return self.call("context.commit", **{"runId": self.run, **given})

    def view(self, **given: Any) -> ContextView:
        found: ContextView = self.call("context.view", **{"scopeId": self.scope, "runId": self.run, **given})
        return found

    def view_in_force(self, **given: Any) -> ContextView:
        found: ContextView = self.call("context.view", scopeId=self.scope, **given)
        return found

    def input(self, pointer: str) -> PcivInputV1:
        return self.view().inputs_by_pointer[pointer]

    def suggestions(self) -> list[Suggestion]:
        return self.view().suggestions or []


def value_of(one: Any) -> Any:
    """Return the value of a row, by its kind."""
    return getattr(one, f"value_{one.value_kind.value}")
