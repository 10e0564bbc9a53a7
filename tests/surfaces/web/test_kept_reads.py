"""A plan is read once for each revision of its project, whoever looks at it, and never shown to others."""

from __future__ import annotations

from groundplan.session import Session
from groundplan.surfaces.web.areas.plan.plan_visit import CACHE_KEY, PlanVisit, ReadCache, read_cached
from groundplan.surfaces.web.visit import Visit
from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_plan_pages import PLAN, fill

VIEWS = ("", "?view=list", "?key=OP1")


def list_kept(engine: Engine) -> set[object]:
    kept: ReadCache = engine.store.cache[CACHE_KEY]
    return set(kept.list_keys())


def test_a_plan_is_read_again_only_after_a_change(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    for view in VIEWS:
        browser.get(PLAN + view)
    first = list_kept(engine)
    for view in VIEWS:
        assert "Fee model agreed" in browser.get(PLAN + view).body.decode()
    assert list_kept(engine) == first

    rename = {"op": "update_node", "node": "OP1", "title": "Fees agreed"}
    engine.session("ben").call("purpose.edit", project="atlas", operations=[rename])

    for view in VIEWS:
        page = browser.get(PLAN + view).body.decode()
        assert "Fees agreed" in page
        assert "Fee model agreed</text>" not in page
    assert len(list_kept(engine)) == 2 * len(first)


def test_what_one_person_has_read_is_kept_for_members_only(engine: Engine) -> None:
    fill(engine)
    engine.session("ada").call("project.create", name="borealis")
    engine.session("ada").call("member.add", scopeId="borealis", userId="finn", role="owner")
    pages = {}
    for name in ("ada", "cleo", "finn"):
        with Browser(engine.store, actor=person(name)) as browser:
            browser.log_in()
            pages[name] = browser.get(PLAN)

    assert [pages[name].status for name in pages] == [200, 200, 404]
    assert "purpose.edit" in pages["ada"].body.decode()
    assert "purpose.edit" not in pages["cleo"].body.decode()
    assert "Fee model agreed" not in pages["finn"].body.decode()


def test_a_project_with_the_same_id_in_another_organization_is_another_one(engine: Engine) -> None:
    fill(engine)
    (project,) = engine.session("ada").call("project.list").projects
    read = []
    for organization in ("local", "elsewhere", "local"):
        session = Session(engine.store, person("ada", organization=organization))
        plan = PlanVisit(Visit(session, project, PLAN, {}), [], None)
        read.append(read_cached(plan, "name", lambda organization=organization: f"of {organization}"))  # type: ignore[misc] # as below

    assert read == ["of local", "of elsewhere", "of local"]


def test_versions_and_days_are_kept_apart(browser: Browser, engine: Engine) -> None:
    fill(engine)
    ada = engine.session("ada")
    ada.call("purpose.publish", project="atlas")
    ada.call("purpose.draft", project="atlas")
    rename = {"op": "update_node", "node": "OP1", "title": "Fees agreed"}
    ada.call("purpose.edit", project="atlas", operations=[rename])
    browser.log_in()

    for _ in range(2):
        assert "Fees agreed" in browser.get(PLAN).body.decode()
        assert "Fees agreed" not in browser.get(f"{PLAN}?version=1").body.decode()
        assert "Fees agreed" in browser.get(f"{PLAN}?version=draft").body.decode()


def test_only_the_answers_asked_for_last_are_kept() -> None:
    kept = ReadCache(kept_max=2)
    read = []
    for key in ("a", "b", "a", "c", "a", "b"):
        kept.read(key, lambda key=key: read.append(key))  # type: ignore[misc] # its type is that of the loop variable

    assert read == ["a", "b", "c", "b"]
    assert len(kept) == 2
