"""Arguments of facts, their runs, sources and suggestions."""

from __future__ import annotations

from collections.abc import Mapping

_DRAFT = "The draft, by its UUID, with or without dashes."
_COPIED = "Ignored: it belongs to the run that the document was exported from."

# The fields that inputs and constraints share.
_VALUE = {
    "domain": "The domain, in a word of your own. Default: `general`.",
    "label": "The label, for people; required for a new one.",
    "valueKind": "The kind of the value. Default: unchanged; for a new one derived from the value, except `enum`, "
    "which must be given.",
    "value": "The value, of any kind. Null means UNSET; an empty text is a value.",
    "valueString": "The value in the field of its kind, as answers have it, instead of `value`. Null means UNSET.",
    "valueNumber": "The same for `number`; it must be finite.",
    "valueBoolean": "The same for `boolean`.",
    "valueEnum": "The same for `enum`: one of the options, if there are any.",
    "valueJson": "The same for `json`: an array, an object, or any value in them.",
    "provenance": "The origin; `user-entered` only by a person. Default: `source-backed` with a source, "
    "else `user-entered` or `model-inferred`, by who writes.",
    "rationale": "The reason, for the history and for reviewers of a suggestion.",
}

ARGUMENTS: Mapping[str, str] = {
    "context.create_draft/scopeId": "The project, by name or id; created if it does not exist, and then yours.",
    "userId": "Only runs of this user, and shared runs.",
    "context.view/userId": "The latest commit among the runs of this user and shared runs.",
    "limit": "Maximum number of results on a page. Default: as many as fit.",
    "status": "Only runs with this status.",
    "pointers": "Only inputs at or below these JSON Pointers, such as `/site`. Constraints are always included.",
    "prefer": "Whether to show the given run, or the latest commit even if a run is given.",
    "runId": "The run, by its UUID, with or without dashes.",
    "context.view/runId": "The run, by id; a draft is allowed. Default: the latest commit, full or partial.",
    "context.export/runId": "The run, by id; a draft is allowed. Default: the latest commit, full or partial.",
    **{f"context.{verb}/runId": _DRAFT for verb in ("commit", "discard", "edit", "update_draft")},
    "ownership": "Whether the run is yours or shared. It does not affect permissions, which come from roles.",
    "context.update_draft/ownership": "Whether the run is yours or shared. Without it only the time of its last change "
    "is updated.",
    "copyFrom": "Copy everything from a run, including suggestions, under new ids: the id of the run, or `latest` for "
    "the latest commit. Default: start empty.",
    "allowPartial": "Allow required inputs to be unset; they are still reported as missing. The status is then "
    "`partial_committed`, even if nothing is missing.",
    "lean": "Omit null, empty and bookkeeping fields from the answer; values and evidence stay as they are.",
    "hydrate": "A document to fill with the facts, each at its pointer; `unplaced` lists those without a place in it.",
    "context.trace/pointer": "The fact, by its JSON Pointer.",
    "context.trace/limit": "How many of the latest runs to look into. Default: 10.",
    "from": "The base run of the comparison, by id.",
    "to": "The run to compare with the base, by id; of the same project.",
    # An edit
    "sources": "Sources to add or change; written first, so that the rest can refer to them.",
    "sources[].id": "A UUID: of the source to change, or a new one of your own, to cite it in this request.",
    "sources[].kind": "The kind of the source; required for a new one.",
    "sources[].title": "The title; required for a new source.",
    "sources[].uri": "The location: an address, a path, a shelf; required for a new source. Default for `manual`: "
    "the title.",
    "sources[].fileId": "The UUID of a file that is stored elsewhere.",
    "sources[].mimeType": "The media type of the file.",
    "sources[].sizeBytes": "The size of the file.",
    "sources[].parseStatus": "Whether the source has been read. Default: `pending`.",
    "sources[].excerpt": "A quotation from the source.",
    "sources[].rawMeta": "Free metadata, up to 16,384 bytes.",
    "inputs": "Inputs to add, or to change if there is one at the pointer. Omitted fields keep their values.",
    "inputs[].pointer": "Its JSON Pointer, such as `/site/location`.",
    **{f"inputs[].{name}": text for name, text in _VALUE.items()},
    "inputs[].required": "Whether a full commit requires a value. Default: `false`.",
    "inputs[].fieldType": "The form control, in a word of your own. Default: `text`, `select` or `boolean`, by the "
    "kind of the value.",
    "inputs[].options": "The allowed values of an `enum`, up to 8,192 bytes in total; null allows any.",
    "inputs[].sourceIds": "All sources of the value, by id; sources of this run.",
    "inputs[].evidenceSnippet": "A quotation from the source that supports the value.",
    "inputs[].id": "The id of a new input: a new UUID. An existing input keeps its id.",
    "constraints": "Constraints to add, or to change if the id or the key exists. Omitted fields keep their values.",
    "constraints[].id": "The id of the constraint to change; a new UUID adds a constraint under that id. Default: the "
    "constraint with the key.",
    "constraints[].key": "The subject; required for a new one. A run has one constraint for each key.",
    **{f"constraints[].{name}": text for name, text in _VALUE.items()},
    "constraints[].valueEnum": "The same for `enum`.",
    "constraints[].sourceId": "The source of the value, by id; a source of this run.",
    "constraints[].snippet": "A quotation from the source that supports the value.",
    "artifacts": "Artifacts made from the facts, to add, or to change if the id exists.",
    "artifacts[].id": "The id of the artifact to change; a new UUID adds an artifact under that id.",
    "artifacts[].type": "The type, in a word of your own; required for a new artifact.",
    "artifacts[].title": "The title; required for a new artifact.",
    "artifacts[].payload": "The content: an object of up to 65,536 bytes.",
    "links": "Links from inputs and constraints to their sources, to add; a constraint has one source.",
    "links[].pointer": "The JSON Pointer of the input.",
    "links[].constraint": "The key of the constraint, instead of `pointer`.",
    "links[].sourceId": "The source, by id; a source of this run.",
    "unlinks": "Links from inputs and constraints to their sources, to remove.",
    "unlinks[].pointer": "The JSON Pointer of the input.",
    "unlinks[].constraint": "The key of the constraint, instead of `pointer`.",
    "unlinks[].sourceId": "The source, by id.",
    "accept": "Suggestions that replace the current values, by id; people only.",
    "reject": "Suggestions to reject, by id; people only.",
    "remove": "What to remove from the draft: inputs by pointer, the others by id. Removed last, with links and "
    "suggestions.",
    "remove.inputs": "Inputs, by pointer. Only people may remove required, source-backed and user-entered ones.",
    "remove.constraints": "Constraints, by id. Only people may remove source-backed and user-entered ones.",
    "remove.sources": "Sources, by id. The only source of a value that stays is refused.",
    "remove.artifacts": "Artifacts, by id.",
    # A document to import
    "document": "The document: an export, or a complete view.",
    "document.sourcesById": "The sources, as in an edit, by the ids that the rest of the document uses.",
    "document.inputsByPointer": "The inputs, as in an edit, by pointer.",
    "document.constraints": "The constraints, as in an edit.",
    "document.artifactsByType": "Lists of artifacts, as in an edit, by type.",
    "document.format": "The version of the document format.",
    "document.suggestions": "Not imported, because suggestions are not facts yet; the answer says how many there were.",
    "document.next_cursor": "Refused: a view with a cursor is only one page.",
    **{
        f"document.{name}": _COPIED
        for name in ("scopeId", "contextVersionId", "run", "missing", "warnings", "rev", "displaced", "left_out")
    },
}
