"""Inbox: the items that wait for a person, each with the form or link that settles it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode
from zlib import crc32

from groundplan.briefing.inbox import InboxItem, InboxKind
from groundplan.kernel.operations.registry import Effect
from groundplan.purpose.model import AssumptionStatus
from groundplan.surfaces.web.areas.plan.gate_words import CHECKS
from groundplan.surfaces.web.visit import Area, Visit, find_place, get_base

ROWS = 25
KINDS = {
    InboxKind.NO_OWNER: ("No owner", "member"),
    InboxKind.GATE_BLOCKS: ("Blocks publishing", "purpose"),
    InboxKind.AT_RISK: ("In doubt", "purpose"),
    InboxKind.REQUEST: ("Question", "purpose"),
    InboxKind.FACT_MISSING: ("Fact missing", "context"),
    InboxKind.SUGGESTION: ("Suggestion", "context"),
    InboxKind.REVIEW_DUE: ("Review due", "purpose"),
    InboxKind.CLAIM_LAPSING: ("Claim ends", "work"),
    InboxKind.WAIVER_ENDING: ("Waiver ends", "purpose"),
}
# The view of the plan that shows what has no key of its own.
VIEWS = {
    InboxKind.GATE_BLOCKS: "gates",
    InboxKind.WAIVER_ENDING: "gates",
    InboxKind.REQUEST: "measures",
}
# The words on the button, by the operation and the first of its arguments that is not about the place.
BUTTONS = {
    ("purpose.record", "decisions"): "Record a decision",
    ("purpose.record", "reviews"): "Record the review",
    ("purpose.record", "waivers"): "Renew the waiver",
    ("context.edit", "inputs"): "Set the value",
    ("context.edit", "accept"): "Accept",
    ("context.edit", "reject"): "Reject",
    ("context.create_draft", "copyFrom"): "Decide in a new draft",
    ("work.update", "renew"): "Renew the claim",
    ("work.update", "release"): "Release",
    ("work.next", "claim"): "Take it over",
    ("member.add", "role"): "Become its owner",
}
SETTLING = frozenset(operation for operation, _ in BUTTONS)
LABELS = {
    "inputs.value": "Its value",
    "inputs.valueEnum": "Its value",
    "inputs.valueJson": "Its value, as JSON",
    "decisions.text": "What is decided",
    "decisions.rationale": "Why",
    "reviews.status": "It is",
    "reviews.reason": "What shows it",
    "waivers.reason": "Why",
    "waivers.due": "Until",
}
CHOICES = {"reviews.status": [status.value for status in AssumptionStatus if status is not AssumptionStatus.UNTESTED]}
DATES = {"waivers.due"}
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z")
# Read operations with a variant that writes: its permission counts.
WRITING_VARIANTS = {"work.next": "work.claim"}


class FormField(NamedTuple):
    """A field of a form that a person fills."""

    name: str  # the path of the argument: decisions.0.text
    label: str
    choices: Sequence[str] = ()
    is_date: bool = False


class InboxEntry(NamedTuple):
    """An item of the inbox on the page."""

    kind: str
    label: str
    ref: str
    text: str
    since: str
    place: str
    form: str  # its id
    operation: str
    fixed: Mapping[str, str]
    fields: Sequence[FormField]
    button: str  # empty where there is only something to look at
    alternative: Mapping[str, str] | None = None  # the arguments that settle it the other way
    other_button: str = ""
    parts: Sequence[str] = ()  # the texts of several items that are one


def read_inbox(visit: Visit) -> Mapping[str, Any]:
    """Return a page of waiting items."""
    cursor = visit.query.get("cursor")
    page = visit.call("briefing.inbox", limit=ROWS, **({"cursor": cursor} if cursor else {}))
    return {"entries": build_entries(visit, page.items, with_checks=not cursor), "page": page}


def build_entries(visit: Visit, items: Sequence[InboxItem], *, with_checks: bool = True) -> list[InboxEntry]:
    """Return items with their forms. All checks that block publishing are combined in the first entry."""
    checks = [item for item in visit.waiting.items if item.kind is InboxKind.GATE_BLOCKS]
    others = [build_entry(visit, item) for item in items if item.kind is not InboxKind.GATE_BLOCKS]
    if not checks or not with_checks:
        return others
    first = build_entry(visit, checks[0])
    if len(checks) == 1:
        return [first, *others]
    text = f"{len(checks)} checks keep the draft from being published"
    place = first.place.partition("#")[0]  # all checks, not the first one
    return [first._replace(text=text, place=place, parts=[_describe(item) for item in checks]), *others]


def build_entry(visit: Visit, item: InboxItem) -> InboxEntry:
    """Return an item with its address and, if the actor may send it, its form."""
    label, slice_ = KINDS[item.kind]
    action = item.action
    base = get_base(visit.project.name)
    is_fact = item.ref.startswith("/")
    view = VIEWS.get(item.kind)
    place = find_place(base, "context" if is_fact else slice_, item.ref)
    if view:
        place = f"{base}/plan?{urlencode({'view': view})}#{quote(item.ref)}"
    if item.kind is InboxKind.SUGGESTION:  # it waits in this run
        run_id = action.arguments.get("runId") or action.arguments["copyFrom"]
        fact = {"fact" if is_fact else "constraint": item.ref}
        place = f"{base}/facts?{urlencode({'run': run_id, **fact})}"
    fixed = dict(_flatten("", action.arguments))
    alternative = dict(_flatten("", item.alternative.arguments)) if item.alternative else None
    unique = json.dumps([item.kind, item.ref, fixed], sort_keys=True).encode()
    return InboxEntry(
        item.kind,
        label,
        item.ref,
        _describe(item),
        item.since,
        place,
        f"settle-{crc32(unique):08x}",
        action.operation,
        fixed,
        [_to_field(path) for path in action.needs or ()],
        _choose_button(visit, action.operation, fixed),
        alternative,
        _choose_button(visit, action.operation, alternative) if alternative else "",
    )


def _describe(item: InboxItem) -> str:
    """Return the text of an item in plain words."""
    if item.kind is InboxKind.GATE_BLOCKS and (words := CHECKS.get(item.ref)):
        return f"{words.title}. {words.advice}"
    return _INSTANT.sub(r"\1 \2 UTC", item.text).replace(" -> ", " → ")


def _choose_button(visit: Visit, name: str, fixed: Mapping[str, str]) -> str:
    operation = visit.session.operations[WRITING_VARIANTS.get(name, name)]
    if operation.effect is Effect.READ or not visit.may(operation.permission):
        return ""
    parts = {part for path in fixed for part in path.split(".")}
    return next((text for (of, part), text in BUTTONS.items() if of == name and part in parts), "Settle")


def _to_field(path: str) -> FormField:
    name = path.replace("[", ".").replace("]", "")
    known = ".".join(part for part in name.split(".") if not part.isdigit())
    label = LABELS.get(known, known.rpartition(".")[2].capitalize())
    reader = "|json" if known == "inputs.valueJson" else ""
    return FormField(f"{name}{reader}", label, CHOICES.get(known, ()), known in DATES)


def _flatten(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the form fields for arguments."""
    match value:
        case dict():
            for name, inner in value.items():
                yield from _flatten(f"{path}.{name}" if path else name, inner)
        case list():
            for index, inner in enumerate(value):
                yield from _flatten(f"{path}.{index}", inner)
        case bool():
            yield path, "true" if value else "false"
        case None:
            pass
        case _:
            yield path, str(value)


AREA = Area("inbox", "Inbox", "i", "inbox.html", read_inbox, SETTLING)
