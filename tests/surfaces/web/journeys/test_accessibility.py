"""Every screen passes the rules of axe, in light and dark, empty and full."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped] # it has no types
from playwright.sync_api import Browser

from groundplan.surfaces.web.project_pages import AREAS
from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
# The rules about colours: a scheme changes nothing else.
COLOUR_RULES = {**RULES, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def list_screens(site: Site) -> list[str]:
    """Return the addresses of all screens: each area, empty and full, and pages that say what is wrong."""
    with site.open_as("ada") as ada:
        ada.call("project.create", name="empty")
        ada.call("project.create", name="full", goal="Safe water for all")
        nodes = [
            {"ref": "a", "summary": "Build", "properties": {"priority": 2}},
            {"ref": "b", "summary": "Drill", "parent_ref": "a", "context_links": ["docs/wells.md"]},
            {"ref": "c", "summary": "Test", "parent_ref": "a", "depends_on": ["b"]},
            {"ref": "d", "summary": "Survey"},
        ]
        ids = {one.ref: one.id for one in ada.call("work.plan", project="full", nodes=nodes).created}
        ada.call("work.claim", node_id=ids["b"])
        ada.call("section.add", entityType="TASK", entityId=ids["b"], title="Context Files", content="- docs/wells.md")
        ada.call("work.update", updates=[{"node_id": ids["b"], "properties": {"depth": 30}}])
        evidence = [{"type": "note", "ref": "seen"}]
        ada.call("work.update", updates=[{"node_id": ids["d"], "resolved": True, "add_evidence": evidence}])
        ada.call("purpose.draft", project="full")
        theory = [
            {"op": "add_node", "ref": "g", "node_type": "GOAL", "title": "Safe water"},
            {"op": "add_node", "ref": "o", "node_type": "OUTCOME", "title": "Wells are used"},
            {"op": "add_edge", "source": "o", "target": "g", "confidence": "low"},
            {"op": "add_assumption", "node": "o", "assumption_text": "They are near", "risk_level": "HIGH"},
            {"op": "add_assumption", "source": "o", "target": "g", "assumption_text": "They stay clean"},
            {"op": "add_indicator", "node": "o", "name": "Litres", "baseline": 1, "target": 5},
        ]
        ada.call("purpose.edit", project="full", operations=theory)
        ada.call("work.update", updates=[{"node_id": ids["a"], "serves": ["OC1"]}])
        run = ada.call("context.create_draft", scopeId="full").run.id
        fact = {"pointer": "/wells", "label": "Wells", "domain": "d", "required": True, "valueKind": "number"}
        source = {"id": "7b2e94d0-53c8-4f1a-9d06-c1e8a57f3b42", "kind": "url", "title": "S", "uri": "https://a.example"}
        options = {
            "pointer": "/pump",
            "label": "Pump",
            "valueKind": "enum",
            "options": ["hand", "foot"],
            "value": "foot",
        }
        ada.call(
            "context.edit",
            runId=run,
            sources=[source],
            inputs=[fact, {**fact, "pointer": "/depth", "value": 30, "sourceIds": [source["id"]]}, options],
            constraints=[{"key": "walk", "label": "Way to water", "value": 10, "sourceId": source["id"]}],
            artifacts=[{"type": "report", "title": "A report", "payload": {"a": 1}}],
        )
        ada.call("member.add", scopeId="full", userId="builder", role="editor", kind="agent")
        with site.open_as("builder", "agent") as agent:
            pump = {"pointer": "/pump", "value": "hand", "rationale": "cheaper"}
            agent.call("context.edit", runId=run, inputs=[pump])
        committed = ada.call("context.create_draft", scopeId="full").run.id
        ada.call("context.edit", runId=committed, inputs=[{**fact, "value": 12}])
        ada.call("context.commit", runId=committed)
        ada.call("purpose.record", project="full", requests=[{"question": "Which village comes first?"}])
        ada.call("work.update", updates=[{"node_id": ids["c"], "summary": "Test the water"}])
    screens = [f"/p/{project}/{area}" for project in ("empty", "full") for area in AREAS]
    task = f"/p/full/work?open={ids['a']}&node={ids['b']}"
    work = [task, f"{task}&pick=wait&find=survey", f"{task}&pick=merge&find=test&into={ids['c']}"]
    work += [f"/p/full/work?{query}" for query in ("view=board", "view=board&columns=status", "text=drill&sort=recent")]
    work += ["/p/full/work?text=drill&by=ada&property=a%3A+1", "/p/full/work?under=zzzzzz"]
    found = ["/p/full/search?text=water", "/p/full/search?text=nothing", "/p/full/search?text=!"]
    of_history = ["/p/full/history?actor=nobody", "/p/full/history?day=x", "/p/full/history?until=1.0"]
    facts = [
        f"/p/full/facts?run={run}&{query}"
        for query in ("fact=/pump", "constraint=walk", f"source={source['id']}", f"compare={committed}")
    ]
    plan = [f"/p/full/plan?{query}" for query in ("key=OC1&pathway=OC1", "edge=OC1-G1&add=GOAL", "view=list&key=OC1")]
    members = ["/p/full/members?view=policies", "/p/full/members?view=tokens"]
    return [*screens, *found, *of_history, *work, *plan, *facts, *members, "/p/nothing/home", "/login"]


def test_no_screen_breaks_a_rule_of_accessibility(site: Site, chromium: Browser, subtests: pytest.Subtests) -> None:
    context = chromium.new_context(base_url=site.address)
    context.add_cookies(site.cookies)
    page = context.new_page()
    for screen in list_screens(site):
        page.emulate_media(color_scheme="light")
        page.goto(screen)
        with subtests.test(screen=screen):
            found = Axe().run(page, options=RULES)
            assert found.violations_count == 0, found.generate_report()
        page.emulate_media(color_scheme="dark")
        with subtests.test(screen=screen, scheme="dark"):
            found = Axe().run(page, options=COLOUR_RULES)
            assert found.violations_count == 0, found.generate_report()
    context.close()


def test_a_colour_that_is_hard_to_read_in_the_dark_is_noticed(site: Site, chromium: Browser) -> None:
    context = chromium.new_context(base_url=site.address, color_scheme="light", bypass_csp=True)
    page = context.new_page()
    page.goto("/login")
    page.add_style_tag(content="@media (prefers-color-scheme: dark) { body * { color: #333; background: #222 } }")

    in_the_light = Axe().run(page, options=COLOUR_RULES).violations_count
    page.emulate_media(color_scheme="dark")

    assert (in_the_light, Axe().run(page, options=COLOUR_RULES).violations_count) == (0, 1)
    context.close()
