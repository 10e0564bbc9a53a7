"""Present: a pathway with one step per slide; and the plan as a file to keep, to send or to print.

plan.html    one page that opens from disk; with `show` it opens in the browser, to be printed or saved as PDF
plan.svg     the picture
plan.png     the picture, for programs that cannot show SVG
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from groundplan.kernel.errors import NotFound
from groundplan.purpose.exchange.writers.picture import SCALE, rasterize
from groundplan.purpose.graph.graph import build_graph, find_leading_to
from groundplan.purpose.graph.paths import find_pathways
from groundplan.purpose.model import NodeType
from groundplan.purpose.open import IndicatorView, PurposeEdgeView, PurposeNodeView, name_edge
from groundplan.session import Session
from groundplan.surfaces.http.answers import Answer, Headers
from groundplan.surfaces.web.areas.plan.plan_visit import PlanView, PlanVisit
from groundplan.surfaces.web.areas.plan.theory import TheoryItems
from groundplan.surfaces.web.visit import Visit

PATHWAYS_MAX = 100  # in a large plan their number grows without end
TYPES = {
    "plan.html": b"text/html; charset=utf-8",
    "plan.svg": b"image/svg+xml",
    "plan.png": b"image/png",
}
# What others wrote is in the file: nothing in it may run, and it loads nothing.
FILE_HEADERS: Headers = [
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; font-src data:; sandbox"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class PlanPathways(NamedTuple):
    """The pathways of a plan from nodes without causes to goals, as lists of keys."""

    ways: list[list[str]]
    is_cut: bool


class Slide(NamedTuple):
    """A step of a pathway, with the link from the previous step and the indicators."""

    way: list[PurposeNodeView]  # the whole pathway
    step: int  # from 1
    node: PurposeNodeView
    link: PurposeEdgeView | None  # from the step before
    indicators: list[IndicatorView]

    @property
    def assumptions(self) -> list[Any]:
        """The assumptions of the step and of the link to it."""
        return [*((self.link.assumptions or ()) if self.link is not None else ()), *(self.node.assumptions or ())]


def list_pathways(theory: TheoryItems) -> PlanPathways:
    """Return the pathways of a plan that begin at nodes without causes."""
    nodes = theory.nodes
    pairs = [
        theory.orient(edge)[:2]
        for edge in theory.edges.values()
        if name_edge(edge).edge_type.is_causal and edge.source in nodes and edge.target in nodes
    ]
    graph = build_graph(nodes, pairs)
    goals = [graph.numbers[key] for key, node in nodes.items() if node.node_type is NodeType.GOAL]
    reaching = find_leading_to(graph, goals)
    ways: list[list[str]] = []
    for start in sorted(reaching - set(goals)):
        if graph.into[start]:
            continue
        pathways = find_pathways(graph, start, goals, limit=PATHWAYS_MAX - len(ways))
        ways += [[graph.keys[number] for number in way] for way in pathways.ways]
        if pathways.is_cut:
            return PlanPathways(ways, True)
    return PlanPathways(ways, False)


def read_present(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the values of the view Present: the slide in the address, or the start."""
    visit, nodes = plan.visit, theory.nodes
    pathways = list_pathways(theory)
    path = _read_number(visit, "path", len(pathways.ways))
    step = max(_read_number(visit, "step", len(pathways.ways[path - 1])), 1) if path else 0
    return {
        "goals": [node for node in nodes.values() if node.node_type is NodeType.GOAL],
        "nodes": nodes,
        "pathways": pathways.ways,
        "pathways_cut": pathways.is_cut,
        "path": path,
        "slide": _build_slide(theory, pathways.ways[path - 1], step) if path else None,
        "before": _find_before(visit, pathways.ways, path, step),
        "after": _find_after(visit, pathways.ways, path, step),
    }


def _build_slide(theory: TheoryItems, way: list[str], step: int) -> Slide:
    key = way[step - 1]
    before = way[step - 2] if step > 1 else None
    links = [edge for edge in theory.edges.values() if theory.orient(edge)[:2] == (before, key)]
    indicators = [indicator for indicator in theory.indicators.values() if indicator.node == key]
    return Slide(
        [theory.nodes[step_key] for step_key in way], step, theory.nodes[key], links[0] if links else None, indicators
    )


def _find_before(visit: Visit, ways: list[list[str]], path: int, step: int) -> str | None:
    if path == 0:
        return None
    if step > 1:
        return visit.link(path=path, step=step - 1)
    if path > 1:
        return visit.link(path=path - 1, step=len(ways[path - 2]))
    return visit.link(path=None, step=None)


def _find_after(visit: Visit, ways: list[list[str]], path: int, step: int) -> str | None:
    if path and step < len(ways[path - 1]):
        return visit.link(path=path, step=step + 1)
    return visit.link(path=path + 1, step=1) if path < len(ways) else None


def _read_number(visit: Visit, name: str, most: int) -> int:
    text = visit.query.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def send_file(session: Session, project: str, name: str, query: Mapping[str, str]) -> Answer:
    """Return a file of the version in the address; by default the latest published version, else the draft."""
    if name not in TYPES:
        raise NotFound("file", name)
    version = {"version": query["version"]} if query.get("version") else {}
    if name == "plan.png":
        drawn = session.call("purpose.render", project=project, theme="light", **version)
        number, body = drawn.version, rasterize(drawn, SCALE).content
    else:
        exported = session.call("purpose.export", project=project, format=name.removeprefix("plan."), **version)
        number, body = exported.version, exported.content.encode()
    headers = list(FILE_HEADERS)
    if not query.get("show"):
        kept_as = f"{_NOT_IN_NAMES.sub('-', project).strip('-') or 'plan'}-v{number}{name.removeprefix('plan')}"
        headers.append((b"content-disposition", f'attachment; filename="{kept_as}"'.encode()))
    return Answer(200, body, headers, TYPES[name])


VIEW = PlanView("present", "Present", "f", "plan_present.html", read_present)
