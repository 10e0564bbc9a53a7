"""The edit that mends one place of the plan, as a small form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.model import LEVELS, EdgeType, NodeType
from groundplan.surfaces.web.areas.plan.upkeep.theory_index import TheoryIndex

EDIT = "purpose.edit"
RECORD = "purpose.record"
PLAN_WORK = "work.plan"
MENDING = frozenset({EDIT, RECORD, PLAN_WORK})  # the operations of the forms that mend a finding
OP = "operations.0"
CHOICES_MAX = 60  # a longer list is searched in the picture instead
RISKS = (("", "not said"), ("HIGH", "high"), ("MEDIUM", "medium"), ("LOW", "low"))


class MendField(NamedTuple):
    """A field that a person fills."""

    name: str  # the path of the argument
    label: str
    kind: str = "text"  # text, date, number or choice
    choices: Sequence[tuple[str, str]] = ()
    is_required: bool = True


class Mend(NamedTuple):
    """A form that mends one place."""

    form: str  # its id
    operation: str
    fixed: Mapping[str, str]
    fields: Sequence[MendField]
    button: str


Builder = Callable[[TheoryIndex, str], Mend | None]


class MendBuilder:
    """Builds the forms for the places of one version."""

    def __init__(self, index: TheoryIndex, project: str) -> None:
        self._index = index
        self._project = project

    def build(self, code: str, ref: str) -> Mend | None:
        """Return the form for a place that a check found; None if a look at the item is needed."""
        make = _BUILDERS.get(code)
        mend = make(self._index, ref) if make else None
        if mend is None:
            return None
        form = "mend-" + re.sub(r"[^A-Za-z0-9]+", "-", f"{code}-{ref}")
        return mend._replace(form=form, fixed={"project": self._project, **mend.fixed})


def _edit(op: str, fixed: Mapping[str, str], fields: Sequence[MendField], button: str) -> Mend:
    named = {f"{OP}.{name}": value for name, value in fixed.items()}
    return Mend("", EDIT, {f"{OP}.op": op, **named}, fields, button)


def _field(
    name: str, label: str, kind: str = "text", choices: Sequence[tuple[str, str]] = (), *, required: bool = True
) -> MendField:
    return MendField(f"{OP}.{name}", label, kind, choices, required)


def _name_ends(index: TheoryIndex, ref: str) -> dict[str, str] | None:
    edge = index.edges.get(ref)
    if edge is None:
        return None
    ends = {"source": edge.source, "target": edge.target}
    return ends if edge.edge_type in (EdgeType.CONTRIBUTES_TO, None) else {**ends, "edge_type": str(edge.edge_type)}


def _add_assumption(index: TheoryIndex, ref: str) -> Mend | None:
    on = {"node": ref} if ref in index.nodes else _name_ends(index, ref)
    if on is None:
        return None
    fields = (
        _field("assumption_text", "What must hold"),
        _field("risk_level", "Risk if it does not", "choice", RISKS, required=False),
    )
    return _edit("add_assumption", on, fields, "Add the assumption")


def _explain_link(index: TheoryIndex, ref: str) -> Mend | None:
    ends = _name_ends(index, ref)
    return None if ends is None else _edit("update_edge", ends, (_field("mechanism", "How it works"),), "Save")


def _link_onwards(index: TheoryIndex, ref: str) -> Mend | None:
    node = index.nodes.get(ref)
    if node is None or any(edge.source == ref for edge in index.edges.values()):
        return None  # what already leads on is mended where its links end
    level = LEVELS[node.node_type]
    above = sorted(
        (one for one in index.nodes.values() if one.key != ref and LEVELS[one.node_type] > level),
        key=lambda one: LEVELS[one.node_type],
    )
    choices = [(one.key, f"{one.title} ({one.node_type.lower()})") for one in above]
    if not 0 < len(choices) <= CHOICES_MAX:
        return None
    return _edit("add_edge", {"source": ref}, (_field("target", "Leads to", "choice", choices),), "Link")


def _add_node(node_type: NodeType) -> Mend:
    return _edit("add_node", {"node_type": node_type}, (_field("title", f"Title of the {node_type.lower()}"),), "Add")


def _add_goal(_index: TheoryIndex, ref: str) -> Mend | None:
    return None if ref else _add_node(NodeType.GOAL)


def _add_level(_index: TheoryIndex, ref: str) -> Mend | None:
    return _add_node(NodeType(ref)) if ref in NodeType.__members__ else None


def _watch_risk(index: TheoryIndex, ref: str) -> Mend | None:
    placed = index.assumptions.get(ref)
    if placed is None:
        return None
    fields = []
    if not (placed.one.owner or "").strip():
        fields.append(_field("owner", "Who watches it"))
    if not (placed.one.review_by or "").strip():
        fields.append(_field("review_by", "Reviewed by", "date"))
    if fields:
        return _edit("update_assumption", {"assumption": ref}, fields, "Save")
    edge = index.edges.get(placed.on)  # with the profile strict what it is about must be measured, too
    return _add_indicator(index, edge.target if edge else placed.on)


def _move_review(_index: TheoryIndex, ref: str) -> Mend:
    return _edit("update_assumption", {"assumption": ref}, (_field("review_by", "Review it by", "date"),), "Save")


def _add_indicator(index: TheoryIndex, ref: str) -> Mend | None:
    fields = [_field("name", "What is measured"), _field("unit", "Unit", required=False)]
    if ref in index.nodes:
        return _edit("add_indicator", {"node": ref}, fields, "Add the indicator")
    effects = [(one.key, one.title) for one in index.list_nodes("OUTCOME", "GOAL")]
    if ref or not 0 < len(effects) <= CHOICES_MAX:
        return None
    return _edit("add_indicator", {}, (_field("node", "Of", "choice", effects), *fields), "Add the indicator")


def _rename(index: TheoryIndex, ref: str) -> Mend | None:
    return _edit("update_node", {"node": ref}, (_field("title", "Title"),), "Rename") if ref in index.nodes else None


def _decide(index: TheoryIndex, ref: str) -> Mend | None:
    if ref not in index.assumptions:
        return None
    fields = (MendField("decisions.0.text", "What is decided"), MendField("decisions.0.rationale", "Why"))
    return Mend("", RECORD, {"decisions.0.about.0": ref}, fields, "Record the decision")


def _make_indicator_mend(*fields: MendField) -> Builder:
    def build(index: TheoryIndex, ref: str) -> Mend | None:
        return _edit("update_indicator", {"indicator": ref}, fields, "Save") if ref in index.indicators else None

    return build


def _plan_measuring(index: TheoryIndex, ref: str) -> Mend | None:
    one = index.indicators.get(ref)
    if one is None:
        return None
    wanted = {"method": "How it is measured", "frequency": "How often", "owner": "Who measures it"}
    fields = [_field(name, label) for name, label in wanted.items() if not (getattr(one, name) or "").strip()]
    return _edit("update_indicator", {"indicator": ref}, fields, "Save")


def _verify_baseline(index: TheoryIndex, ref: str) -> Mend | None:
    if ref not in index.indicators:
        return None
    return _edit("update_indicator", {"indicator": ref, "baseline_verified": "true"}, (), "The baseline is verified")


def _plan_task(index: TheoryIndex, ref: str) -> Mend | None:
    if ref not in index.nodes:
        return None
    fields = (MendField("nodes.0.summary", "First task"),)
    return Mend("", PLAN_WORK, {"nodes.0.ref": "task", "nodes.0.serves.0": ref}, fields, "Plan the task")


def _complete_node(index: TheoryIndex, ref: str) -> Mend | None:
    node = index.nodes.get(ref)
    if node is None:
        return None
    wanted = {"description": "Description", "owner": "Owner"}
    fields = [_field(name, label) for name, label in wanted.items() if not (getattr(node, name) or "").strip()]
    return _edit("update_node", {"node": ref}, fields, "Save") if fields else _add_indicator(index, ref)


_BUILDERS: Mapping[str, Builder] = {
    "GA_ASSUMPTIONS": _add_assumption,
    "GA_DEAD_END": _link_onwards,
    "GA_GOAL_COUNT": _add_goal,
    "GA_HIGH_RISK": _watch_risk,
    "GA_LOW_CONFIDENCE": _add_assumption,
    "GA_MECHANISM": _explain_link,
    "GA_MIN_TYPES": _add_level,
    "GA_ORPHANS": _link_onwards,
    "GA_OUTCOME_COVERAGE": _add_indicator,
    "GA_REFUTED": _decide,
    "GA_TITLE": _rename,
    "GB_BASELINE": _make_indicator_mend(_field("baseline", "Baseline", "number")),
    "GB_INDICATORS": _add_indicator,
    "GB_PLAN": _plan_measuring,
    "GB_TARGET": _make_indicator_mend(_field("target", "Target", "number")),
    "GB_VERIFIED": _verify_baseline,
    "GB_WORK": _plan_task,
    # Figures of the health of the plan.
    "toc_completeness": _complete_node,
    "indicator_coverage": _add_indicator,
    "assumptions_documented": _add_assumption,
    "mechanism_coverage": _explain_link,
    "stale_assumptions": _move_review,
}
