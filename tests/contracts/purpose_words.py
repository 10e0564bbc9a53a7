"""What the reference pages say about the theory of change, its versions and observations that the code does not."""

from __future__ import annotations

from typing import Any

_VERSION = "A number, `draft`, or `published` for the one published last. Without it the draft, else that one."
_NODE = "The node: its key, the id of its row in the draft, or a `ref` of this call, earlier or later."
_AS_OF = "Only what was recorded by then: a day, all of it, or an instant with its time zone."

# By the path on the wire; behind its operation where that means something else by it.
ARGUMENTS = {
    "policies.publish_role": "Who may publish the purpose. Default: owners; `editor` lets editors do it too.",
    "policies.publish_gates": "Which gates a version passes to be published: `A` (the default), or A and B.",
    "purpose/version": _VERSION,
    "purpose/cursor": "`next_cursor` of the page before, with the same arguments.",
    "purpose/as_of": _AS_OF,
    "purpose.open/detail": "`full` leaves nothing out; `summary` has no nodes, edges and indicators; `observations` is "
    "[purpose.observations](#purposeobservations). Without it a long answer to an agent is shortened.",
    "purpose.observations/detail": "Is `observations`.",
    "purpose.observations/version": "Is refused: observations are of all versions.",
    "purpose/expected_rev": "The `rev` that you read. Refused if the draft has changed since.",
    # What an edit does
    "purpose/operations": "What to do, in order: all of it, or nothing.",
    "purpose/operations[].op": "What to do.",
    "purpose/operations[].node_type": "What the node is. Its key keeps the letters of the type that it began with.",
    "purpose/operations[].title": "What it is called.",
    "purpose/operations[].ref": "Your name for what is added, in this call. It hides a key of the same letters.",
    "purpose/operations[].description": "What is meant, in as many words as it takes.",
    "purpose/operations[].narrative": "The story around it.",
    "purpose/operations[].owner": "Who looks after it: a name, not necessarily of a member.",
    "purpose/operations[].metadata": "Whatever you like, up to 16,384 bytes as JSON; merged with what is there, and "
    "null takes a name away.",
    "purpose/operations[].node": _NODE,
    "purpose/operations[].source": "Where the edge begins, at the cause: as `node`.",
    "purpose/operations[].target": "Where the edge ends, at the effect: as `node`. Of an indicator: what to "
    "reach, a number.",
    "purpose/operations[].edge_type": "Which edge, where there are several between the two; of a new one "
    "`CONTRIBUTES_TO` without it.",
    "purpose/operations[].new_edge_type": "What the edge becomes.",
    "purpose/operations[].mechanism": "How the one brings about the other.",
    "purpose/operations[].confidence": "How sure we are that it does.",
    "purpose/operations[].assumption_text": "What must hold.",
    "purpose/operations[].risk_level": "What it would mean if it did not hold.",
    "purpose/operations[].review_by": "The day by which somebody should look at it again.",
    "purpose/operations[].assumption": "The assumption: its key, the id of its row, or a `ref`.",
    "purpose/operations[].name": "What is measured.",
    "purpose/operations[].unit": "In which unit.",
    "purpose/operations[].direction": "Which way it should move.",
    "purpose/operations[].baseline": "What it was in the beginning.",
    "purpose/operations[].baseline_verified": "Whether somebody has made sure of that.",
    "purpose/operations[].method": "How it is measured.",
    "purpose/operations[].frequency": "How often.",
    "purpose/operations[].indicator": "The indicator: its key, the id of its row, or a `ref`.",
    # Versions
    "purpose/from": "The version to compare with: a number, `draft` or `published`.",
    "purpose/to": "The version to compare.",
    "purpose.draft/from": "The published version to begin with, every field of it under the same keys. Without it the "
    "one published last, or nothing where none is.",
    "purpose.draft/profile": "How strictly it will be looked at. Without it as the version it begins with, else "
    "`standard`.",
    "label": "What the version is called; `v3` for version 3 without it.",
    # Checks
    "purpose/gate": "Gate `A`: does it hold together? Gate `B`: is it ready to run and to measure? Or health, analysis "
    "or compliance. Gate `A` without it.",
    **{f"purpose.{name}/gate": f"Is `{name}`." for name in ("health", "analysis", "compliance")},
    **{
        f"purpose.{operation}/{name}": f"Is refused: it is for {sorts}."
        for operation in ("check", "health", "analysis", "compliance")
        for name, sorts in {
            "profile": "gates",
            "operation": "compliance",
            "node": "analysis",
            "assumption": "analysis",
            "limit": "analysis",
            "as_of": "gates, health and analysis",
        }.items()
        if operation not in sorts.replace("gates", "check")
    },
    "purpose/profile": "Look at it as strictly as this, for gates. Without it as strictly as the version asks for.",
    "purpose/operation": "The operation that is thought of, for compliance. Words in it may be wrong: the checklist "
    "says so.",
    "operation.kind": "What is to be done.",
    "operation.version": "In which version: a number, `draft` or `published`. Without it the draft, else the one "
    "published last.",
    "operation.node": "The node that is meant, by key or row id.",
    "operation.node_type": "What it is to be.",
    "operation.title": "What it is to be called.",
    "operation.metadata": "Its metadata.",
    "operation.source": "Where the edge begins, by key or row id.",
    "operation.target": "Where it ends.",
    "operation.edge_type": "Of which type it is.",
    "operation.new_edge_type": "Of which type it is to be.",
    "operation.assumption": "The assumption that is meant, by key or row id.",
    "operation.assumption_text": "What is to be assumed.",
    "operation.risk_level": "Of which risk it is.",
    "operation.description": "What is to be said about the node.",
    "operation.narrative": "The story that is to be told of it.",
    "operation.owner": "Who is to look after it.",
    "operation.mechanism": "How the cause is to bring the effect about.",
    "operation.confidence": "How sure one is of it.",
    "operation.review_by": "By which day it is to be reviewed.",
    "operation.profile": "How strictly the draft is to be looked at.",
    "operation.label": "What the version is to be called.",
    "operation.from": "The version that a draft is to begin from.",
    "purpose/node": "For analysis: the node from which pathways lead to goals, by key.",
    "purpose/assumption": "For analysis: the assumption of which is asked what rests on it, by key.",
    "purpose/limit": "For analysis: how many pathways at most; 50 without it.",
    # Observations
    "measurements": "What indicators showed.",
    "measurements[].indicator": "The indicator: its key, or the id of its row in any version.",
    "measurements[].value": "What it showed.",
    "measurements[].as_of": "When it showed that: a day, or an instant with its time zone; not in the future.",
    "measurements[].source": "Where the number is from.",
    "measurements[].note": "What else is to be said about it.",
    "reviews": "What looks at assumptions found.",
    "reviews[].assumption": "The assumption: its key, or the id of its row in any version.",
    "reviews[].status": "What was found. The latest review decides.",
    "reviews[].reason": "Why.",
    "reviews[].evidence": "What shows it: an address, a place in a text.",
    "waivers": "Checks that somebody answers for until a day; owners only.",
    "waivers[].code": "The check.",
    "waivers[].refs": "For which of its `refs`; none for the check as a whole.",
    "waivers[].reason": "Why it can be answered for.",
    "waivers[].owner": "Who answers for it.",
    "waivers[].due": "The last day on which it counts.",
    "decisions": "What was decided.",
    "decisions[].text": "What.",
    "decisions[].rationale": "Why.",
    "decisions[].about": "What it is about: keys, or names of edges such as `AC1->OP2`.",
    "decisions[].outcome": "What came of it.",
    # Files and pictures
    "purpose/format": "As what. `json` comes back byte for byte.",
    "pathway": "A node, by key: show what leads to it and what it leads to. Not with `compare`.",
    "compare": "Show what changed since this version: a number, `draft` or `published`.",
    "theme": "Its colours; `auto` is as the reader's screen is.",
    "purpose/document": "A theory, as [purpose.export](#purposeexport) writes it with the format `json`.",
    "document.nodes": "The nodes.",
    "document.nodes[].key": "What the node is called in the document: a key of ours, which it keeps, or any name.",
    "document.nodes[].node_type": "What it is.",
    "document.nodes[].title": "What it is called. It may be empty: Gate A will say so.",
    "document.nodes[].description": "What is meant, in as many words as it takes.",
    "document.nodes[].narrative": "The story around it.",
    "document.nodes[].owner": "Who looks after it.",
    "document.nodes[].metadata": "Whatever you like, up to 16,384 bytes as JSON.",
    "document.edges": "The edges, drawn from cause to effect. They may lead down and close cycles: Gate A will say so.",
    "document.edges[].source": "The node at which it begins, as the document calls it.",
    "document.edges[].target": "The node at which it ends.",
    "document.edges[].edge_type": "Of which type it is.",
    "document.edges[].mechanism": "How the one brings about the other.",
    "document.edges[].confidence": "How sure one is that it does.",
    "document.assumptions": "The assumptions, each on a node or on an edge.",
    "document.assumptions[].key": "What it is called in the document, as the key of a node.",
    "document.assumptions[].assumption_text": "What must hold.",
    "document.assumptions[].node": "The node that it is on; else it is on an edge.",
    "document.assumptions[].source": "Where that edge begins.",
    "document.assumptions[].target": "Where it ends.",
    "document.assumptions[].edge_type": "Of which type it is; `CONTRIBUTES_TO` without it.",
    "document.assumptions[].risk_level": "What it would mean if it did not hold.",
    "document.assumptions[].owner": "Who looks after it.",
    "document.assumptions[].review_by": "The day by which somebody should look at it again.",
    "document.indicators": "The indicators.",
    "document.indicators[].key": "What it is called in the document, as the key of a node.",
    "document.indicators[].node": "The node that it is on.",
    "document.indicators[].name": "What is measured.",
    "document.indicators[].unit": "In which unit.",
    "document.indicators[].direction": "Which way it should move.",
    "document.indicators[].baseline": "What it was in the beginning.",
    "document.indicators[].baseline_verified": "Whether somebody has made sure of that.",
    "document.indicators[].target": "What to reach.",
    "document.indicators[].method": "How it is measured.",
    "document.indicators[].frequency": "How often.",
    "document.indicators[].owner": "Who looks after it.",
    "document.waivers": "Checks that somebody answers for until a day; only owners may bring them.",
    "document.waivers[].code": "The check.",
    "document.waivers[].refs": "For which of its `refs`, as the document calls them; none for the check as a whole.",
    "document.waivers[].reason": "Why it can be answered for.",
    "document.waivers[].owner": "Who answers for it.",
    "document.waivers[].due": "The last day on which it counts.",
    "document.profile": "How strictly the draft will be looked at.",
    "purpose/keys": "`same`: keys in the document mean what they mean in this project. `new`: everything gets a new "
    "key. Without it as `same`, but where most of them had other titles here, the document is refused.",
}

NOTES = {
    "purpose.edit": "Everything has a stable key that is never given again: `G1` goals, `OC1` outcomes, `OP1` outputs, "
    "`AC1` activities, `AS1` assumptions, `IN1` indicators. An edge is called by its ends, `AC1->OP1`, and "
    "`AC1->OP1/CAUSES` where it is no contribution. New nodes are made before all else, so a `ref` can be used before "
    "the operation that gives it.\n\n"
    "What an update leaves out stays; null takes an optional field away. A node goes with its edges, assumptions and "
    "indicators, an edge with its assumptions.\n\n"
    "Edges are drawn from cause to effect. In the profiles `standard` and `strict` they neither point down the chain "
    "activity, output, outcome, goal nor close a cycle; `FEEDBACK` edges may do both.",
    "purpose.open": "Over MCP, where `detail` is not said, an answer above 2,500 tokens leaves out the ids of rows, "
    "then long texts, then more, of the last rows first; `left_out` says of how many rows. There `defaults` counts "
    "what most rows have alike: no `assumptions`, no `metadata`, the `edge_type` CONTRIBUTES_TO. Where that does not "
    "make it short enough, nothing is left out, and what does not fit follows on further pages: `next_cursor` leads "
    "there, `left_out` counts what is to come, and all pages together are the whole.",
    "purpose.check": "The same content and the same observations give the same bytes. A published version is looked at "
    "with what was known when it was published, so its gates say for ever what they said; with `as_of` with what was "
    "known then. A check is `waived` when somebody answers for all of it: see [purpose.record](#purposerecord).",
    "purpose.health": "Over MCP this is `toc_check` with the gate `health`.",
    "purpose.analysis": "Over MCP this is `toc_check` with the gate `analysis`.",
    "purpose.compliance": "Over MCP this is `toc_check` with the gate `compliance`. Nothing is done: the checklist "
    "says what would become of the operation.",
    "purpose.record": "What is recorded never changes. It is about stable keys, so it is about every version that has "
    "them, published or not. Of several waivers for the same the latest decides, also one that is past its day. A "
    "review that says `refuted` is answered with what rests on the assumption, in `affected`.",
    "purpose.observations": "Over MCP this is `toc_open` with the detail `observations`.",
    "purpose.publish": "The gates are run in the same transaction, on exactly this content. What is published never "
    "changes again; its hash, the facts in force and what the gates said are kept with it. Policy `publish_role` lets "
    "editors publish too, policy `publish_gates` asks for Gate B as well.",
    "purpose.draft": "A project has one draft at a time.",
    "purpose.discard": "Its number is the next draft's. Keys that it gave out are not given again.",
    "purpose.diff": "The same key is the same thing. `markdown` is the comparison as a text to read.",
    "purpose.export": "The same content and the same observations give the same bytes. What each format keeps and "
    "loses stands in [formats](formats.md).",
    "purpose.render": "The same content, observations and arguments give the same bytes. Nothing in the picture is "
    "loaded from elsewhere, and no text in it can become a part of its structure.",
    "purpose.import": "Everything in the document comes in, or nothing. Keys of ours (`G1`, `OC2`, `OP3`, `AC4`, "
    "`AS5`, `IN6`) are kept, and counting goes on behind them; other names get fresh keys, which `keys` in the answer "
    "tells. Where keys are kept, what was measured, reviewed and waived under them goes on.\n\n"
    "Cycles and edges that lead down come in, and Gate A names them. An edge from a node to itself, one that is there "
    "twice, and a name that the document does not have are refused. Waivers that are past their day or in force here "
    "already are left out and counted in `skipped`.",
}

_ATLAS = {"project": "atlas"}

# How each page's examples begin.
FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "purpose": [
        ("project.create", {"name": "atlas"}),
        ("purpose.draft", _ATLAS),
        (
            "purpose.edit",
            {
                **_ATLAS,
                "operations": [
                    {"op": "add_node", "ref": "goal", "node_type": "GOAL", "title": "Nobody gets lost on the island"},
                    {"op": "add_node", "ref": "use", "node_type": "OUTCOME", "title": "Walkers follow the map"},
                    {"op": "add_node", "ref": "map", "node_type": "OUTPUT", "title": "A map of the coast"},
                    {"op": "add_edge", "source": "map", "target": "use"},
                    {"op": "add_edge", "source": "use", "target": "goal"},
                ],
            },
        ),
        ("purpose.publish", _ATLAS),
        ("purpose.draft", _ATLAS),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "purpose.edit": {
        **_ATLAS,
        "operations": [
            {"op": "add_edge", "source": "walk", "target": "OP1", "mechanism": "What was seen is drawn the same day"},
            {"op": "add_node", "ref": "walk", "node_type": "ACTIVITY", "title": "Walk the coast", "owner": "ben"},
            {
                "op": "add_assumption",
                "source": "OP1",
                "target": "OC1",
                "assumption_text": "Walkers take a map along",
                "risk_level": "HIGH",
                "owner": "ada",
                "review_by": "2099-06-01",
            },
            {
                "op": "add_indicator",
                "node": "OC1",
                "name": "Walkers who were seen off the paths",
                "unit": "a month",
                "direction": "decrease",
                "baseline": 40,
                "target": 5,
            },
            {"op": "update_node", "node": "G1", "description": "By day and by night, in every season"},
        ],
    },
    "purpose.open": _ATLAS,
    "purpose.check": {**_ATLAS, "gate": "A"},
    "purpose.health": {**_ATLAS, "gate": "health"},
    "purpose.analysis": {**_ATLAS, "gate": "analysis", "node": "AC1", "assumption": "AS1"},
    "purpose.compliance": {
        **_ATLAS,
        "gate": "compliance",
        "operation": {"kind": "create_edge", "source": "AC1", "target": "OC1"},
    },
    "purpose.record": {
        **_ATLAS,
        "measurements": [{"indicator": "IN1", "value": 31, "as_of": "2026-05-01", "source": "Logbook of the wardens"}],
        "reviews": [{"assumption": "AS1", "status": "at_risk", "reason": "Many walk by what their phones show them"}],
        "decisions": [
            {
                "text": "Offer the map for phones too",
                "rationale": "It is what walkers have at hand",
                "about": ["AS1", "OP1->OC1"],
            }
        ],
    },
    "purpose.observations": {**_ATLAS, "detail": "observations"},
    "purpose.diff": {**_ATLAS, "from": 1, "to": "draft"},
    "purpose.publish": {**_ATLAS, "label": "Second edition"},
    "purpose.versions": _ATLAS,
    "purpose.draft": {**_ATLAS, "from": 1, "profile": "strict"},
    "purpose.discard": _ATLAS,
    "purpose.export": {**_ATLAS, "format": "json"},
    "purpose.render": {**_ATLAS, "compare": 1},
    "purpose.import": {
        **_ATLAS,
        "document": {
            "nodes": [
                {"key": "G1", "node_type": "GOAL", "title": "Nobody gets lost on the island"},
                {"key": "signs", "node_type": "OUTCOME", "title": "Walkers see where they are"},
            ],
            "edges": [{"source": "signs", "target": "G1", "mechanism": "Who knows where they are turns round in time"}],
        },
    },
}

# The commands of operations that do more than those.
WRITTEN = {
    "purpose.export": "groundplan purpose export --project atlas --out theory.json",
    "purpose.render": "groundplan purpose render --project atlas --compare 1 --svg changes.svg",
    "purpose.import": "groundplan purpose import theory.json --project atlas",
}

# More of what an operation does, each behind a sentence about it.
FURTHER: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "purpose.check": [
        ("The same in another profile:", {**_ATLAS, "gate": "A", "version": "published", "profile": "strict"}),
    ],
    "purpose.record": [
        (
            "An owner answers for a check:",
            {
                **_ATLAS,
                "waivers": [
                    {
                        "code": "GA_MECHANISM",
                        "refs": ["OC1->G1"],
                        "reason": "Everybody knows how",
                        "owner": "ada",
                        "due": "2099-12-31",
                    }
                ],
            },
        ),
    ],
}
