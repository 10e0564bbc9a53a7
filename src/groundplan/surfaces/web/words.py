"""The texts of the pages: events as sentences, values on one line, and next steps as instructions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.context.schemas import ValueKind
from groundplan.context.values import encode_json
from groundplan.kernel.audit import Change
from groundplan.kernel.errors import NextStep, Vocabulary
from groundplan.kernel.events import EventRecord
from groundplan.kernel.operations.registry import Registry
from groundplan.purpose.markup import shorten_line
from groundplan.surfaces.vocabularies import CliVocabulary
from groundplan.surfaces.web.visit import Visit, find_place, get_base
from groundplan.work.evidence_check import MARKS

VERBS = {  # the item follows
    "work.created": "planned",
    "work.updated": "changed",
    "work.resolved": "resolved",
    "work.reopened": "reopened",
    "work.moved": "moved",
    "work.merged": "merged",
    "work.unmerged": "took apart",
    "work.dropped": "dropped",
    "work.claimed": "claimed",
    "work.renewed": "renewed the claim of",
    "work.released": "released",
    "work.lease_moved": "moved the end of the claim of",
    "work.connected": "connected",
    "work.disconnected": "disconnected",
    "work.advanced": "advanced",
    "work.reverted": "set back",
    "work.held": "put on hold",
    "work.unheld": "took off hold",
    "work.deleted": "deleted",
    "work.restored": "brought back",
    "work.tagged": "tagged",
    "work.section_added": "added a section to",
    "work.section_changed": "changed a section of",
    "work.section_deleted": "deleted a section of",
    "template.created": "created the template",
    "template.updated": "changed the template",
    "template.deleted": "deleted the template",
    "knowledge.created": "wrote the note",
    "knowledge.updated": "changed the note",
    "knowledge.orphaned": "separated from its group the note",
    "knowledge.deleted": "deleted the note",
    "knowledge.changelog_appended": "added to the changelog of",
    "knowledge.checked": "checked the notes of",
    "purpose.draft_created": "started the draft",
    "purpose.published": "published",
    "purpose.discarded": "discarded the draft",
    "purpose.node_added": "added to the plan",
    "purpose.node_changed": "changed in the plan",
    "purpose.node_removed": "removed from the plan",
    "purpose.edge_added": "added the link",
    "purpose.edge_changed": "changed the link",
    "purpose.edge_removed": "removed the link",
    "purpose.assumption_added": "added the assumption",
    "purpose.assumption_changed": "changed the assumption",
    "purpose.assumption_removed": "removed the assumption",
    "purpose.indicator_added": "added the indicator",
    "purpose.indicator_changed": "changed the indicator",
    "purpose.indicator_removed": "removed the indicator",
    "purpose.measured": "measured",
    "purpose.reviewed": "reviewed",
    "purpose.waived": "waived the check",
    "purpose.decided": "decided about",
    "purpose.requested": "asked for a decision about",
    "context.draft_created": "started a draft of",
    "context.draft_updated": "changed the draft of",
    "context.committed": "committed",
    "context.discarded": "discarded the draft of",
    "context.deleted": "deleted a run of",
    "context.source_added": "added the source",
    "context.source_changed": "changed the source",
    "context.source_removed": "removed the source",
    "context.input_added": "added the fact",
    "context.input_changed": "changed the fact",
    "context.input_removed": "removed the fact",
    "context.constraint_added": "added the constraint",
    "context.constraint_changed": "changed the constraint",
    "context.constraint_removed": "removed the constraint",
    "context.artifact_added": "added the artifact",
    "context.artifact_changed": "changed the artifact",
    "context.artifact_removed": "removed the artifact",
    "context.linked": "named a source of",
    "context.unlinked": "took away a source of",
    "context.suggested": "suggested a value for",
    "context.suggestion_changed": "changed a suggestion for",
    "context.suggestion_removed": "withdrew a suggestion for",
    "context.accepted": "accepted a suggestion for",
    "context.rejected": "rejected a suggestion for",
    "project.created": "created the project",
    "project.archived": "archived the project",
    "project.restored": "restored the project",
    "project.configured": "changed the settings of",
    "organization.created": "created the organization",
    "organization.renamed": "renamed the organization",
    "organization.configured": "changed the settings of the organization",
    "organization.member_added": "added to the organization",
    "organization.member_changed": "changed the role in the organization of",
    "organization.member_removed": "removed from the organization",
    "invitation.created": "invited",
    "invitation.accepted": "accepted an invitation",
    "invitation.revoked": "revoked an invitation",
    "identity.bound": "logged in for the first time",
    "identity.unbound": "unlinked an account of",
    "member.added": "added the member",
    "member.changed": "changed the role of",
    "member.removed": "removed the member",
    "token.created": "created the token",
    "token.revoked": "revoked the token",
    "session.opened": "opened a login",
    "session.closed": "closed a login",
}
RUN_OPS = {
    "context.draft_created",
    "context.draft_updated",
    "context.committed",
    "context.discarded",
    "context.deleted",
}
# What something without a title of its own is called, by the first word of the event.
OTHERWISE = {"context": "a fact", "knowledge": "a note"}
TITLE_FIELDS = ("summary", "title", "name", "label", "assumption_text", "question", "pointer", "key")
# Their words say it all; everything that was added or removed with them would only repeat the item.
WHOLE = ("created", "added", "removed", "suggested", "linked", "published", "committed", "claimed")
HIDDEN_FIELDS = {"id", "key", "on", "n", "as_of_until", "updated_at", "created_at", "updated_by"}
HIDDEN_ENDS = ("_id", "_key")
CHANGES_MAX = 4
VALUE_CHARS_MAX = 90
WRITTEN_CHARS_MAX = 4_000
LIST_OF_REFS = re.compile(r'\["[\w/.~>-]+"(?:, ?"[\w/.~>-]+")*\]')
TITLE_CHARS_MAX = 110
WORDS = {  # each begins an instruction such as “edit the facts to set /site/owner”
    "purpose.edit": "edit the draft",
    "purpose.draft": "start a draft of the plan",
    "purpose.discard": "discard the draft",
    "purpose.publish": "publish the draft",
    "purpose.record": "record a decision, a review or a waiver",
    "purpose.check": "look at the gates",
    "purpose.open": "look at the plan",
    "purpose.versions": "look at the versions of the plan",
    "context.edit": "edit the facts",
    "context.create_draft": "start a draft of the facts",
    "context.commit": "commit the facts",
    "context.discard": "discard the draft of the facts",
    "context.view": "look at the facts",
    "work.plan": "add tasks",
    "work.update": "edit the task",
    "work.claim": "claim the task",
    "work.connect": "link the tasks",
    "work.restructure": "move, merge or drop tasks",
    "work.context": "look at the task",
    "work.query": "search in the tasks",
    "work.history": "look at the history of the task",
    "knowledge.create": "write a note",
    "knowledge.update": "edit the note",
    "knowledge.delete": "delete the note",
    "knowledge.append_changelog": "add to the changelog",
    "knowledge.search": "look at the knowledge",
    "knowledge.get": "look at the note",
    "member.list": "look at the members",
    "member.add": "add a member",
    "event.list": "look at the history",
    "briefing.inbox": "look at the inbox",
    "briefing.search": "search everything",
    "briefing.undo": "undo it",
}
PARTS = {  # of the edits that a step names
    r"\badd_node\b": "add an item",
    r"\badd_edge\b": "add a link",
    r"\badd_assumption\b": "add an assumption",
    r"\badd_indicator\b": "add an indicator",
    r"\bupdate_node\b": "change the item",
    r"\bupdate_edge\b": "change the link",
    r"\bupdate_assumption\b": "change the assumption",
    r"\bupdate_indicator\b": "change the indicator",
    r"\bremove_node\b": "remove the item",
    r"\bremove_edge\b": "remove the link",
    r"\bremove_assumption\b": "remove the assumption",
    r"\bremove_indicator\b": "remove the indicator",
    r"\b(?:new_edge|node)_type\b": "type",
    r"\breview_by\b": "review by",
    r"\bbaseline_verified true\b": "baseline verified",
}
TYPES = re.compile(r"\b(?:FEEDBACK|GOAL|OUTCOME|OUTPUT|ACTIVITY)\b")
SEEN = frozenset({"shows", "lists"})  # what a page shows, a person sees there
OWNER = re.compile(r"with \w+ lets an owner (?P<act>.+)")
HISSING = re.compile(r"(?:sh|ch|ss|x|z|o)es")


class FieldChange(NamedTuple):
    """A field before and after, in words."""

    name: str
    before: str
    after: str


class FactValue(NamedTuple):
    """A value in words. A missing value and the empty text differ."""

    state: str  # set, empty or unset
    text: str = ""
    kind: ValueKind = ValueKind.STRING


class EventLine(NamedTuple):
    """One event in plain words."""

    id: str
    at: str
    actor: str
    verb: str
    subject: str
    title: str
    place: str
    decision: str
    changes: Sequence[FieldChange] = ()
    more: int = 0  # changes that are not shown


class ActorChanges(NamedTuple):
    """The changes that one actor made to several items."""

    actor: str
    verbs: str
    items: Sequence[EventLine]
    at: str  # the last of it


def describe_events(visit: Visit, events: Sequence[EventRecord]) -> list[EventLine]:
    """Return events in plain words, with the titles of their items."""
    refs = list(dict.fromkeys(event.subject for event in events))
    titled = visit.call("briefing.titles", refs=refs).found if refs else []
    titles = {item.ref: item for item in titled}
    base = get_base(visit.project.name)
    return [_describe(event, titles.get(event.subject), base, visit.project.name) for event in events]


def group_events(lines: Iterable[EventLine]) -> list[ActorChanges]:
    """Return the changes of each actor, newest first. Equal changes of several items are combined."""
    verbs: dict[tuple[str, str], list[EventLine]] = {}
    for line in lines:
        verbs.setdefault((line.actor, line.subject), []).append(line)
    grouped: dict[tuple[str, str], list[EventLine]] = {}
    for (actor, _), done in verbs.items():
        verb_words = _join(list(dict.fromkeys(line.verb for line in reversed(done))))
        grouped.setdefault((actor, verb_words), []).append(done[0])
    return [ActorChanges(actor, verb_words, items, items[0].at) for (actor, verb_words), items in grouped.items()]


def _join(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _describe(event: EventRecord, titled: Any, base: str, project: str) -> EventLine:
    slice_, _, what = event.op.partition(".")
    changes = list(event.changes or ())
    title = _find_title(event, titled, changes, project)
    at = titled.at if titled is not None else event.subject
    return EventLine(
        event.id,
        event.at,
        event.actor,
        VERBS.get(event.op, what.replace("_", " ")),
        event.subject,
        shorten_line(title, TITLE_CHARS_MAX),
        find_place(base, slice_, at),
        event.decision or "",
        *([(), 0] if what.endswith(WHOLE) else _describe_changes(changes)),
    )


def _find_title(event: EventRecord, titled: Any, changes: Sequence[Change], project: str) -> str:
    slice_ = event.op.partition(".")[0]
    if slice_ == "project" or event.op == "knowledge.checked":
        return project
    if titled is not None:
        return str(titled.title)
    if event.op in RUN_OPS:
        return "the facts"
    if slice_ == "purpose" and event.subject[:1] == "v" and event.subject[1:].isdigit():
        return f"version {event.subject[1:]}"
    values = {change.field: change.after or change.before for change in changes}
    known = (values.get(field) for field in TITLE_FIELDS)
    return next((text for text in known if isinstance(text, str)), OTHERWISE.get(slice_, event.subject))


def _describe_changes(changes: Sequence[Change]) -> tuple[list[FieldChange], int]:
    shown = [
        FieldChange(change.field.replace("_", " "), describe_value(change.before), describe_value(change.after))
        for change in changes
        if change.field not in HIDDEN_FIELDS and not change.field.endswith(HIDDEN_ENDS)
    ]
    return shown[:CHANGES_MAX], max(len(shown) - CHANGES_MAX, 0)


def describe_value(value: Any) -> str:
    """Return a value on one line in plain words."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer():
            return str(int(value))
        case str() if LIST_OF_REFS.fullmatch(value):  # as a decision keeps what it is about
            return describe_value(json.loads(value))
        case str():
            return shorten_line(value, VALUE_CHARS_MAX)
        case list():
            return shorten_line(", ".join(describe_value(item) for item in value), VALUE_CHARS_MAX)
        case {"type": kind, "ref": ref}:  # evidence
            return f"{kind}: {ref} {MARKS.get(value.get('checked'), '')}".rstrip()
        case dict() if all(isinstance(item, str | int | float) for item in value.values()):
            return shorten_line(
                ", ".join(f"{name} {describe_value(item)}" for name, item in value.items()), VALUE_CHARS_MAX
            )
    return shorten_line(json.dumps(value, ensure_ascii=False), VALUE_CHARS_MAX)


def write_value(value: Any, chars_max: int = WRITTEN_CHARS_MAX) -> str:
    """Return a value as editable text: a text unchanged, several texts as lines, and other values as JSON."""
    if value is None or value == []:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "\n".join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text if len(text) <= chars_max else f"{text[:chars_max]}…"


def describe_fact_value(kind: ValueKind, value: Any) -> FactValue:
    """Return a value in words."""
    if value is None:
        return FactValue("unset", kind=kind)
    if value == "":
        return FactValue("empty", kind=kind)
    if kind is ValueKind.BOOLEAN:
        return FactValue("set", "yes" if value else "no", kind)
    return FactValue("set", encode_json(value) if kind is ValueKind.JSON else str(value), kind)


class PageVocabulary(Vocabulary):
    """The vocabulary of the page."""

    def __init__(self, operations: Registry) -> None:
        self._commands = CliVocabulary(operations)

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the action of a person on the page; else the command."""
        return WORDS.get(operation) or self._commands.spell(operation, arguments)

    def call(self, operation: str, arguments: Mapping[str, Any], fill: Sequence[str] = ()) -> dict[str, Any]:
        """Return the command as data."""
        return self._commands.call(operation, arguments, fill)

    def tell(self, steps: Iterable[NextStep]) -> str:
        """Return the steps as instructions: `edit the draft to correct it, or waive it as an owner`."""
        sentence = ""
        for step in steps:
            # What only an owner may do is the other way out; all other steps follow each other.
            between = ", or " if OWNER.fullmatch(step.effect) else "; "
            sentence += f"{between if sentence else ''}{self._instruct(step)}"
        return sentence

    def _instruct(self, step: NextStep) -> str:
        if step.operation not in WORDS:
            return f"{self.spell(step.operation, step.arguments)} {step.effect}"
        if owner := OWNER.fullmatch(step.effect):
            return f"{owner['act']} as an owner"
        effect = step.effect.removeprefix("without allowPartial ").removesuffix(" begins one")
        first, _, rest = effect.partition(" ")
        if step.operation == "purpose.edit" and first == "with":
            return _replace_field_names(rest)
        if step.operation == "purpose.record" and rest.startswith("decisions "):
            return f"record a decision {rest.removeprefix('decisions ')}"
        if first == "with":
            return f"{WORDS[step.operation]} {effect}"
        act = _get_infinitive(first)
        is_said = WORDS[step.operation].startswith(f"{act} ")  # “publish the draft to publish it” says it twice
        return WORDS[step.operation] if is_said else f"{WORDS[step.operation]} to {act} {rest}".rstrip()


def _replace_field_names(instruction: str) -> str:
    for pattern, words in PARTS.items():
        instruction = re.sub(pattern, words, instruction)
    return TYPES.sub(lambda match: match[0].lower(), instruction)


def _get_infinitive(verb: str) -> str:
    """Return the infinitive of a verb: `add` for `adds`."""
    if verb in SEEN:
        return "see"
    return verb[:-2] if HISSING.search(verb) else verb.removesuffix("s")
