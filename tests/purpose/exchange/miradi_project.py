"""Small Miradi projects for tests, written as Miradi writes them.

    project = MiradiProject()
    patrols = project.factor("Strategy", "Patrols")
    reefs = project.factor("BiodiversityTarget", "Reefs")
    project.link(patrols, reefs)
    project.file()

Names and texts are XML, so that they can be formatted. The first link of a factor puts it on a diagram; `again=True`
puts it on another one.
"""

from __future__ import annotations

import io
import zipfile
from typing import NamedTuple

NAMESPACE = "http://xml.miradi.org/schema/ConservationProject/248"


class Factor(NamedTuple):
    kind: str
    id: str

    @property
    def ref(self) -> str:
        return f"{self.kind}-{self.id}"


class MiradiProject:
    """A project: pools of objects, as XML."""

    def __init__(self, *, prefix: str = "miradi:", namespace: str = NAMESPACE) -> None:
        self._prefix = prefix
        self._namespace = namespace
        self._pools: dict[str, list[str]] = {}
        self._placed: dict[Factor, str] = {}
        self._last_id = 0

    def factor(self, kind: str, name: str | None = None, *, called: str | None = None, **fields: str) -> Factor:
        """Add an object to its pool, with a new or a given Id. Fields are XML."""
        factor = Factor(kind, self._new_id() if called is None else called)
        self._put(kind, factor.id, ({} if name is None else {"Name": name}) | fields)
        return factor

    def place(self, factor: Factor, *, again: bool = False) -> str:
        """Return the diagram factor of a factor."""
        if again or factor not in self._placed:
            self._placed[factor] = self._new_id()
            wrapped = self.tag("WrappedByDiagramFactorId", self.tag(f"{factor.kind}Id", factor.id))
            self._put("DiagramFactor", self._placed[factor], {"WrappedFactorId": wrapped})
        return self._placed[factor]

    def link(
        self,
        source: Factor,
        target: Factor,
        *,
        again: bool = False,
        is_both_ways: bool = False,
        grouped: tuple[str, ...] = (),
        **fields: str,
    ) -> str:
        """Link two factors on a diagram and return the Id of the link; `again` means another diagram."""
        ends = {
            f"{field}DiagramFactorId": self.tag(
                "LinkableFactorId", self.tag(f"{factor.kind}Id", self.place(factor, again=again))
            )
            for field, factor in (("From", source), ("To", target))
        }
        link = self._new_id()
        both = {"IsBidirectionalLink": "1" if is_both_ways else "0"}
        members = {"GroupedDiagramLinkIds": self.ids("DiagramLink", *grouped)}
        self._put("DiagramLink", link, ends | both | members | fields)
        return link

    def ids(self, kind: str, *ids: str) -> str:
        """Return a list of references."""
        return "".join(self.tag(f"{kind}Id", one) for one in ids)

    def tag(self, name: str, content: str, attributes: str = "") -> str:
        return f"<{self._prefix}{name}{attributes}>{content}</{self._prefix}{name}>\n"

    def xml(self) -> str:
        pools = "".join(self.tag(f"{kind}Pool", "".join(things)) for kind, things in self._pools.items())
        declared = f" xmlns{':' if self._prefix else ''}{self._prefix.rstrip(':')}='{self._namespace}'"
        return f'<?xml version="1.0" encoding="UTF-8" ?>\n{self.tag("ConservationProject", pools, declared)}'

    def file(self) -> bytes:
        return xmpz2(self.xml().encode())

    def _put(self, kind: str, identifier: str, fields: dict[str, str]) -> None:
        content = "".join(self.tag(f"{kind}{field}", value) for field, value in fields.items())
        self._pools.setdefault(kind, []).append(self.tag(kind, content, f' Id="{identifier}"'))

    def _new_id(self) -> str:
        self._last_id += 1
        return str(self._last_id)


def xmpz2(xml: bytes) -> bytes:
    """Return a Miradi file with this XML and the other usual members."""
    return make_zip(
        {"project.xml": xml, "schema.rnc": b"start = ConservationProject.element", "images/CM1.png": b"PNG"}
    )


def make_zip(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive with the same bytes every time."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, method)
    return file.getvalue()


def whole_project() -> MiradiProject:
    """Return a results chain and a situation model with one of everything."""
    project = MiradiProject()
    goal = project.factor("Goal", "More reef", Details="By 2030 it is <b>twice</b> as much.")
    healthy = project.factor("Indicator", "Cover of coral", Unit="%")
    fished = project.factor("Indicator", "Boats<br/>a day")
    attribute = project.factor("KeyEcologicalAttribute", "Cover", IndicatorIds=project.ids("Indicator", healthy.id))
    training = project.factor("Task", "Train rangers")
    patrols = project.factor(
        "Strategy",
        "<div>Patrols</div>",
        Details="<div>By boat.</div><div>By air.</div>",
        Identifier="S1",
        OrderedActivityIds=project.ids("Activity", training.id),
    )
    caught = project.factor("IntermediateResult", "Poachers are caught")
    less = project.factor("ThreatReductionResult", "Less poaching")
    reefs = project.factor(
        "BiodiversityTarget",
        "Reefs",
        GoalIds=project.ids("Goal", goal.id),
        KeyEcologicalAttributeIds=project.ids("KeyEcologicalAttribute", attribute.id),
    )
    poaching = project.factor("Cause", "Poaching", IsDirectThreat="1", IndicatorIds=project.ids("Indicator", fished.id))
    poverty = project.factor("Cause", "Poverty")
    people = project.factor("HumanWellbeingTarget", "Fishing families")
    box = project.factor("GroupBox", "Both")
    project.factor("TextBox", "A note")
    project.factor("ScopeBox", "All of it")
    project.factor("Stress", "Bleaching")
    project.place(Factor("Activity", training.id))
    project.link(patrols, caught, Annotation="<div>They are seen.</div>")
    project.link(caught, less, IsUncertainLink="1")
    member = project.link(less, reefs)
    project.link(less, box, grouped=(member,))
    project.link(poverty, poaching)
    project.link(poaching, reefs, again=True)
    project.link(reefs, people, again=True, is_both_ways=True)
    return project
