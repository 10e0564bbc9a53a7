"""A client of containers for tests: features and tasks have names instead of ids."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.actors import Actor, ActorKind
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.work.client import WorkClient


class ContainersClient(WorkClient):
    """An actor at one project, in either dialect. Arguments that are no name of a container are sent unchanged."""

    def __init__(
        self,
        session: Session,
        project: str = "atlas",
        ids: dict[str, str] | None = None,
        features: set[str] | None = None,
    ) -> None:
        super().__init__(session, project, ids)
        self.features = set() if features is None else features  # by name, shared like the ids

    def by(self, who: str | Actor, *, kind: ActorKind = ActorKind.AGENT) -> ContainersClient:
        other = super().by(who, kind=kind)
        return ContainersClient(other.session, other.project, other.ids, self.features)

    def create_project(self, project: str) -> ContainersClient:
        """Create another project and return a client of it with the same names."""
        self.call("container.create", containerType="project", name=project)
        return ContainersClient(self.session, project, self.ids, self.features)

    def with_cap(self, answer_tokens_max: int) -> ContainersClient:
        """Return a client of the same actor with a limit on the size of answers."""
        preferences = Preferences(answer_tokens_max=answer_tokens_max)
        session = Session(self.session.store, self.session.actor, preferences=preferences)
        return ContainersClient(session, self.project, self.ids, self.features)

    # --- Changes ---

    def change_project(self, **given: Any) -> Any:
        """Update the project, at its current version unless `version` is given."""
        asked = {"containerType": "project", "id": self.project, "version": self.get_project().project.version}
        return self.call("container.update", **asked | given)

    def feature(self, name: str, /, **given: Any) -> Any:
        """Create a feature with this name."""
        made = self.call("container.create", containerType="feature", projectId=self.project, name=name, **given)
        self.ids[name] = made.feature.id
        self.features.add(name)
        return made

    def task(self, title: str, /, *, of: str | None = None, **given: Any) -> Any:
        """Create a task with this title, in a feature or in the project."""
        place = {"projectId": self.project} if of is None else {"featureId": self[of]}
        made = self.call("container.create", containerType="task", title=title, **place, **given)
        self.ids[title] = made.task.id
        return made

    def tasks(self, *titles: str, of: str | None = None) -> None:
        for title in titles:
            self.task(title, of=of)

    def change(self, name: str, /, **given: Any) -> Any:
        """Update a container, at its current version unless `version` is given."""
        return self._at_version("container.update", name, **given)

    def advance(self, name: str, /, **given: Any) -> Any:
        return self._at_version("container.advance", name, **given)

    def close(self, name: str) -> Any:
        """Advance a task or a feature until it is closed, and return the last answer."""
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
        """Make `blocker` block `blocked`."""
        return self.call("dependency.create", fromId=self[blocker], toId=self[blocked], **given)

    # --- Questions ---

    def get(self, name: str, /, **given: Any) -> Any:
        """Return a task or a feature."""
        kind = self.kind(name)
        return getattr(self.call("container.get", containerType=kind, id=self[name], **given), kind)

    def status(self, name: str) -> str:
        return str(self.get(name).status)

    def get_project(self, **given: Any) -> Any:
        return self.call("container.get", containerType="project", id=self.project, **given)

    def insert_ids(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return a request with each value like `@walk` replaced by the id of walk."""
        return {key: self[one[1:]] if str(one).startswith("@") else one for key, one in asked.items()}

    def count_by_status(self, feature: str | None = None) -> dict[str, int]:
        """Return the number of tasks by status, in a feature or in the project."""
        if feature is None:
            counts = self.get_project().task_counts
        else:
            counts = self.call("container.get", containerType="feature", id=self[feature]).task_counts
        assert counts.total == sum(counts.by_status.values())
        by_status: dict[str, int] = counts.by_status
        return by_status

    def search(self, container_type: str = "task", **given: Any) -> list[str]:
        """Search the project and return the test's names of what is found."""
        asked = {"projectId": self.project, "limit": 100} | given
        return self.names(self.call("container.search", containerType=container_type, **asked).items)

    def statuses(self, *names: str) -> list[str]:
        return [self.status(name) for name in names]

    def version(self, name: str) -> int:
        return int(self.get(name).version)

    def state(self, name: str) -> Any:
        return self.call("container.workflow_state", containerType=self.kind(name), id=self[name])

    def next_task(self, **given: Any) -> str | None:
        """Return the test's name of the next task, or None."""
        found = self.call("container.next_task", **{"projectId": self.project, **given})
        return None if found is None else self.name(found.id)

    def kind(self, name: str) -> str:
        """Return whether a name is of a feature or of a task."""
        return "feature" if name in self.features else "task"

    def _at_version(self, operation: str, name: str, /, **given: Any) -> Any:
        asked = {"containerType": self.kind(name), "id": self[name], **given}
        if "version" not in asked:
            asked["version"] = self.state(name).version
        return self.call(operation, **asked)
