"""A client of templates for tests: templates have names instead of ids.

client.create("Release", target="FEATURE")
client.add("Release", "Notes", contentSample="- ")
client.apply("Release", to=feature)
"""

from __future__ import annotations

from typing import Any

from groundplan.kernel.actors import Actor
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.operations.registry import Operation
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.work.containers import templates
from groundplan.work.containers.built_in_templates import BUILT_IN

ENABLE, DISABLE = templates.ENABLE, templates.DISABLE
NOWHERE = "00000000-0000-4000-8000-000000000000"  # an id that does not exist


class TemplatesClient:
    """An actor at the templates of an organization. Arguments that are no name are sent unchanged."""

    def __init__(self, session: Session, ids: dict[str, str] | None = None) -> None:
        self.session = session
        self.ids = {one.name: one.id for one in BUILT_IN.values()} if ids is None else ids

    def by(self, actor: Actor) -> TemplatesClient:
        """Return a client of another actor with the same names."""
        return TemplatesClient(Session(self.session.store, actor), self.ids)

    def with_cap(self, tokens: int) -> TemplatesClient:
        """Return a client of the same actor with a limit on the size of answers."""
        preferences = Preferences(answer_tokens_max=tokens)
        return TemplatesClient(Session(self.session.store, self.session.actor, preferences=preferences), self.ids)

    def run(self, operation: Operation[Any, Any], /, **arguments: Any) -> Any:
        validate_value(arguments)
        return self.session.run(operation, arguments)

    def __getitem__(self, name: str) -> str:
        return self.ids.get(name, name)

    def create(self, name: str, /, *, target: str = "TASK", **given: Any) -> Any:
        made = self.run(templates.CREATE, name=name, targetEntityType=target, **given).template
        self.ids[made.name] = made.id
        return made

    def update(self, name: str, /, **changes: Any) -> Any:
        return self.run(templates.UPDATE, id=self[name], **changes).template

    def delete(self, name: str, **given: Any) -> Any:
        return self.run(templates.DELETE, id=self[name], **given)

    def enable(self, name: str, **given: Any) -> Any:
        return self.run(ENABLE, id=self[name], **given).template

    def disable(self, name: str, **given: Any) -> Any:
        return self.run(DISABLE, id=self[name], **given).template

    def add(self, name: str, /, title: str, **given: Any) -> Any:
        return self.run(templates.ADD_SECTION, id=self[name], title=title, **given).section

    def apply(self, name: str, *, to: str, type: str = "TASK", **given: Any) -> Any:  # noqa: A002 - the field's name
        return self.run(templates.APPLY, templateId=self[name], entityType=type, entityId=to, **given)

    def get(self, name: str, **given: Any) -> Any:
        return self.run(templates.GET, id=self[name], **given).template

    def sections(self, name: str) -> list[Any]:
        sections: list[Any] = self.get(name, includeSections=True).sections
        return sections

    def names(self, **given: Any) -> list[str]:
        """Return the names of the templates that are listed."""
        answer = self.run(templates.LIST, **given)
        assert answer.count == len(answer.templates)
        return [one.name for one in answer.templates]

    def own_names(self, **given: Any) -> list[str]:
        """Return the same without the built-in templates."""
        constants = {one.name for one in BUILT_IN.values()}
        return [name for name in self.names(**given) if name not in constants]
