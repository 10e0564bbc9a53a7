"""Render the checklist as Markdown, with fixed headings in a fixed order.

The SQL statements in it are those of the slice, so that the checklist shows what really runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.store.queries import Query, load_queries
from groundplan.purpose.compliance.checklist import NOT_APPLICABLE, ChecklistSection, ProposedOperation
from groundplan.purpose.editing import draft
from groundplan.purpose.markup import escape_inline, format_code_span
from groundplan.purpose.versions import publish, versions

SKILL = "toc-graph-engine"
CHECKBOXES = {True: "[x]", False: "[ ]", None: "[n/a]"}
NOT_AVAILABLE = "n/a"
SENTENCE_CHARS_MAX = 4_000  # a gate can name many nodes


def render_checklist(sections: list[ChecklistSection], proposal: ProposedOperation, now: str) -> str:
    title = proposal.kind.display_name
    head = [
        f"## ToC Graph Engine Compliance — {title}",
        "",
        f"**Date:** {now}  ",
        f"**Skill:** {SKILL}  ",
        f"**Operation:** {title}",
    ]
    blocks = ["\n".join(head)]
    for section, write in zip(sections, _WRITERS, strict=True):
        blocks.append("\n".join([f"### {section.number}. {section.title}", "", *write(section)]))
    return "\n\n---\n\n".join([*blocks, "**Checklist Complete.**"]) + "\n"


def _format_graph_model(section: ChecklistSection) -> Iterator[str]:
    yield from _format_items(section)
    yield ""
    yield f"**Tables:** {', '.join(format_code_span(name) for name in section.facts['tables']) or NOT_AVAILABLE}"
    yield ""
    yield f"**Schema Pattern:** {_format_verdict(section)}"


def _format_version_state(section: ChecklistSection) -> Iterator[str]:
    facts = section.facts
    yield "**Current ToC Version:**"
    yield f"- Version ID: {_format_code(facts['version_id'])}"
    yield f"- Project ID: {_format_code(facts['project_id'])}"
    yield f"- Status: {_format_code(facts['status'])}"
    yield ""
    yield "**Operation Requirements:**"
    yield from _format_items(section)
    yield ""
    can = "✅ YES (DRAFT)" if facts["can_modify"] else f"❌ NO ({facts['status'] or 'NO VERSION'} BLOCKED)"
    yield f"**Can Modify Current Version?** {can}"
    yield ""
    yield from format_statements("Version State Check", VERSIONS_QUERY)
    yield f"**Status:** {_format_verdict(section)}"


def _format_version_constraints(section: ChecklistSection) -> Iterator[str]:
    facts = section.facts
    yield "**For DRAFT versions:**"
    yield from _format_items(section, 0, 2)
    yield from (f"  {line}" for line in _format_sql(DRAFT_COUNT_QUERY))
    yield f"  - Drafts of this project: {facts['draft_count']} (must be 0 or 1)"
    yield ""
    yield "**For PUBLISH operations:**"
    yield from _format_items(section, 2, 6)
    for gate in facts["gates"]:
        failed = ", ".join(gate["failed"])
        yield f"  - Gate {gate['gate']} ({gate['profile']}): {'passed' if gate['passed'] else 'failed'}" + (
            f", blocked by {failed}" if failed else ""
        )
    yield ""
    yield from format_statements("Publishing SQL", *([PUBLISH_QUERY] if facts["gates"] else []))
    yield "**For CREATE DRAFT operations:**"
    yield from _format_items(section, 6)
    yield ""
    yield f"**Version Constraints Valid?** {_format_verdict(section)}"


def _format_node_operations(section: ChecklistSection) -> Iterator[str]:
    facts = section.facts
    yield f"**Operation Type:** {facts.get('operation') or NOT_AVAILABLE}"
    yield ""
    if facts:
        yield "**Node Details:**"
        yield f"- Node: {_format_code(facts['node'])}"
        yield f"- Node Type: {_format_text(facts['node_type'])}"
        yield f"- Title: {_format_code(facts['title'])}"
        yield f"- ToC Version: {_format_code(facts['version_id'])} (Status: {_format_text(facts['status'])})"
        yield ""
    yield "**Pre-Operation Checks:**"
    yield from _format_items(section)
    yield ""
    yield from format_statements(
        "Node SQL Template", *find_statements(facts.get("subject", ""), facts.get("operation"))
    )
    yield f"**Node Operation Valid?** {_format_verdict(section)}"


def _format_edge_operations(section: ChecklistSection) -> Iterator[str]:
    facts = section.facts
    yield f"**Operation Type:** {facts.get('operation') or NOT_AVAILABLE}"
    yield ""
    if facts:
        yield "**Edge Details:**"
        yield f"- Source Node: {_format_code(facts['source'])} (Type: {_format_text(facts['source_type'])})"
        yield f"- Target Node: {_format_code(facts['target'])} (Type: {_format_text(facts['target_type'])})"
        yield f"- Edge Type: {_format_text(facts['edge_type'])}"
        yield ""
    yield "**Graph Validity Checks:**"
    yield from _format_items(section)
    yield ""
    yield from format_statements("Edge SQL Template", *find_statements("edge", facts.get("operation")))
    yield f"**Edge Operation Valid?** {_format_verdict(section)}"


def _format_assumptions(section: ChecklistSection) -> Iterator[str]:
    facts = section.facts
    yield f"**Operation:** {facts['operation']} assumption" if facts else f"**Operation:** {NOT_AVAILABLE}"
    yield ""
    if facts:
        yield f"**Assumption Type:** {facts['type']}"
        yield ""
        yield "**Assumptions Attached To:**"
        yield f"- {facts['type']}: {_format_code(facts['on'])}"
        yield ""
    yield "**Pre-Operation Checks:**"
    yield from _format_items(section)
    yield ""
    about = f"{facts.get('type', '').lower()} assumption"
    yield from format_statements("Assumption SQL Template", *find_statements(about, facts.get("operation")))
    yield f"**Assumptions Valid?** {_format_verdict(section)}"


def _format_tenant_isolation(section: ChecklistSection) -> Iterator[str]:
    facts = section.facts
    yield from _format_items(section)
    yield ""
    yield f"- Queries checked: {facts['queries']}"
    if facts["findings"] is None:
        yield f"- Row level security: {facts['row_security']}"
    yield f"- Role of {_format_code(facts['actor'])}: {facts['role']} (needs {facts['permission']})"
    yield ""
    yield f"**Tenant Filter Applied?** {_format_verdict(section)}"
    yield ""
    yield f"**Role Allows It?** {'✅ YES' if facts['role_allows'] else '❌ NO (BLOCKED)'}"


def _format_decision(section: ChecklistSection) -> Iterator[str]:
    facts = section.facts
    yield f"**Status:** {_format_verdict(section)}"
    yield ""
    yield f"**Reason:** {'; '.join(escape_inline(reason, chars_max=SENTENCE_CHARS_MAX) for reason in facts['reasons'])}"
    yield ""
    yield "**Required Actions Before Proceeding:**"
    actions = facts["required_actions"] or ["None."]
    yield from (
        f"{number}. {escape_inline(action, chars_max=SENTENCE_CHARS_MAX)}" for number, action in enumerate(actions, 1)
    )


_WRITERS = (
    _format_graph_model,
    _format_version_state,
    _format_version_constraints,
    _format_node_operations,
    _format_edge_operations,
    _format_assumptions,
    _format_tenant_isolation,
    _format_decision,
)


def _format_items(section: ChecklistSection, first: int = 0, end: int | None = None) -> Iterator[str]:
    yield from (f"- {CHECKBOXES[item.ok]} {item.text}" for item in section.items[first:end])


def _format_verdict(section: ChecklistSection) -> str:
    if section.verdict == NOT_APPLICABLE:
        return NOT_APPLICABLE
    return f"{'❌' if 'BLOCKED' in section.verdict else '✅'} {section.verdict}"


def _format_code(value: object) -> str:
    return NOT_AVAILABLE if value is None else format_code_span(str(value))


def _format_text(value: object) -> str:
    return NOT_AVAILABLE if value is None else escape_inline(str(value))


VERSIONS_QUERY = versions.sql.versions
DRAFT_COUNT_QUERY = load_queries(__file__).draft_count
PUBLISH_QUERY = publish.sql.publish_version

# By subject and verb of the operation, in the order in which they run.
_STATEMENTS: dict[tuple[str, str], tuple[Query, ...]] = {
    ("node", "CREATE"): (draft.sql.add_node,),
    ("node", "UPDATE"): (draft.sql.change_node,),
    ("node", "DELETE"): (
        draft.sql.remove_indicators_on_node,
        draft.sql.remove_assumptions_on_node,
        draft.sql.remove_assumptions_on_edges_at_node,
        draft.sql.remove_edges_at_node,
        draft.sql.remove_node,
    ),
    ("indicator", "ADD"): (draft.sql.add_indicator,),
    ("indicator", "UPDATE"): (draft.sql.change_indicator,),
    ("indicator", "DELETE"): (draft.sql.remove_indicator,),
    ("edge", "CREATE"): (draft.sql.add_edge,),
    ("edge", "UPDATE"): (draft.sql.change_edge,),
    ("edge", "DELETE"): (draft.sql.remove_assumptions_on_edge, draft.sql.remove_edge),
    ("node assumption", "ADD"): (draft.sql.add_assumption,),
    ("node assumption", "UPDATE"): (draft.sql.change_assumption,),
    ("node assumption", "DELETE"): (draft.sql.remove_assumption,),
    ("edge assumption", "ADD"): (draft.sql.add_edge_assumption,),
    ("edge assumption", "UPDATE"): (draft.sql.change_edge_assumption,),
    ("edge assumption", "DELETE"): (draft.sql.remove_edge_assumption,),
}


def format_statements(title: str, *queries: Query) -> Iterator[str]:
    """Yield statements under their title; nothing if the operation runs none."""
    if queries:
        yield f"**{title}:**"
        yield from _format_sql(*queries)
        yield ""


def _format_sql(*queries: Query) -> Iterator[str]:
    """Yield statements that run on both engines, with their named parameters."""
    yield from ("```sql", *"\n\n".join(f"{query.sqlite};" for query in queries).splitlines(), "```")


def find_statements(subject: str, verb: str | None) -> tuple[Query, ...]:
    """Return the statements for a `node`, an `indicator`, an `edge`, a `node assumption` or an `edge assumption`."""
    return _STATEMENTS.get((subject, verb or ""), ())
