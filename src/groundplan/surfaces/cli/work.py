"""Views of the operations of the work graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from groundplan.kernel.links import LinkType
from groundplan.surfaces.cli.briefing import BRIEFING, format_change
from groundplan.surfaces.cli.drawing import (
    GAP,
    WARNINGS,
    Fields,
    ForEach,
    Lines,
    Part,
    Rows,
    TypeSwitch,
    View,
    When,
    format_left_out,
    read,
)
from groundplan.surfaces.cli.terminal import (
    INDENT,
    describe_lost,
    format_actor,
    format_claim_end,
    format_signed_evidence,
    format_title,
    format_value,
    pluralize,
    to_one_line,
)
from groundplan.work.kinds import DROPPED

if TYPE_CHECKING:
    from groundplan.work.graph.context import NodeContext
    from groundplan.work.graph.history import HistoryEvent
    from groundplan.work.graph.next import Offer
    from groundplan.work.graph.onboard import BlockedBrief, BranchBrief, ProjectBrief, RecentBrief
    from groundplan.work.graph.open import OpenedProject
    from groundplan.work.graph.query import FoundNodes
    from groundplan.work.graph.subtree import NodeTree
    from groundplan.work.links import ShownLink
    from groundplan.work.nodes import WorkCounts

Pairs = Iterator[tuple[str, Any]]


# --- Lines and values -----------------------------------------------------------------------------------------------


def format_counts(counts: WorkCounts) -> str:
    """Return the counts of open, ready, blocked and resolved nodes as a sentence."""
    return (
        f"{counts.unresolved} open of {counts.total}: {counts.actionable} ready to start, {counts.blocked} blocked, "
        f"{counts.resolved} resolved{f', of these {counts.dropped} dropped' if counts.dropped else ''}."
    )


def _mention(one: Any) -> str:
    return format_title(one.id, _get_summary(one))


def _get_summary(one: Any) -> str:
    excerpt = read(one, "excerpt")
    return one.summary or (f"{excerpt}…" if excerpt else "")


def _mention_ready(one: Any) -> str:
    return _mention(one) + describe_lost(one)


def _mark(one: Any) -> str:
    return "[-]" if one.outcome == DROPPED else "[x]" if one.resolved else "[ ]"


def _mention_with_mark(one: Any) -> str:
    return f"{_mark(one)} {_mention(one)}"


def _format_policies(answer: OpenedProject) -> Iterator[str]:
    policies = msgspec.structs.asdict(answer.policies) if isinstance(answer.policies, msgspec.Struct) else {}
    given = {name: value for name, value in policies.items() if value not in (UNSET, None)}
    if given:
        yield "policies: " + ", ".join(f"{name.replace('_', ' ')} {format_value(v)}" for name, v in given.items())


def _mention_claimant(claim: Any) -> str:
    return f"{_mention(claim)} ({format_actor(claim.claimed_by, claim.claimed_by_kind)})"


def _format_area(area: Any) -> str:
    return f"{to_one_line(area.name)}: {area.notes}"


def _list_what_waits(answer: Any) -> Iterator[str]:
    """Yield what a newcomer may settle or go on with: missing facts, open questions and drafts."""
    waiting = [f"{pluralize(answer.missing, 'required fact')} without a value"] if answer.missing else []
    waiting += [pluralize(answer.questions, "open question")] if answer.questions else []
    if answer.drafts:
        waiting += [f"draft {answer.drafts.purpose} of the purpose"] if answer.drafts.purpose else []
        waiting += [f"{pluralize(answer.drafts.facts, 'draft')} of facts"] if answer.drafts.facts else []
    if waiting:
        yield f"{', '.join(waiting)}."


def _format_goal(project: ProjectBrief) -> str:
    return format_title(project.name, project.goal or project.goal_excerpt)


def _join_ancestors(answer: Offer | NodeContext) -> str:
    return " > ".join(to_one_line(one.summary) for one in answer.ancestors or ())


def _list_properties(answer: Offer | NodeContext) -> Pairs:
    for name, value in (answer.node.properties or {}).items():
        if name == "_held" and getattr(answer, "until", UNSET) is None:
            continue  # the end of the claim says it
        yield name.removeprefix("_").replace("_", " "), value


def _list_evidence(answer: Offer | NodeContext) -> Pairs:
    for one in answer.node.evidence or ():
        yield "evidence", format_signed_evidence(one)
    if answer.node.evidence_total:
        yield "evidence", f"{answer.node.evidence_total} in total"


def list_merged(node: Any) -> Pairs:
    """Yield a name and a line for each node that was merged into a node."""
    for one in node.merged or ():
        yield "merged", format_title(one.id, one.summary)
    if node.merged_total:
        yield "merged", f"{node.merged_total} in total"


def _list_claim_end(offer: Offer) -> Pairs:
    if offer.until is not UNSET:
        yield "until", format_claim_end(offer.until)


def _list_inherited_links(offer: Offer) -> Pairs:
    inherited = offer.context_links.inherited if offer.context_links else UNSET
    for one in inherited or ():
        yield f"links of {one.node_id}", one.links


def _list_resolved_dependencies(offer: Offer) -> Pairs:
    for one in offer.resolved_deps or ():
        evidence = f" ({'; '.join(map(format_signed_evidence, one.evidence))})" if one.evidence else ""
        yield "after", f"{_mention(one)}{' (dropped)' if one.outcome == DROPPED else ''}{evidence}"


def _format_tree(top: NodeTree, level: int = 0) -> Iterator[str]:
    children = top.children or ()
    for child in children:
        yield f"{INDENT * level}{_mention_with_mark(child)}"
        yield from _format_tree(child, level + 1)
    if top.child_count:
        yield f"{INDENT * level}… {top.child_count - len(children)} more"


def _format_blocked(one: BlockedBrief) -> str:
    return f"{_mention(one)} -> {', '.join(map(_mention, one.waits_for))}"


def _format_branch(one: BranchBrief) -> str:
    return _mention_with_mark(one) + (f" ({one.open_children} open below)" if one.open_children else "")


def _describe_actor(event: HistoryEvent) -> str:
    return format_actor(event.agent, event.agent_kind)


def _format_event(one: RecentBrief) -> str:
    reason = one.decision or one.decision_excerpt
    return f"{one.action} {_mention(one)}" + (f", because: {to_one_line(reason)}" if reason else "")


def _format_related(one: Any) -> str:
    return f"{one.type} {'->' if one.direction == 'out' else '<-'} {_mention(one)}"


def _join_properties(one: Any) -> str:
    properties = (one.properties or {}).items()
    return ", ".join(f"{name.removeprefix('_')} {format_value(value)}" for name, value in properties)


def _format_count(answer: FoundNodes) -> Iterator[Part]:
    if answer.nodes:
        next_page = f" Next page: add --cursor {answer.next_cursor}" if answer.next_cursor else ""
        yield from (GAP, f"{len(answer.nodes)} of {answer.total}.{next_page}")


# --- Views ----------------------------------------------------------------------------------------------------------

NODE = (
    "rev: node.rev, state: node.state",
    _list_properties,
    "links: node.context_links",
    _list_evidence,
    lambda answer: list_merged(answer.node),
)
OPENED = (lambda answer: _mention(answer.root), lambda answer: format_counts(answer.summary), _format_policies)
PROJECTS = (
    Rows(
        "projects",
        "name, id, open: unresolved, resolved, dropped, changed: updated_at, summary",
        empty="No projects here. Next: groundplan work open NAME --goal 'what it is for'",
    ),
)
OFFERS = View(
    When("nodes", otherwise=("No node is available: {reason}.",)),
    ForEach(
        "nodes",
        lambda offer: _mention(offer.node),
        Fields(
            ("in", _join_ancestors),
            "claim",
            _list_claim_end,
            *NODE,
            _list_inherited_links,
            _list_resolved_dependencies,
            ("not shown", lambda offer: format_left_out(offer.left_out or {})),
            indent=INDENT,
        ),
    ),
    BRIEFING,
    WARNINGS,
)
SIDE_EFFECTS = (
    Lines("newly_actionable", _mention_ready, title="Now ready to start:"),
    Lines("auto_resolved", title="Resolved automatically:"),
    Lines("reopened", _mention, title="Reopened:"),
    WARNINGS,
)

PLANNED = View(Rows("created", "ref, id"), *SIDE_EFFECTS)
OUTLINE_ROWS = Rows(
    "nodes",
    "id, summary, state, kind, status, priority, claimed: claimed_by, open: open_children, of: children",
    empty="No nodes found.",
)


def _join_changes(event: HistoryEvent) -> str:
    more = [f"{event.left_out['changes']} more"] if event.left_out else []
    return "; ".join([*map(format_change, event.changes or ()), *more])


def list_links(node: Any) -> Iterator[tuple[str, str]]:
    """Yield a name and a line for each link of a node or a container."""
    for link_type in LinkType:
        for link in getattr(node, link_type) or ():
            yield link_type.replace("_", " "), _format_link(link)


def _format_link(link: ShownLink) -> str:
    notes = [f"from {link.inherited_from}"] if link.inherited_from else []
    notes += ["gone in the latest version"] if link.dangling else []
    title = "" if link.title == link.to else link.title or ""
    return format_title(link.to, title) + (f" ({', '.join(notes)})" if notes else "")


RENDERERS: dict[str, Callable[..., None]] = {
    "work.open": View(TypeSwitch({"OpenedProject": OPENED, "ProjectLines": PROJECTS})),
    "work.plan": PLANNED,
    "work.next": OFFERS,
    "work.claim": OFFERS,
    "work.context": View(
        lambda answer: _mention_with_mark(answer.node),
        Fields(
            ("in", _join_ancestors),
            *NODE,
            lambda answer: list_links(answer.node),
            "changed: node.updated_at",
            indent=INDENT,
        ),
        Lines("depends_on", lambda one: _mention_with_mark(one.node), title="Depends on:"),
        Lines("depended_by", lambda one: _mention_with_mark(one.node), title="Required by:"),
        Lines("related", _format_related, title="Related:"),
        Lines("children", _format_tree, title="Children:"),
        BRIEFING,
    ),
    "work.update": View(Rows("updated", "id: node_id, rev"), *SIDE_EFFECTS, When("graph_hints", "{graph_hints}.")),
    "work.connect": View(
        "{applied} applied.",
        Rows("rejected", "rejected: from_, to, reason", ("why", lambda one: one.path or one.near)),
        *SIDE_EFFECTS,
    ),
    "work.query": View(
        Rows(
            "nodes",
            ("", _mark),
            "id, summary, depth, state",
            ("properties", _join_properties),
            empty="No nodes found.",
        ),
        _format_count,
        footer=(),
    ),
    "work.outline": View(OUTLINE_ROWS, _format_count, footer=()),
    "work.dependencies": View(
        Rows(
            "nodes",
            "id, summary, state, claimed: claimed_by, waits for: waits_for, open: waits_for_open, holds up: holds_up",
            empty="No node waits for another.",
        ),
        GAP,
        Rows("links", "node, waits for: waits_for", ("", lambda one: "implied" if one.implied else "")),
    ),
    "work.restructure": View(Rows("details", "done: op, id: node_id, result"), *SIDE_EFFECTS),
    "work.analyse": View(
        Fields("total"),
        GAP,
        Rows("rows", "id, value, note, summary", empty="Nothing found."),
        WARNINGS,
    ),
    "work.onboard": View(
        ForEach("project", _format_goal, When("archived_at", "Status: archived")),
        Lines("counts", format_counts),
        _list_what_waits,
        Lines("purpose", title="Purpose:"),
        Lines("next", _mention, title="Ready to start:"),
        Lines("marks", title="In doubt:"),
        Lines("my_claims", _mention, title="Claimed by you:"),
        Lines("claims", _mention_claimant, title="Claimed by others ({claims_total}):"),
        Lines("areas", _format_area, title="Knowledge:"),
        Lines("blocked", _format_blocked, title="Blocked:"),
        Lines("tree", _format_branch, title="Plan:"),
        Lines("recent", _format_event, title="Recent changes:"),
        Rows("projects", "name, id, open: unresolved, actionable", ("summary", _get_summary)),
        GAP,
        Lines("hint"),
    ),
    "work.history": View(
        Rows(
            "events",
            "at: timestamp",
            ("who", _describe_actor),
            "what: action",
            ("changes", _join_changes),
            "why: decision",
            empty="No events recorded.",
        ),
    ),
}
