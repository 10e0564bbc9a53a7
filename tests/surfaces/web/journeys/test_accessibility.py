"""Every screen passes the rules of axe, in light and dark, empty and full."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.base import AxeResults  # type: ignore[import-untyped] # it has no types
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped] # as above
from playwright.sync_api import Browser, Page

from groundplan.surfaces.web.pages import AREAS
from tests.surfaces.web.journeys.conftest import Site
from tests.surfaces.web.plan_pages import OPERATIONS

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
        ada.call("purpose.edit", project="full", operations=OPERATIONS)
        waiver = {"code": "GA_HIGH_RISK", "refs": ["AS1"], "reason": "Known", "owner": "ada", "due": "2999-01-01"}
        measured = {"indicator": "IN1", "value": 35, "as_of": "2026-01-01"}
        ada.call("purpose.record", project="full", waivers=[waiver], measurements=[measured])
        ada.call("purpose.publish", project="full")
        ada.call("purpose.draft", project="full")
        riskier = {"op": "add_assumption", "node": "AC1", "assumption_text": "Rigs come", "risk_level": "HIGH"}
        ada.call("purpose.edit", project="full", operations=[riskier])
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
        written = ada.call(
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
        known = {"entityType": "atom", "projectId": "full", "createdByTaskId": ids["b"]}
        group = ada.call("knowledge.create", **{**known, "entityType": "molecule"}, name="Ground").molecule.id
        atom = ada.call("knowledge.create", **known, name="Wells", paths=["docs/**"], moleculeId=group).atom.id
        near = [{"atomId": atom, "reason": "the same wells"}]
        ada.call("knowledge.create", **known, name="All", paths=["docs/deep/*"], relatedAtoms=near)
        ada.call("knowledge.append_changelog", parentType="atom", parentId=atom, taskId=ids["b"], summary="Measured")
        check = [{"id": atom, "version": 1, "freshness": "changed", "files": ["docs/wells.md"]}]
        files = ["docs/wells.md", "docs/deep/a", "src/a.py", "src/b.py", "README.md"]
        ada.call("knowledge.record_check", projectId="full", commit="0123abc", atoms=check, files=files)
        ada.call("work.update", updates=[{"node_id": ids["c"], "summary": "Test the water"}])
        event = ada.call("event.list", project="full", limit=1).events[0].id
    screens = [f"/p/{project}/{area}" for project in ("empty", "full") for area in AREAS]
    task = f"/p/full/work?open={ids['a']}&node={ids['b']}"
    work = [task, f"{task}&pick=wait&find=survey", f"{task}&pick=merge&find=test&into={ids['c']}"]
    work += [f"/p/full/work?{query}" for query in ("view=board", "view=board&columns=status", "text=drill&sort=recent")]
    work += ["/p/full/work?text=drill&by=ada&property=a%3A+1", "/p/full/work?under=zzzzzz"]
    work += [f"/p/full/work?view=graph{query}" for query in (f"&node={ids['c']}", "&show=path")]
    work += [f"/p/full/work?view=graph&show=blockers&node={ids['c']}", "/p/full/work?status=new"]
    found = ["/p/full/search?text=water", "/p/full/search?text=nothing", "/p/full/search?text=!"]
    of_history = [
        f"/p/full/history?event={event}",
        "/p/full/history?op=work&actor=nobody",
        "/p/full/history?day=x",
        "/p/full/history?until=1.0",
    ]
    facts = [
        f"/p/full/facts?run={run}&{query}"
        for query in (
            "fact=/pump",
            "constraint=walk",
            f"source={source['id']}",
            f"compare={committed}",
            f"artifact={written.artifacts[0].id}",
        )
    ]
    plan = [f"/p/full/plan?view={view}" for view in ("gates", "publish", "measures&review=AS1", "health")]
    plan += ["/p/full/plan?view=publish&version=1", "/p/full/plan?view=measures&as_of=2020-01-01"]
    plan += [f"/p/full/plan?{query}" for query in ("key=OC1&pathway=OC1", "edge=OC1-G1&add=GOAL", "view=list&key=OC1")]
    members = [f"/p/full/members?view={view}" for view in ("policies", "tokens", "project")]
    knowledge = [
        f"/p/full/knowledge?{query}"
        for query in (
            f"note={atom}",
            f"note={group}&text=wells",
            "view=coverage",
            "view=coverage&show=list&patterns=src/**",
            "view=coverage&folder=nothing",
            "patterns=src/[",
        )
    ]
    outside = ["/p/nothing/home", "/login", "/_design"]
    return [*screens, *knowledge, *found, *of_history, *work, *facts, *plan, *members, *outside]


def find_violations(page: Page, rules: dict[str, Any]) -> AxeResults:
    """Return what axe finds. A page gets axe once, because loading it takes as long as checking the colours."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    return AxeResults(page.evaluate("rules => axe.run(document, rules)", rules))


def check_rules(page: Page) -> None:
    """Fail if the page breaks a rule of axe, in light or dark."""
    page.emulate_media(color_scheme="light")
    found = Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()
    page.emulate_media(color_scheme="dark")
    found = Axe().run(page, options=COLOUR_RULES)
    assert found.violations_count == 0, found.generate_report()
    page.emulate_media(color_scheme="light")


def test_no_screen_breaks_a_rule_of_accessibility(site: Site, chromium: Browser, subtests: pytest.Subtests) -> None:
    context = chromium.new_context(base_url=site.address)
    context.add_cookies(site.cookies)
    page = context.new_page()
    for screen in list_screens(site):
        page.emulate_media(color_scheme="light")
        page.goto(screen)
        with subtests.test(screen=screen):
            found = find_violations(page, RULES)
            assert found.violations_count == 0, found.generate_report()
        page.emulate_media(color_scheme="dark")
        with subtests.test(screen=screen, scheme="dark"):
            found = find_violations(page, COLOUR_RULES)
            assert found.violations_count == 0, found.generate_report()
    context.close()


def test_a_colour_that_is_hard_to_read_in_the_dark_is_noticed(site: Site, chromium: Browser) -> None:
    context = chromium.new_context(base_url=site.address, color_scheme="light", bypass_csp=True)
    page = context.new_page()
    page.goto("/login")
    page.add_style_tag(content="@media (prefers-color-scheme: dark) { body * { color: #333; background: #222 } }")

    in_the_light = find_violations(page, COLOUR_RULES).violations_count
    page.emulate_media(color_scheme="dark")

    assert (in_the_light, find_violations(page, COLOUR_RULES).violations_count) == (0, 1)
    context.close()
