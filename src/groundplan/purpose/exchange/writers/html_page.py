"""Write a version as one HTML file that opens from disk: the picture, the numbered assumptions, and the list.

It has no script and loads nothing. Printed, it fills pages in landscape, in light colours.
"""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.purpose.dates import get_day
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import Assumption, Indicator, NodeType, PurposeEdge, PurposeNode
from groundplan.purpose.picture.subjects import build_plan_picture
from groundplan.purpose.picture.svg import draw
from groundplan.purpose.picture.text import escape_markup
from groundplan.purpose.picture.tokens import BAND_NAMES, COLOURS, FONT, PREFIX, RISK_NAMES, STATUS_NAMES, Theme

# The file may hold text of others: even if a viewer does not escape it, nothing in it runs or loads.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:"
STYLE = """
*{box-sizing:border-box}
body{margin:0 auto;padding:24px;max-width:1600px;font:15px/1.45 FONT;color:var(--gp-text);background:var(--gp-page)}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}h2{font-size:18px;margin:28px 0 8px}
h3{font-size:15px;margin:18px 0 6px}
p{margin:0}.quiet{color:var(--gp-subtext)}
figure{margin:16px 0 0;overflow-x:auto}figure svg{display:block;max-width:100%;min-width:640px;height:auto}
ol{margin:0;padding-left:2em}li{margin:0 0 6px;break-inside:avoid}
table{width:100%;border-collapse:collapse;table-layout:fixed}tr{break-inside:avoid}
th,td{padding:6px 10px 6px 0;text-align:left;vertical-align:top;
border-bottom:1px solid var(--gp-muted-line);overflow-wrap:anywhere}
thead th{color:var(--gp-subtext);font-size:13px}tbody th p,tbody th .quiet{font-weight:400}
th:last-child{width:9em}
td ul{margin:0;padding:0;list-style:none}
.risk-high{color:var(--gp-risk-high)}.risk-medium{color:var(--gp-risk-medium)}.risk-low{color:var(--gp-risk-low)}
@page{size:landscape;margin:12mm}
@media print{body{padding:0;max-width:none;font-size:11px}figure{overflow:visible;break-after:page}
figure svg{width:100%;min-width:0;max-height:165mm}h2,h3{break-after:avoid}}
"""


def write_html(theory: Theory) -> str:
    """Write a theory as an HTML file."""
    drawn = draw(build_plan_picture(theory), Theme.AUTO)
    goals = theory.content.list_nodes_of_type(NodeType.GOAL)
    title = goals[0].title if len(goals) == 1 else theory.project
    about = f"{theory.project}, {theory.display_name}"
    published = "" if theory.published_at is None else f", published on {get_day(theory.published_at)}"
    light = "".join(f"{PREFIX}{name}:{colour.light};" for name, colour in COLOURS.items())
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n',
        f"<title>{_escape(title)}</title>\n",
        f"<style>{STYLE.replace('FONT', FONT)}@media print{{html:root{{{light}}}}}</style>\n</head>\n<body>\n",
        f'<header><h1>{_escape(title)}</h1><p class="quiet">{_escape(about)}{_escape(published)}</p></header>\n',
        f"<main>\n<figure>{drawn.svg}</figure>\n",
        *_list_assumptions(theory),
        *_list_nodes(theory),
        "</main>\n</body>\n</html>\n",
    ]
    return "".join(parts)


def _escape(text: str) -> str:
    return escape_markup(text)


def _list_assumptions(theory: Theory) -> Iterator[str]:
    assumptions = theory.content.assumptions
    if not assumptions:
        return
    yield '<section aria-labelledby="assumptions"><h2 id="assumptions">Assumptions</h2>\n<ol>\n'
    for assumption in assumptions.values():
        text = f"{_escape(assumption.assumption_text)} {_describe_assumption(theory, assumption)}"
        yield f'<li id="{_escape(assumption.key)}">{text}</li>\n'
    yield "</ol></section>\n"


def _describe_assumption(theory: Theory, assumption: Assumption) -> str:
    level = (assumption.risk_level or "unsaid").lower()
    risk = f'<b class="risk-{_escape(level)}">{_escape(RISK_NAMES[assumption.risk_level])}</b>'
    words = [
        f"{assumption.key} on {assumption.edge or assumption.node}",
        STATUS_NAMES[theory.get_status(assumption.key)],
        *([f"owner {assumption.owner}"] if assumption.owner else []),
        *([f"review by {assumption.review_by}"] if assumption.review_by else []),
    ]
    return f'{risk} <span class="quiet">{_escape(", ".join(words))}</span>'


def _list_nodes(theory: Theory) -> Iterator[str]:
    numbers = {key: number for number, key in enumerate(theory.content.assumptions, 1)}
    assumed = theory.group_assumptions_by_subject()
    indicators = theory.group_indicators_by_node()
    leads: dict[str, list[PurposeEdge]] = {}
    for edge in theory.content.edges:
        leads.setdefault(theory.content.orient(edge.name).source, []).append(edge)
    yield '<section aria-labelledby="list"><h2 id="list">The plan as a list</h2>\n'
    for node_type, name in reversed(BAND_NAMES.items()):
        nodes = theory.content.list_nodes_of_type(node_type)
        if not nodes:
            continue
        yield f'<h3>{_escape(name)}</h3>\n<table><thead><tr><th scope="col">What</th><th scope="col">Indicators</th>'
        yield '<th scope="col">Leads to</th><th scope="col">Assumptions</th></tr></thead>\n<tbody>\n'
        for node in nodes:
            edges = leads.get(node.key, [])
            on = [
                *assumed.get(node.key, []),
                *(assumption for edge in edges for assumption in assumed.get(edge.name, [])),
            ]
            cells = (
                _list_lines(_describe_indicator(theory, indicator) for indicator in indicators.get(node.key, [])),
                _list_lines(_describe_edge(theory, edge) for edge in edges),
                ", ".join(f'<a href="#{_escape(assumption.key)}">{numbers[assumption.key]}</a>' for assumption in on),
            )
            row = "".join(f"<td>{cell}</td>" for cell in cells)
            yield f'<tr><th scope="row">{_describe_node(node)}</th>{row}</tr>\n'
        yield "</tbody></table>\n"
    yield "</section>\n"


def _list_lines(lines: Iterator[str]) -> str:
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _describe_node(node: PurposeNode) -> str:
    more = f'<p class="quiet">{_escape(node.description)}</p>' if node.description else ""
    return f'{_escape(node.title)} <span class="quiet">{_escape(node.key)}</span>{more}'


def _describe_edge(theory: Theory, edge: PurposeEdge) -> str:
    effect = theory.content.orient(edge.name).target
    node = theory.content.nodes.get(effect)
    because = f' <span class="quiet">{_escape(edge.mechanism)}</span>' if edge.mechanism else ""
    return f"{_escape(effect if node is None else node.title)}{because}"


def _describe_indicator(theory: Theory, indicator: Indicator) -> str:
    unit = f" {indicator.unit}" if indicator.unit else ""
    latest = theory.latest.get(indicator.key)
    words = [
        *([] if indicator.baseline is None else [f"from {indicator.baseline:g}{unit}"]),
        *([] if indicator.target is None else [f"to {indicator.target:g}{unit}"]),
        "not measured" if latest is None else f"{latest.value:g}{unit} on {get_day(latest.as_of)}",
    ]
    return f'{_escape(indicator.name)} <span class="quiet">{_escape(", ".join(words))}</span>'
