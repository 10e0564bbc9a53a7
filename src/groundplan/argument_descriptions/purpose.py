"""Arguments of the theory of change, its versions and observations."""

from __future__ import annotations

from collections.abc import Mapping

_VERSION = "The version: a number, `draft` or `published`. Default: the draft, else the latest published one."
_VERSION_OUT = "The version: a number, `draft` or `published`. Default: the latest published one, else the draft."
_AS_OF = "Only what was recorded by then: a date such as 2026-11-15, or an instant with its time zone."
_BY_KEY = "its key, the id of its row in the draft, or a `ref` of this request, earlier or later."
_ABOUT = "The subjects: keys, edges such as `AC1->OP2`, pointers of facts, ids of work nodes."
_IN_ANY_VERSION = "its key, or the id of its row in any version."

# Fields that an edit, a proposed operation and a document share.
_NODE = {
    "node_type": "The type of the node.",
    "title": "The title.",
    "description": "The full description.",
    "narrative": "The story around it.",
    "owner": "Who is responsible: any name, not necessarily that of a member.",
    "metadata": "Free metadata, up to 16,384 bytes as JSON.",
}
_EDGE = {
    "source": "The node at the start of the edge, the cause.",
    "target": "The node at the end of the edge, the effect.",
    "edge_type": "The type of the edge. Default: `CONTRIBUTES_TO`.",
    "mechanism": "How the cause brings about the effect.",
    "confidence": "How confident you are that it does.",
}
_ASSUMPTION = {
    "assumption_text": "What must hold.",
    "risk_level": "The risk if it does not hold.",
    "review_by": "The date by which it should be reviewed.",
}
_INDICATOR = {
    "name": "What is measured.",
    "unit": "The unit.",
    "direction": "The direction in which it should move.",
    "baseline": "The value at the start.",
    "baseline_verified": "Whether the baseline has been verified.",
    "target": "The value to reach.",
    "method": "How it is measured.",
    "frequency": "How often it is measured.",
}
_WAIVER = {
    "code": "The check, by its code.",
    "refs": "Which `refs` of the check; none for the whole check.",
    "reason": "Why the check may fail.",
    "owner": "Who is responsible for the waiver.",
    "due": "The last day of the waiver.",
}
_OWNER = {"owner": _NODE["owner"]}

ARGUMENTS: Mapping[str, str] = {
    "version": _VERSION,
    "purpose.export/version": _VERSION_OUT,
    "purpose.render/version": _VERSION_OUT,
    "purpose.render/detail": "`overview` draws groups of nodes, `all` every node. Default: overview above 120 nodes.",
    "purpose.render/group": "The id of a group of the overview, which is opened: its nodes, or the groups inside it.",
    "purpose.render/view": "The name of a view, as an imported Miradi diagram: only its nodes.",
    "purpose.observations/version": "Refused: observations belong to all versions.",
    "as_of": _AS_OF,
    "detail": "`full` omits nothing; `summary` omits nodes, edges and indicators; `observations` shows only what was "
    "recorded. Without it a long answer to an agent is shortened: row ids go first, mechanisms, confidences and "
    "assumptions never.",
    "purpose.observations/detail": "Always `observations`.",
    # An edit
    "operations": "The operations on the draft, which must exist, in order: all of them, or none.",
    "operations[].op": "The operation.",
    "operations[].ref": "A name for what is added, in this request; it takes precedence over an equal key.",
    **{f"operations[].{name}": text for name, text in {**_INDICATOR, **_NODE, **_EDGE, **_ASSUMPTION}.items()},
    "operations[].node_type": "The type of the node. Its key keeps the letters of its first type.",
    "operations[].metadata": "Free metadata, up to 16,384 bytes as JSON; merged with the existing one, and null "
    "removes a name.",
    "operations[].node": f"The node: {_BY_KEY}",
    "operations[].source": "The node at the start of the edge, the cause; as `node`.",
    "operations[].target": "The node at the end of the edge, the effect; as `node`. For an indicator: the value to "
    "reach, a number.",
    "operations[].edge_type": "The type of the edge; required if there are several between the two nodes. Default for "
    "a new edge: `CONTRIBUTES_TO`.",
    "operations[].new_edge_type": "The new type of the edge.",
    "operations[].assumption": f"The assumption: {_BY_KEY}",
    "operations[].indicator": f"The indicator: {_BY_KEY}",
    # Versions
    "from": "The base version of the comparison: its number, `draft` or `published`.",
    "to": "The version to compare with the base: its number, `draft` or `published`.",
    "purpose.draft/from": "The published version to start from: its number, or `published`. Keys stay the same. "
    "Default: the latest one, or an empty draft if there is none.",
    "purpose.draft/profile": "How strict its gates are. Default: that of the version it starts from, else `standard`.",
    "purpose.publish/detail": "`full` lists every check of the gates. Default: those that failed or are waived.",
    "label": "The label of the version. Default: v and its number.",
    # Checks
    "gate": "`A`: is it consistent? `B`: is it ready to run and to measure? Or `health`, `analysis`, `compliance`. "
    "Default: `A`.",
    **{f"purpose.{name}/gate": f"Always `{name}`." for name in ("health", "analysis", "compliance")},
    **{
        f"purpose.{operation}/{name}": f"Refused: only for {uses}."
        for operation in ("check", "health", "analysis", "compliance")
        for name, uses in {
            "profile": "gates",
            "operation": "compliance",
            "node": "analysis",
            "assumption": "analysis",
            "limit": "analysis",
            "as_of": "gates, health and analysis",
        }.items()
        if operation not in uses.replace("gates", "check")
    },
    "profile": "How strict the gates are. Default: the profile of the version.",
    "operation": 'The proposed operation to check, such as `{"kind": "publish"}`. '
    "Wrong values in it are reported in the checklist.",
    "operation.kind": "The kind of operation.",
    "operation.version": _VERSION,
    "operation.node": "The node, by key or row id.",
    "operation.assumption": "The assumption, by key or row id.",
    **{f"operation.{name}": text for name, text in {**_NODE, **_EDGE, **_ASSUMPTION}.items()},
    "operation.edge_type": "The type of the edge.",
    "operation.metadata": "The metadata.",
    "operation.new_edge_type": "The new type of the edge.",
    "operation.profile": "How strict the gates of the draft are.",
    "operation.label": "The label of the version.",
    "operation.from": "The version that a draft starts from.",
    "node": "List every path from this node to the goals, by key.",
    "assumption": "Show what depends on this assumption, by key.",
    "limit": "Maximum number of paths, and of refuted assumptions. Default: 50.",
    # Observations
    "measurements": "Measured values of indicators.",
    "measurements[].indicator": f"The indicator: {_IN_ANY_VERSION}",
    "measurements[].value": "The measured value.",
    "measurements[].as_of": "When it was measured: a date, or an instant with its time zone; not in the future.",
    "measurements[].source": "The source of the value.",
    "measurements[].note": "A note.",
    "reviews": "Reviews of assumptions.",
    "reviews[].assumption": f"The assumption: {_IN_ANY_VERSION}",
    "reviews[].status": "The new status; the latest review decides.",
    "reviews[].reason": "The reason.",
    "reviews[].evidence": "The evidence: an address, a place in a text.",
    "waivers": "Waivers for failing checks, each until a date; only an owner may add them.",
    **{f"waivers[].{name}": text for name, text in _WAIVER.items()},
    "decisions": "Decisions.",
    "decisions[].text": "The decision.",
    "decisions[].rationale": "The reason.",
    "decisions[].about": _ABOUT + " Default: those of what it supersedes and answers.",
    "decisions[].outcome": "The outcome.",
    "decisions[].supersedes": "The id of the decision that it replaces.",
    "decisions[].answers": "The id of the request that it answers.",
    "requests": "Questions that wait for a decision.",
    "requests[].question": "The question.",
    "requests[].about": _ABOUT,
    "requests[].to": "Who should decide.",
    # Files and pictures
    "format": "The format of the file. Only `json` can be imported again without loss.",
    "pathway": "Show only the paths through this node, by key; not together with a comparison.",
    "compare": "Show what changed since this version: its number, `draft` or `published`.",
    "theme": "The colours; `auto` follows the reader's screen. Default: `light`.",
    "document": "The theory of change, as exported in the format `json`.",
    "document.nodes": "The nodes.",
    "document.nodes[].key": "The name of the node in the document: a key such as `G1`, which is kept, or any name.",
    **{f"document.nodes[].{name}": text for name, text in _NODE.items()},
    "document.nodes[].title": "The title. It may be empty; gate A reports it.",
    "document.edges": "The edges, from cause to effect. Downward edges and cycles are accepted; gate A reports them.",
    **{f"document.edges[].{name}": text for name, text in _EDGE.items()},
    "document.assumptions": "The assumptions, each on a node or on an edge.",
    "document.assumptions[].key": "The name in the document, like the key of a node.",
    **{f"document.assumptions[].{name}": text for name, text in {**_ASSUMPTION, **_OWNER}.items()},
    "document.assumptions[].node": "The node that it belongs to; otherwise it belongs to an edge.",
    "document.assumptions[].source": "The node at the start of that edge.",
    "document.assumptions[].target": "The node at the end of that edge.",
    "document.assumptions[].edge_type": "The type of that edge. Default: `CONTRIBUTES_TO`.",
    "document.indicators": "The indicators.",
    "document.indicators[].key": "The name in the document, like the key of a node.",
    "document.indicators[].node": "The node that it belongs to.",
    **{f"document.indicators[].{name}": text for name, text in {**_INDICATOR, **_OWNER}.items()},
    "document.measurements": "Measurements of the indicators. Those that are recorded already are skipped.",
    "document.measurements[].indicator": "The name of the indicator in the document.",
    "document.measurements[].value": "The measured value.",
    "document.measurements[].as_of": "The day or instant of the measurement.",
    "document.measurements[].note": "A remark.",
    "document.waivers": "Waivers for failing checks, each until a date; only an owner may import them.",
    **{f"document.waivers[].{name}": text for name, text in _WAIVER.items()},
    "document.waivers[].refs": "Which `refs` of the check, by their names in the document; none for the whole check.",
    "document.format": "The version of the document format.",
    "document.profile": "How strict the gates of the draft are.",
    "keys": "`same`: keys of the document mean the same as in this project. `new`: everything gets a new key. Default: "
    "`same`, but a document is refused if most of its keys have other titles here.",
}
