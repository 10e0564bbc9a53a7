"""Collect the parts of a task's briefing from all four slices, the most important first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, structs

from groundplan.briefing.briefing import (
    BeforeNote,
    ConstraintNote,
    FactNote,
    KnowledgeNote,
    MarkNote,
    OverlapNote,
    QuestionNote,
    TaskNote,
    WhyStep,
)
from groundplan.briefing.fill import Entry, Part
from groundplan.briefing.watch import TaskMark, list_task_marks
from groundplan.briefing.why import Reasons, collect_decisions, collect_why
from groundplan.context.facts_in_force import FactsInForce, read_facts_in_force
from groundplan.kernel.answers import count_chars
from groundplan.kernel.links import LinkType, list_links_from
from groundplan.kernel.principals import read_other_kinds
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.context import load_atoms_of_files
from groundplan.knowledge.entities import load_molecules
from groundplan.purpose.observing.records import DecisionRequest
from groundplan.purpose.waiting import list_open_requests
from groundplan.work.graph.background import AncestorPaths, collect_paths, load_ancestor_paths, load_resolved_before
from groundplan.work.links import load_effective_links
from groundplan.work.nodes import NOTE, Evidence, WorkNodeRow, format_evidence, get_description
from groundplan.work.overlaps import find_overlapping_work

STEP_CHARS_MIN = 40  # hardly any step is shorter, so no chain can show more steps than this allows
FACT_CHARS_MIN = 80  # with its pointer, label and provenance
ATOM_CHARS_MIN = 100  # id, name and a short text
FORMER_CHARS_MAX = 200  # of the former value of a fact
BEFORE_MAX = 20
EVIDENCE_MAX = 3  # of each node: the newest notes, then the newest of other types
QUESTIONS_MAX = 50
DECISIONS_MAX = 50
MISSING_SHARE = 3  # missing facts use at most a third of the room; their number says the rest
DESCRIPTION_FIFTHS = 2  # of the answer, for the description of the task before all lists had their turn
MOLECULE = "molecule"


def collect_parts(tx: Transaction, node: WorkNodeRow, *, chars: int, lean: bool) -> list[Part]:
    """Return the parts of the briefing of a node, with as many entries as `chars` characters could show."""
    links = load_effective_links(tx, [node.n])[node.n]
    above = load_ancestor_paths(tx, node)
    ids = [node.id, *(ancestor.id for ancestor in above)]
    reasons = collect_why(tx, links.serves, at_most=chars // STEP_CHARS_MIN + 1)
    keys = [step.key for step in reasons.steps]
    pointers = [*links.rests_on, *_list_facts_of_purpose(tx, keys)]
    facts = read_facts_in_force(tx, list(dict.fromkeys(pointers)), at_most=chars // FACT_CHARS_MIN + 1)
    marks = list_task_marks(tx, links.serves, links.sources.get(LinkType.RESTS_ON), keys)
    edges = [f"{step.key}->{step.via.to}" for step in reasons.steps if step.via]
    refs = [*keys, *edges, *(assumption.note.key for assumption in reasons.assumptions), *pointers]
    decisions = collect_decisions(tx, ids, refs, at_most=DECISIONS_MAX)
    paths = collect_paths(tx, node, above)
    urgent = [_to_entry(entry.note, step=entry.step) for entry in reasons.assumptions if entry.is_urgent]
    remaining = [_to_entry(entry.note, step=entry.step) for entry in reasons.assumptions if not entry.is_urgent]
    return [
        _make_task(node, chars=chars),
        _make_knowledge(tx, paths.own, paths.inherited, at_most=chars // ATOM_CHARS_MIN + 1),
        _make_missing(facts),
        _make_marks(marks),
        _make_constraints(facts),
        _make_facts(facts, _find_former_values(marks, [*links.sources.values(), *keys])),
        _make_questions(tx, {*ids, *refs}),
        _make_before(tx, node, above, lean=lean),
        _make_overlap(tx, node),
        _make_why(reasons),
        Part("assumptions", urgent, len(urgent), leading=len(urgent), brings_step=True),
        Part("decisions", [_to_entry(decision, text="text") for decision in decisions], len(decisions)),
        Part("assumptions", remaining, len(remaining)),
    ]


def _make_task(node: WorkNodeRow, *, chars: int) -> Part:
    """Return the description, which the briefing has where the answer does not show it."""
    description = get_description(node.properties_value)
    entries = [Entry((TaskNote(description=description),), "description", key=node.id)] if description else []
    return Part("task", entries, len(entries), first_chars=chars * DESCRIPTION_FIFTHS // 5)


def _list_facts_of_purpose(tx: Transaction, keys: Sequence[str]) -> list[str]:
    """Return the pointers of the facts that purpose nodes rest on."""
    links = list_links_from(tx, keys) if keys else []
    return [link.target for link in links if link.type is LinkType.RESTS_ON]


def _make_why(reasons: Reasons) -> Part:
    entries = [Entry(_shorten_step(step)) for step in reasons.steps]
    return Part("why", entries, reasons.steps_total, must=reasons.goal, is_chain=True)


def _shorten_step(step: WhyStep) -> tuple[WhyStep, ...]:
    if step.via is UNSET or step.via.mechanism is UNSET:
        return (step,)
    return step, structs.replace(step, via=structs.replace(step.via, mechanism=UNSET))


def _make_missing(facts: FactsInForce | None) -> Part:
    pointers = [] if facts is None else facts.missing
    return Part("missing", [Entry((pointer,)) for pointer in pointers], len(pointers), share=MISSING_SHARE)


def _make_constraints(facts: FactsInForce | None) -> Part:
    if facts is None:
        return Part("constraints", [], 0)
    notes = [
        ConstraintNote(key=constraint.key, value=constraint.value, provenance=constraint.provenance)
        for constraint in facts.constraints
    ]
    return Part("constraints", [_to_entry(note, text="value") for note in notes], facts.constraints_total)


def _make_marks(marks: Sequence[TaskMark]) -> Part:
    return Part("marks", [Entry((MarkNote(mark.ref, mark.word, mark.path),)) for mark in marks], len(marks))


def _find_former_values(marks: Iterable[TaskMark], sources: Sequence[str]) -> dict[str, Any]:
    """Return the former values of changed facts by pointer; if several sources have one, the first source decides."""
    return {mark.ref: mark.before[source] for mark in marks for source in reversed(sources) if source in mark.before}


def _make_facts(facts: FactsInForce | None, former: Mapping[str, Any]) -> Part:
    """Return the facts, beginning with those that changed since the task or its purpose was linked to them."""
    if facts is None:
        return Part("facts", [], 0)
    ordered = sorted(facts.facts, key=lambda fact: fact.pointer not in former) if former else facts.facts
    entries = []
    for fact in ordered:
        note = FactNote(pointer=fact.pointer, label=fact.label, value=fact.value, provenance=fact.provenance)
        if fact.pointer in former:
            note.changed = True
            if count_chars(former[fact.pointer]) <= FORMER_CHARS_MAX:
                note.changed_from = former[fact.pointer]
        entries.append(_to_entry(note, text="value"))
    return Part("facts", entries, facts.facts_total)


def _make_questions(tx: Transaction, refs: set[str]) -> Part:
    """Return the open questions: those about the task and its purpose, then those about nothing in particular."""
    questions = list_open_requests(tx)
    requests = [request for request in questions if not request.about or not refs.isdisjoint(request.about)]
    requests.sort(key=lambda request: not request.about)  # stable: the oldest first
    entries = [_to_entry(_to_question(tx, request), text="question") for request in requests[:QUESTIONS_MAX]]
    return Part("questions", entries, len(requests))


def _to_question(tx: Transaction, request: DecisionRequest) -> QuestionNote:
    return QuestionNote(
        id=request.id,
        question=request.question,
        about=request.about or UNSET,
        by=request.recorded_by,
        by_kind=read_other_kinds(tx).get(request.recorded_by, UNSET),
        to=request.asked_of or UNSET,
        at=request.recorded_at,
    )


def _make_before(tx: Transaction, node: WorkNodeRow, above: Sequence[AncestorPaths], *, lean: bool) -> Part:
    resolved = load_resolved_before(tx, node, above, at_most=BEFORE_MAX)
    entries = []
    for before in resolved.nodes:
        full = BeforeNote(
            before.id,
            before.summary,
            before.outcome,
            UNSET if before.state is None else before.state,
            format_evidence(_choose_evidence(before.evidence), lean=lean),
        )
        forms = [full]
        if before.evidence:
            forms.append(structs.replace(full, evidence=UNSET))
        if before.state is not None:
            forms.append(structs.replace(full, evidence=UNSET, state=UNSET))
        entries.append(Entry(tuple(forms), key=before.id))
    return Part("before", entries, resolved.total)


def _choose_evidence(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the newest notes, then the newest evidence of other types, then what was undone; oldest first."""
    best_first = sorted(
        range(len(evidence)),
        key=lambda index: (bool(evidence[index].undone), evidence[index].type != NOTE, -index),
    )
    return [evidence[index] for index in sorted(best_first[:EVIDENCE_MAX])]


def _make_knowledge(tx: Transaction, own: list[str], inherited: list[str], *, at_most: int) -> Part:
    """Return the atoms of the files, each molecule with a text after its first atom."""
    matched = load_atoms_of_files(tx, own, inherited, at_most=at_most)
    molecule_ids = {atom.molecule_id for atom in matched.atoms if atom.molecule_id is not None}
    molecules = {row.id: row for row in load_molecules(tx, molecule_ids)}
    entries = []
    listed: set[str] = set()
    for atom in matched.atoms:
        molecule = molecules.get(atom.molecule_id or "")
        note = KnowledgeNote(id=atom.id, name=atom.name, freshness=atom.freshness or UNSET, text=atom.knowledge)
        if molecule is not None:
            note.molecule = molecule.name
        entries.append(_to_entry(note, text="text", key=atom.id))
        if molecule is not None and molecule.knowledge and molecule.id not in listed:
            listed.add(molecule.id)
            area = KnowledgeNote(id=molecule.id, name=molecule.name, type=MOLECULE, text=molecule.knowledge)
            entries.append(_to_entry(area, text="text", key=molecule.id))
    return Part("knowledge", entries, matched.total + len(listed))


def _make_overlap(tx: Transaction, node: WorkNodeRow) -> Part:
    overlaps = find_overlapping_work(tx, node)
    entries = [
        Entry(
            (
                OverlapNote(
                    overlap.id,
                    overlap.summary,
                    overlap.claimed_by,
                    overlap.paths,
                    read_other_kinds(tx).get(overlap.claimed_by or "", UNSET),
                ),
            )
        )
        for overlap in overlaps
    ]
    return Part("overlap", entries, len(entries))


def _to_entry(note: Any, *, text: str | None = None, step: str | None = None, key: str | None = None) -> Entry:
    """Return the entry of a note. If the field named by `text` is a string, the entry may have an excerpt of it."""
    is_text = text is not None and isinstance(getattr(note, text), str)
    return Entry((note,), text if is_text else None, step, key)
