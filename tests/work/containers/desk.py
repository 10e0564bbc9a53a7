"""Containers on the desk: tests speak of features and tasks by names of their own, beside nodes of the graph."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.actors import Actor, ActorKind
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.work.desk import Work


class Containers(Work):
    """Somebody at work on one project, in either dialect. What is no name of a container is sent as it is."""

    def __init__(
        self,
        session: Session,
        project: str = "atlas",
        ids: dict[str, str] | None = None,
        features: set[str] | None = None,
    ) -> None:
        super().__init__(session, project, ids)
        self.features = set() if features is None else features  # by name, shared like the ids

    def by(self, who: str | Actor, *, kind: ActorKind = ActorKind.AGENT) -> Containers:
        other = super().by(who, kind=kind)
        return Containers(other.session, other.project, other.ids, self.features)

    def elsewhere(self, project: str) -> Containers:
        """The same person at another project, which is made; names are shared."""
        self.call("container.create", containerType="project", name=project)
        return Containers(self.session, project, self.ids, self.features)

    def capped(self, answer_tokens_max: int) -> Containers:
        """The same person, who gets no answers longer than this."""
        preferences = Preferences(answer_tokens_max=answer_tokens_max)
        session = Session(self.session.store, self.session.actor, preferences=preferences)
        return Containers(session, self.project, self.ids, self.features)

    # --- Changes ---

    def change_project(self, **given: Any) -> Any:
        """Update the project at its present version, unless the test says another."""
        asked = {"containerType": "project", "id": self.project, "version": self.project_shown().project.version}
        return self.call("container.update", **asked | given)

    def feature(self, name: str, /, **given: Any) -> Any:
        """Make a feature of that name."""
        made = self.call("container.create", containerType="feature", projectId=self.project, name=name, **given)
        self.ids[name] = made.feature.id
        self.features.add(name)
        return made

    def task(self, title: str, /, *, of: str | None = None, **given: Any) -> Any:
        """Make a task of that title, in a feature or in the project."""
        place = {"projectId": self.project} if of is None else {"featureId": self[of]}
        made = self.call("container.create", containerType="task", title=title, **place, **given)
        self.ids[title] = made.task.id
        return made

    def tasks(self, *titles: str, of: str | None = None) -> None:
        for title in titles:
            self.task(title, of=of)

    def change(self, name: str, /, **given: Any) -> Any:
        """Update a container at its present version, unless the test says another."""
        return self._at_version("container.update", name, **given)

    def advance(self, name: str, /, **given: Any) -> Any:
        return self._at_version("container.advance", name, **given)

    def close(self, name: str) -> Any:
        """Advance a task or a feature to its end; the last answer."""
        answer = self.advance(name)
        while self.state(name).next_status is not None:
            answer = self.advance(name)
        return answer

    def revert(self, name: str, /, **given: Any) -> Any:
        return self._at_version("container.revert", name, **given)

    def terminate(self, name: str, /, **given: Any) -> Any:
        return self._at_version("container.terminate", name, **given)

    def block(self, name: str, /, *by: str, **given: Any) -> Any:
        return self._at_version("container.block", name, blockedBy=[self[one] for one in by], **given)

    def hold(self, name: str, reason: str = "wait for it") -> Any:
        return self.block(name, "NO_OP", blockedReason=reason)

    def unblock(self, name: str, /, *by: str, **given: Any) -> Any:
        return self._at_version("container.unblock", name, blockedBy=[self[one] for one in by], **given)

    def delete(self, name: str, /, **given: Any) -> Any:
        return self._at_version("container.delete", name, **given)

    def depend(self, blocker: str, blocked: str, **given: Any) -> Any:
        """Let the first block the second."""
        return self.call("dependency.create", fromId=self[blocker], toId=self[blocked], **given)

    # --- Questions ---

    def shown(self, name: str, /, **given: Any) -> Any:
        """A task or a feature as it is shown."""
        kind = self.kind(name)
        return getattr(self.call("container.get", containerType=kind, id=self[name], **given), kind)

    def status(self, name: str) -> str:
        return str(self.shown(name).status)

    def project_shown(self, **given: Any) -> Any:
        return self.call("container.get", containerType="project", id=self.project, **given)

    def named(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A request as it is sent, in which a value like `@walk` stands for the id of what the test calls walk."""
        return {key: self[one[1:]] if str(one).startswith("@") else one for key, one in asked.items()}

    def counted(self, feature: str | None = None) -> dict[str, int]:
        """How many tasks stand at each status, in a feature or in the project."""
        if feature is None:
            counts = self.project_shown().task_counts
        else:
            counts = self.call("container.get", containerType="feature", id=self[feature]).task_counts
        assert counts.total == sum(counts.by_status.values())
        by_status: dict[str, int] = counts.by_status
        return by_status

    def found(self, container_type: str = "task", **given: Any) -> list[str]:
        """How the test calls what a search finds in the project."""
        asked = {"projectId": self.project, "limit": 100} | given
        return self.names(self.call("container.search", containerType=container_type, **asked).items)

    def statuses(self, *names: str) -> list[str]:
        return [self.status(name) for name in names]

    def version(self, name: str) -> int:
        return int(self.shown(name).version)

    def state(self, name: str) -> Any:
        return self.call("container.workflow_state", containerType=self.kind(name), id=self[name])

    def next_task(self, **given: Any) -> str | None:
        """How the test calls the task to do next, if there is one."""
        found = self.call("container.next_task", **{"projectId": self.project, **given})
        return None if found is None else self.name(found.id)

    def kind(self, name: str) -> str:
        """Whether something is a feature or a task."""
        return "feature" if name in self.features else "task"

    def _at_version(self, operation: str, name: str, /, **given: Any) -> Any:
        asked = {"containerType": self.kind(name), "id": self[name], **given}
        if "version" not in asked:
            asked["version"] = self.state(name).version
        return self.call(operation, **asked)
