"""Forms that fix a finding of a check or of a health figure at one place of the plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from msgspec import json

from groundplan.purpose.metadata_structure import find_structure, format_names, remove_structure
from groundplan.purpose.model import LEVELS, NodeType
from groundplan.surfaces.web.areas.plan.plan_visit import PlanVisit
from groundplan.surfaces.web.areas.plan.theory import TheoryItems
from groundplan.surfaces.web.forms import COMPARE

EDIT = "purpose.edit"
RECORD = "purpose.record"
PLAN_WORK = "work.plan"
FIX_OPERATIONS = frozenset({EDIT, RECORD, PLAN_WORK})  # the operations of the forms that fix a finding
OP = "operations.0"
CHOICES_MAX = 60  # a longer list is searched in the picture instead
RISKS = (("", "not said"), ("HIGH", "high"), ("MEDIUM", "medium"), ("LOW", "low"))


class FixField(NamedTuple):
    """A field of a form that a person fills."""

    name: str  # the argument; of an edit without its path
    label: str
    kind: str = "text"  # text, date, number or choice
    choices: Sequence[tuple[str, str]] = ()
    is_required: bool = True
    before: str | None = None  # what an update replaces, so that it replaces nothing else


class FixForm(NamedTuple):
    """A form that fixes one place."""

    operation: str
    fixed: Mapping[str, str]
    fields: Sequence[FixField]
    button: str
    form: str = ""  # its id


Builder = Callable[[TheoryItems, str], FixForm | None]


def offer_fix(plan: PlanVisit, code: str, ref: str) -> FixForm | None:
    """Return the form that fixes a finding at a place; None if the page has none.

    An edit needs the draft, anything else only the role.
    """
    if plan.items is None or code not in _FIXES:
        return None
    fix = _FIXES[code](plan.items, ref)
    if fix is None or not (plan.can_edit if fix.operation == EDIT else plan.can_record):
        return None
    form = "mend-" + re.sub(r"[^A-Za-z0-9]+", "-", f"{code}-{ref}")
    return fix._replace(form=form, fixed={"project": plan.visit.project.name, **fix.fixed})


def _edit(op: str, fixed: Mapping[str, str], fields: Sequence[FixField], button: str) -> FixForm:
    named = {f"{OP}.{name}": value for name, value in {"op": op, **fixed}.items()}
    return FixForm(EDIT, named, [field._replace(name=f"{OP}.{field.name}") for field in fields], button)


def _update(*fields: FixField, button: str = "Save", only_missing: bool = False) -> Builder:
    """Return a builder of a form that changes fields of an item."""

    def build(theory: TheoryItems, ref: str) -> FixForm | None:
        kind, subject = theory.name_subject(ref)
        stored = {field.name: getattr(theory.find(ref), field.name, None) for field in fields}
        shown = [
            field._replace(before="" if stored[field.name] is None else str(stored[field.name]))
            for field in fields
            if not only_missing or not (stored[field.name] or "").strip()
        ]
        form = _edit(f"update_{kind}", subject, shown, button) if kind and shown else None
        return form and form._replace(fixed={**form.fixed, COMPARE: OP})

    return build


def _add(kind: str, *fields: FixField, to: str, button: str) -> Builder:
    """Return a builder of a form that adds an assumption or an indicator to an item of a kind in `to`."""

    def build(theory: TheoryItems, ref: str) -> FixForm | None:
        subject_kind, subject = theory.name_subject(ref)
        return _edit(f"add_{kind}", subject, fields, button) if subject_kind in to.split() else None

    return build


def _build_first(*builders: Builder) -> Builder:
    return lambda theory, ref: next((fix for build in builders if (fix := build(theory, ref))), None)


def _choose_effect(theory: TheoryItems, ref: str) -> FixForm | None:
    """Return a form that adds an indicator to a node of the person's choice, for a check that names no node."""
    effects = [(node.key, node.title) for node in theory.list_nodes("OUTCOME", "GOAL")]
    if ref or not 0 < len(effects) <= CHOICES_MAX:
        return None
    return _edit("add_indicator", {}, (FixField("node", "Of", "choice", effects), *MEASURED), "Add the indicator")


def _measure_subject(theory: TheoryItems, ref: str) -> FixForm | None:
    """Return a form that adds an indicator to the node of an assumption, as the profile strict requires."""
    on = theory.find_card(ref)
    return _measure(theory, theory.orient(theory.edges[on]).target if on in theory.edges else on)


def _link_onwards(theory: TheoryItems, ref: str) -> FixForm | None:
    node = theory.nodes.get(ref)
    if node is None or any(theory.orient(edge).source == ref for edge in theory.edges.values()):
        return None  # what already leads on is fixed where its links end
    effects = [effect for effect in theory.nodes.values() if LEVELS[effect.node_type] > LEVELS[node.node_type]]
    effects.sort(key=lambda effect: LEVELS[effect.node_type])
    choices = [(effect.key, f"{effect.title} ({effect.node_type.lower()})") for effect in effects]
    if not 0 < len(choices) <= CHOICES_MAX:
        return None
    return _edit("add_edge", {"source": ref}, [FixField("target", "Leads to", "choice", choices)], "Link")


def _add_missing_node(_theory: TheoryItems, ref: str) -> FixForm | None:
    """Return a form that adds a node of a missing type, or a goal if the check names no type."""
    if ref and ref not in NodeType.__members__:
        return None
    node_type = NodeType(ref or NodeType.GOAL)
    return _edit("add_node", {"node_type": node_type}, [FixField("title", f"Title of the {node_type.lower()}")], "Add")


def _decide(theory: TheoryItems, ref: str) -> FixForm | None:
    fields = (FixField("decisions.0.text", "What is decided"), FixField("decisions.0.rationale", "Why"))
    return FixForm(RECORD, {"decisions.0.about.0": ref}, fields, "Record the decision") if ref in theory else None


def _remove_structure(theory: TheoryItems, ref: str) -> FixForm | None:
    """Return a form that removes the names of the metadata that are structure, and nothing that was written since."""
    metadata = theory.nodes[ref].metadata or {} if ref in theory.nodes else {}
    names = [*chain(*find_structure(metadata))]
    if not names:
        return None
    kept = remove_structure(metadata)
    was = {name: value for name, value in metadata.items() if kept.get(name) != value}
    written = {"metadata": {name: kept.get(name) for name in was}, "was.metadata": was}
    fixed = {f"{name}|json": json.encode(value).decode() for name, value in written.items()}
    return _edit("update_node", {"node": ref, **fixed}, [], f"Remove {format_names(names)}")


def _verify_baseline(theory: TheoryItems, ref: str) -> FixForm | None:
    """Return a form that says that a baseline is verified, unless somebody changes it meanwhile."""
    kind, subject = theory.name_subject(ref)
    if kind != "indicator":
        return None
    seen = json.encode(getattr(theory.find(ref), "baseline", None)).decode()
    fixed = {"baseline_verified": "true", "baseline|json": seen, "was.baseline|json": seen}
    return _edit("update_indicator", subject | fixed, [], "The baseline is verified")


def _plan_task(theory: TheoryItems, ref: str) -> FixForm | None:
    fixed = {"nodes.0.ref": "task", "nodes.0.serves.0": ref}
    field = FixField("nodes.0.summary", "First task")
    return FixForm(PLAN_WORK, fixed, [field], "Plan the task") if ref in theory else None


MEASURED = (FixField("name", "What is measured"), FixField("unit", "Unit", is_required=False))
_measure = _build_first(_add("indicator", *MEASURED, to="node", button="Add the indicator"), _choose_effect)
_assume = _add(
    "assumption",
    FixField("assumption_text", "What must hold"),
    FixField("risk_level", "Risk if it does not", "choice", RISKS, is_required=False),
    to="node edge",
    button="Add the assumption",
)
_explain = _update(FixField("mechanism", "How it works"))
_watch = _update(FixField("owner", "Who watches it"), FixField("review_by", "Reviewed by", "date"), only_missing=True)
_plan_measuring = _update(
    FixField("method", "How it is measured"),
    FixField("frequency", "How often"),
    FixField("owner", "Who measures it"),
    only_missing=True,
)
_complete = _update(FixField("description", "Description"), FixField("owner", "Owner"), only_missing=True)
_FIXES: Mapping[str, Builder] = {
    "GA_ASSUMPTIONS": _assume,
    "GA_DEAD_END": _link_onwards,
    "GA_GOAL_COUNT": lambda theory, ref: None if ref else _add_missing_node(theory, ref),
    "GA_HIGH_RISK": _build_first(_watch, _measure_subject),
    "GA_LOW_CONFIDENCE": _assume,
    "GA_MECHANISM": _explain,
    "GA_MIN_TYPES": _add_missing_node,
    "GA_ORPHANS": _link_onwards,
    "GA_OUTCOME_COVERAGE": _measure,
    "GA_REFUTED": _decide,
    "GA_STRUCTURE": _remove_structure,
    "GA_TITLE": _update(FixField("title", "Title"), button="Rename"),
    "GB_BASELINE": _update(FixField("baseline", "Baseline", "number")),
    "GB_INDICATORS": _measure,
    "GB_PLAN": _plan_measuring,
    "GB_TARGET": _update(FixField("target", "Target", "number")),
    "GB_VERIFIED": _verify_baseline,
    "GB_WORK": _plan_task,
    # Figures of the health of the plan.
    "toc_completeness": _build_first(_complete, _measure),
    "indicator_coverage": _measure,
    "assumptions_documented": _assume,
    "mechanism_coverage": _explain,
    "stale_assumptions": _update(FixField("review_by", "Review it by", "date")),
}
