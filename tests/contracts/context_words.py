"""What the reference pages say about facts, their runs, sources and suggestions that the code does not."""

from __future__ import annotations

from typing import Any

_RUN = "The run: its UUID, with or without dashes."
_DRAFT = "The draft: its UUID, with or without dashes."
_OF_OLD_RUN = "Taken and passed over: it is of the run that the document was made from."

# What an input and a constraint have in common.
_VALUE = {
    "domain": "The field of knowledge it belongs to, in a word of your own; `general` without it.",
    "label": "What it is called, for people. A new one has a label.",
    "valueKind": "What sort of value it is. Without it that of the value which is there, else what `value` looks like; "
    "`enum` must be said.",
    "value": "The value, whatever its kind. Null means UNSET; the empty text is a value.",
    "valueString": "The value in the field of its kind, as answers have it, instead of `value`. Null means UNSET.",
    "valueNumber": "The same for `number`; it is finite.",
    "valueBoolean": "The same for `boolean`.",
    "valueEnum": "The same for `enum`: one of the options, where there are any.",
    "valueJson": "The same for `json`: an array, an object, or any value in them.",
    "provenance": "Where the value comes from, from the weakest to the strongest. Only people write `user-entered`. "
    "Without it `user-entered` where a person writes onto what a person entered, else `source-backed` where a source "
    "is named, else `user-entered` from a person and `model-inferred` from "
    "others.",
    "rationale": "Why one should believe it: shown beside a suggestion, kept in the history.",
}

# By the path on the wire; behind its operation where that means something else by it.
ARGUMENTS = {
    "context/scopeId": "The project, by id or by name.",
    "context.create_draft/scopeId": "The project, by id or by name. One that is not there is made, and yours.",
    "context/cursor": "`next_cursor` of the page before, with the same arguments.",
    "context/userId": "Only runs that are theirs or shared.",
    "context/limit": "How many on a page; as many as fit without it.",
    "context/status": "Only runs of this status.",
    "context/pointers": "Only inputs at these places or below them. Constraints stay, whatever this says.",
    "prefer": "`runId` insists on a run, `latest_commit` on the one in force even if a run is named.",
    "runId": _RUN,
    "context.view/runId": "A run, also a draft. Without it the facts in force: the latest commit, whole or partial.",
    "context.export/runId": "A run, also a draft. Without it the facts in force.",
    **{f"context.{verb}/runId": _DRAFT for verb in ("commit", "discard", "edit", "update_draft")},
    "ownership": "Whose the run is: yours, or nobody's in particular. Who may do what follows from roles alone.",
    "context.update_draft/ownership": "Whose it is from now on. Without it only the moment of its last change moves.",
    "copyFrom": "`latest`, or the run to begin with: its rows, suggestions too, under new ids. Without it, empty.",
    "allowPartial": "Let what is required be missing. The run is `partial_committed` then, even if nothing is.",
    "context/expected_rev": "The `rev` that you read. Refused if the run has changed since.",
    "from": "The run to compare with.",
    "to": "The run to compare, of the same project.",
    # What an edit writes
    "context/sources": "Sources to add or to change, before all else, so that the rest can name them.",
    "sources[].id": "The id of a source changes that one. One of your own, a fresh UUID, adds it under that id.",
    "sources[].kind": "Where it is from. A new source has a kind.",
    "sources[].title": "What it is called. A new source has a title.",
    "sources[].uri": "Where it is: an address, a path, a shelf. A new source has one.",
    "sources[].fileId": "The UUID of a file that is kept elsewhere.",
    "sources[].mimeType": "What sort of file it is.",
    "sources[].sizeBytes": "How large it is.",
    "sources[].parseStatus": "Whether somebody has read it; `pending` without it.",
    "sources[].excerpt": "What it says, in its own words.",
    "sources[].rawMeta": "Whatever else you like to keep of it, up to 16,384 bytes.",
    "inputs": "Inputs to add or, where there is one at the pointer, to change. What is left out stays.",
    "inputs[].pointer": "Where in the plan it belongs: a JSON Pointer, such as `/site/location`.",
    **{f"inputs[].{name}": words for name, words in _VALUE.items()},
    "inputs[].required": "Whether a whole commit must have it; `false` without it.",
    "inputs[].fieldType": "How a form would ask for it, in a word of your own; `text`, `select` or `boolean` by its "
    "kind without it.",
    "inputs[].options": "What an `enum` may be, together up to 8,192 bytes; null for anything.",
    "inputs[].sourceIds": "All the sources of this run that it was taken from.",
    "inputs[].evidenceSnippet": "The place in the source that says so.",
    "inputs[].id": "The id that a new input shall have, a fresh UUID. One that is there keeps its own.",
    "constraints": "Constraints to add or, with the id of one, to change. What is left out stays.",
    "constraints[].id": "The id of a constraint changes that one. One of your own, a fresh UUID, adds it under that "
    "id.",
    "constraints[].key": "What it is about. A new one has a key; several may have the same.",
    **{f"constraints[].{name}": words for name, words in _VALUE.items()},
    "constraints[].valueEnum": "The same for `enum`.",
    "constraints[].sourceId": "The source of this run that it was taken from.",
    "constraints[].snippet": "The place in the source that says so.",
    "artifacts": "What was made from the facts, to add or, with its id, to change.",
    "artifacts[].id": "The id of an artifact changes that one. One of your own, a fresh UUID, adds it under that id.",
    "artifacts[].type": "What sort of thing it is, in a word of your own. A new one has a type.",
    "artifacts[].title": "What it is called. A new one has a title.",
    "artifacts[].payload": "The thing itself: an object of up to 65,536 bytes.",
    "links": "Sources to name for inputs, beside those they have.",
    "links[].pointer": "Where the input is.",
    "links[].sourceId": "The source, of this run.",
    "unlinks": "Sources that inputs were not taken from after all.",
    "unlinks[].pointer": "Where the input is.",
    "unlinks[].sourceId": "The source.",
    "accept": "Suggestions, by their ids, that take the place of what stands. Only people decide.",
    "reject": "Suggestions, by their ids, that do not.",
    "context/remove": "What to take out of the draft again, last of all, with what hangs on it: links, suggestions.",
    "remove.inputs": "Inputs, by their pointers. Required, source-backed and user-entered ones only people take out.",
    "remove.constraints": "Constraints, by their ids; the same holds for them.",
    "remove.sources": "Sources, by their ids. One that alone backs a value which stays is refused.",
    "remove.artifacts": "Artifacts, by their ids.",
    # A document to take in
    "document": "What [context.export](#contextexport) gave, or a whole view.",
    "document.sourcesById": "Sources, as `sources` above, under the ids by which the rest names them.",
    "document.inputsByPointer": "Inputs, as `inputs` above, under their pointers.",
    "document.constraints": "Constraints, as above.",
    "document.artifactsByType": "Lists of artifacts, as above, under their types.",
    "document.format": "How documents are written; there is one way so far.",
    "document.suggestions": "Left behind: they are no facts yet. The answer says how many there were.",
    "document.next_cursor": "Refused: a view with this is only a page.",
    **{
        f"document.{name}": _OF_OLD_RUN
        for name in ("scopeId", "contextVersionId", "run", "missing", "warnings", "rev", "left_out")
    },
}

NOTES = {
    "context.create_draft": "A run is one state of the facts: a draft while it is made, then committed, once and for "
    "all. Whoever wants to change committed facts begins a draft with `copyFrom`.",
    "context.edit": "All of it is written, or nothing, in this order: sources, inputs, constraints, artifacts, links, "
    "unlinks, accept, reject, remove.\n\n"
    "A value that is not there is UNSET: all five `value…` fields are null. The empty text is a value: see "
    "[value states](../concepts/value-states.md).\n\n"
    "What is written with a lower provenance than that of the value which is there does not replace it. It waits "
    "beside it as a suggestion, named in `suggested`, for a person to accept or reject; what is accepted is "
    "`user-entered`. Whoever suggests again replaces their own suggestion. Onto what is UNSET everybody writes.\n\n"
    "Rows can be sent as they were read: `runId`, `createdAt`, `updatedAt` and `updatedBy` are taken and decide "
    "nothing, but the `runId` must be that of the run.",
    "context.commit": "From then on the run never changes. What is `source-backed` names a source by then, and unless "
    "`allowPartial` is said, nothing that is required is UNSET. Suggestions that wait stay with the run; a draft with "
    "`copyFrom` takes them along.",
    "context.view": "The same facts give the same bytes. `contextVersionId` is what to remember of the facts that were "
    "used, `missing` what is required and UNSET: assume no value for it, and do not hide that it is missing.\n\n"
    "Where the answer would be too long, it has `next_cursor`, and `left_out` counts what is still to come; all pages "
    "together are the whole view.\n\n"
    "Over MCP a refusal by a tool of this group also has a `name`: `PcivAuthRequiredError` where nobody says who they "
    "are, `PcivRlsDeniedError` where something is not there for them or not for their role, "
    "`PcivSchemaMismatchError` where the request is malformed, `PcivRuntimeInvariantError` where a value stands in the "
    "column of another kind, and `Error` for the rest.",
    "context.list": "The newest first.",
    "context.diff": "Inputs are the same by their pointer, constraints by their key, sources by kind and address. Of "
    "several changes the most important one is `change`, the others are in `also`. A `value` of null is UNSET.",
    "context.discard": "Its id stays taken, and the history stays readable.",
    "context.delete": "A draft is removed. A committed run keeps its rows and is out of everybody's view: as if it had "
    "never been there, also for what is in force.",
    "context.import": "Rows get new ids. What a person entered can only be taken in by a person.",
}

# How each page's examples begin.
FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "context": [
        ("context.create_draft", {"scopeId": "atlas"}),
        (
            "context.edit",
            {
                "runId": "{before}",
                "inputs": [
                    {"pointer": "/island/name", "label": "Name of the island", "value": "Atlas"},
                    {
                        "pointer": "/coast/length",
                        "label": "Length of the coast in km",
                        "required": True,
                        "value": 210,
                        "provenance": "model-inferred",
                    },
                ],
            },
        ),
        ("context.commit", {"runId": "{before}"}),
        ("context.create_draft", {"scopeId": "atlas", "ownership": "shared"}),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "context.create_draft": {"scopeId": "atlas", "copyFrom": "latest"},
    "context.edit": {
        "runId": "{run}",
        "sources": [
            {
                "id": "7b2e94d0-53c8-4f1a-9d06-c1e8a57f3b42",
                "kind": "file",
                "title": "Survey of 2027",
                "uri": "sheets/survey-2027.pdf",
            }
        ],
        "inputs": [
            {
                "pointer": "/coast/length",
                "value": 214.5,
                "sourceIds": ["7b2e94d0-53c8-4f1a-9d06-c1e8a57f3b42"],
                "evidenceSnippet": "214.5 km at low tide",
            },
            {"pointer": "/coast/tide", "label": "Height of the tide in m", "valueKind": "number", "required": True},
        ],
        "constraints": [{"key": "scale", "label": "Largest scale in print", "value": "1:25,000"}],
    },
    "context.commit": {"runId": "{run}", "allowPartial": True},
    "context.view": {"scopeId": "atlas"},
    "context.list": {"scopeId": "atlas"},
    "context.fetch_run": {"runId": "{run}"},
    "context.diff": {"from": "{before}", "to": "{run}"},
    "context.update_draft": {"runId": "{spare}", "ownership": "owned"},
    "context.discard": {"runId": "{spare}"},
    "context.delete": {"runId": "{before}"},
    "context.export": {"scopeId": "atlas"},
    "context.import": {
        "scopeId": "atlas",
        "document": {
            "format": 1,
            "sourcesById": {},
            "inputsByPointer": {
                "/coast/tide": {"pointer": "/coast/tide", "label": "Height of the tide in m", "value": 3.2}
            },
            "constraints": [],
            "artifactsByType": {},
        },
    },
}

# More of what an operation does, each behind a sentence about it.
FURTHER: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "context.edit": [
        (
            "A weaker value waits beside a stronger one:",
            {
                "runId": "{run}",
                "inputs": [
                    {
                        "pointer": "/island/name",
                        "value": "Atlantis",
                        "provenance": "model-inferred",
                        "rationale": "The oldest sheet has it so",
                    }
                ],
            },
        ),
        ("A person decides:", {"runId": "{run}", "accept": ["{suggestion}"]}),
    ],
}

# Commands that do more than their operation: they are written by hand, and read or write a file.
WRITTEN = {
    "context.export": "groundplan context export --project atlas --out facts.json",
    "context.import": "groundplan context import facts.json --project atlas",
}

# What the pages show in the place of ids. Runs get these names in the order in which they are begun.
RUNS = ("before", "spare", "run")
NODES = {
    "before": "9f3c61d27a584be0a1f64c0d8e25b793",
    "spare": "31d8b7e4c60f4a92b85e17f9a04c6d2e",
    "run": "e5a90f427d1b4c36983ad4b2f7160c8e",
    "suggestion": "a86d13f59e024b7cb4c07e9d52f1380b",
}
