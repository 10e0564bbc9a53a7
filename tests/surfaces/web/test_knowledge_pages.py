"""Knowledge on the page: the tree with its filters, one note, patterns with what they match, and the treemap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest

from tests.engines import Engine, fill_once, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import submit
from tests.surfaces.web.test_pages import HOSTILE, Tags, open_page

PAGE = "/p/atlas/knowledge"
COMMIT = "0123456789abcdef"
FILES = ["README.md", "docs/a.md", "src/pay/a.py", "src/pay/deep/b.py", "src/web/c.py"]
COVERAGE = f"{PAGE}?view=coverage"


def fill_knowledge(engine: Engine) -> dict[str, str]:
    """Write two atoms, a molecule and a check, and return the ids."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    nodes = [{"ref": "a", "summary": "Draw the coast", "context_links": ["src/web/c.py"]}]
    task = ada.call("work.plan", project="atlas", nodes=nodes).created[0].id
    about = {"projectId": "atlas", "createdByTaskId": task}
    shop = ada.call("knowledge.create", entityType="molecule", name="Shop", **about).molecule.id
    atom = {"entityType": "atom", **about}
    pay = ada.call(
        "knowledge.create", **atom, name="Pay", paths=["src/pay/**"], knowledge="Cents only.", moleculeId=shop
    ).atom.id
    deep = ada.call("knowledge.create", **atom, name="Deep", paths=["src/pay/deep/**"], knowledge=HOSTILE).atom.id
    checks = [{"id": pay, "version": 1, "freshness": "fresh"}, {"id": deep, "version": 1, "freshness": "changed"}]
    ada.call("knowledge.record_check", projectId="atlas", commit=COMMIT, atoms=checks, files=FILES)
    return {"task": task, "shop": shop, "pay": pay, "deep": deep}


@pytest.fixture
def ids(engine: Engine) -> dict[str, str]:
    """The ids of a project with knowledge."""
    return fill_once(engine, fill_knowledge)


@pytest.fixture
def browser(engine: Engine, ids: dict[str, str]) -> Iterator[Browser]:
    """A browser of Ada's, who is logged in; the store is filled before a server uses it."""
    with Browser(engine.store) as one:
        one.log_in()
        yield one


def read_tree(browser: Browser, **query: str) -> list[str]:
    """Return the names in the tree."""
    page = browser.get(f"{PAGE}?{urlencode(query)}").body.decode()
    tree = page.partition('<ul class="tree"')[2].partition("</ul>")[0]
    return re.findall(r'class="title"[^>]*>(?:<b>)?([^<]+)<', tree)


def test_the_tree_has_molecules_with_their_atoms_and_then_loose_atoms(browser: Browser, ids: dict[str, str]) -> None:
    page = open_page(browser, PAGE)

    assert read_tree(browser) == ["Shop", "Pay", "Deep"]
    assert "Without a molecule" in page.text
    assert page.operations == ["knowledge.create", "knowledge.create"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"kind": "molecule"}, ["Shop"]),
        ({"fresh": "changed"}, ["Deep"]),
        ({"fresh": "changed,fresh"}, ["Shop", "Pay", "Deep"]),
        ({"fresh": "orphaned"}, []),
        ({"text": "cents"}, ["Shop", "Pay"]),
        ({"path": "src/pay/deep/b.py"}, ["Shop", "Pay", "Deep"]),
        ({"path": "src/pay/deep/b.py", "text": "cents"}, ["Shop", "Pay"]),
        ({"path": "nothing/here"}, []),
    ],
)
def test_filters_narrow_the_tree(
    browser: Browser, ids: dict[str, str], query: dict[str, str], expected: list[str]
) -> None:
    assert read_tree(browser, **query) == expected


@pytest.mark.parametrize("path", ["a" * 4_097, "a/" * 2_048, HOSTILE, "../.."])
def test_any_path_can_be_asked_for(browser: Browser, ids: dict[str, str], path: str) -> None:
    page = open_page(browser, f"{PAGE}?{urlencode({'path': path})}")

    assert page.names.count("script") == 1


def test_a_note_says_everything_about_it(browser: Browser, ids: dict[str, str]) -> None:
    atom = open_page(browser, f"{PAGE}?note={ids['pay']}")
    words = " ".join(atom.text.split())
    molecule = open_page(browser, f"{PAGE}?note={ids['shop']}")

    assert "Cents only." in words
    assert "2 of 5 files of the last check match" in words
    assert "for Draw the coast" in words
    assert f"/p/atlas/history?subject={ids['pay']}" in atom.links
    assert set(atom.operations) == {
        "knowledge.create",
        "knowledge.update",
        "knowledge.append_changelog",
        "knowledge.delete",
    }
    assert f"{PAGE}?note={ids['pay']}" in molecule.links
    assert HOSTILE in open_page(browser, f"{PAGE}?note={ids['deep']}").text
    assert "Not here" in open_page(browser, f"{PAGE}?note=nothing").text


def test_a_viewer_sees_no_control_and_is_refused(engine: Engine, ids: dict[str, str]) -> None:
    with Browser(engine.store, actor=person("cleo")) as cleo:
        cleo.log_in()
        for query in ("", f"?note={ids['pay']}", "?view=coverage&show=list", "?patterns=src/**"):
            assert open_page(cleo, f"{PAGE}{query}").operations == []
        fields = {"entityType": "atom", "id": ids["pay"], "version": "1", "decision": "mine"}
        assert submit(cleo, PAGE, "knowledge.delete", **fields).status == 403


def test_an_atom_is_written_changed_confirmed_and_deleted_by_its_forms(
    browser: Browser, engine: Engine, ids: dict[str, str]
) -> None:
    ada = engine.session("ada")
    new = {"entityType": "atom", "projectId": "atlas", "name": "Web", "createdByTaskId": ids["task"]}
    assert submit(browser, PAGE, "knowledge.create", **new, **{"paths|list": "src/web/**\r\n"}).status == 303
    (web,) = [one for one in ada.call("knowledge.list", projectId="atlas").atoms if one.name == "Web"]
    this = {"entityType": "atom", "id": web.id}
    path = f"{PAGE}?note={web.id}"
    edit = {"name": "Pages", "paths|list": "src/web/**\nweb/**", "knowledge|text": "", "moleculeId|clear": ids["shop"]}
    assert submit(browser, path, "knowledge.update", **this, version="1", **edit).status == 303
    related = {"relatedAtoms.0.atomId": ids["pay"], "relatedAtoms.0.reason": "calls it"}
    assert submit(browser, path, "knowledge.update", **this, version="2", **related).status == 303
    assert "No longer related to Pay" in browser.get(path).body.decode()
    assert submit(browser, path, "knowledge.update", **this, version="3", **{"relatedAtoms|list": ""}).status == 303
    assert submit(browser, path, "knowledge.update", **this, version="4", confirm=COMMIT).status == 303
    log = {"parentType": "atom", "parentId": web.id, "taskId": ids["task"], "summary": "Split it"}
    assert submit(browser, path, "knowledge.append_changelog", **log).status == 303
    now = ada.call("knowledge.get", entityType="atom", id=web.id)

    assert (now.atom.name, now.atom.paths, now.atom.molecule_id) == ("Pages", ["src/web/**", "web/**"], ids["shop"])
    assert (now.atom.confirmed, now.changelog[0].summary) == (COMMIT, "Split it")
    assert "Split it" in open_page(browser, path).text
    assert submit(browser, path, "knowledge.delete", **this, version="5", decision="It is gone").status == 303
    assert "It is gone" in open_page(browser, f"/p/atlas/history?subject={web.id}").text


def test_a_conflict_shows_both_versions(browser: Browser, engine: Engine, ids: dict[str, str]) -> None:
    ada = engine.session("ada")
    ada.call("knowledge.update", entityType="atom", id=ids["pay"], version=1, knowledge="Theirs", paths=["pay/**"])
    mine = {"form": "edit", "knowledge|text": "Mine", "was|knowledge|text": "Cents only.", "name": "Pay"}
    patterns = {"paths|list": "my/**", "was|paths|list": "src/pay/**"}
    this = {"entityType": "atom", "id": ids["pay"], "version": "1"}
    reply = submit(browser, f"{PAGE}?note={ids['pay']}", "knowledge.update", **this, **mine, **patterns)
    page = reply.body.decode()

    assert reply.status == 409
    assert ">Mine</textarea>" in page
    assert "<b>Now:</b> Theirs" in page
    assert "<b>Now:</b> pay/**" in page
    assert "Save mine over it" in page


@pytest.mark.parametrize("pattern", ["src/[a", "../x", "a" * 3_000])
def test_a_pattern_that_is_refused_is_shown_at_its_field(browser: Browser, ids: dict[str, str], pattern: str) -> None:
    fields = {"entityType": "atom", "projectId": "atlas", "name": "<New>", "createdByTaskId": ids["task"]}
    reply = submit(
        browser, PAGE, "knowledge.create", **{**fields, "form": "new-atom", "paths|list": f"src/**\n{pattern}"}
    )
    page = reply.body.decode()
    field = page[page.index('id="new-atom"') :].partition("</textarea>")[0]

    assert reply.status == 400
    assert 'data-matches="matches-new"' in field
    assert 'aria-invalid="true"' in field
    assert "&lt;New&gt;" in field


def test_the_page_shows_which_files_patterns_match_before_they_are_saved(browser: Browser, ids: dict[str, str]) -> None:
    def show(patterns: str) -> str:
        page = browser.get(f"{PAGE}?{urlencode({'patterns': patterns})}").body.decode()
        part = page[page.index('id="matches-new"') :].partition("</div>")[0]
        return " ".join(Tags(f"<div {part}").text.split())

    assert show("src/**").startswith("3 of 5 files of the last check match.")
    assert show("src/**").endswith("src/pay/a.pysrc/pay/deep/b.pysrc/web/c.py")
    assert "**/*.md 2" in show("**/*.md\nlib/**")
    assert "lib/** 0: matches nothing" in show("**/*.md\nlib/**")
    assert "src/[a" in show("src/[a")
    assert show("") == ""


def test_patterns_that_cost_too_much_are_said_where_matches_are_shown(browser: Browser, engine: Engine) -> None:
    many = [f"{'b' * 40}/{n}" for n in range(19_000)]
    engine.session("ada").call("knowledge.record_check", projectId="atlas", commit="fedcba987", atoms=[], files=many)
    letters = "{a,b,c,d,e,f,g,h}"
    page = browser.get(f"{PAGE}?{urlencode({'patterns': f'**/*{letters}*{letters}*'})}").body.decode()

    assert "take too long" in page[page.index('id="matches-new"') :].partition("</div>")[0]


def test_the_treemap_has_a_cell_for_each_entry_and_one_tab_stop(browser: Browser, ids: dict[str, str]) -> None:
    page = browser.get(COVERAGE).body.decode()
    cells = re.findall(r'<a class="cell cover-(\w+)" href="([^"]+)" tabindex="(-?\d)" aria-label="([^"]+)"', page)

    assert [(state, tab, words) for state, _, tab, words in cells] == [
        ("partly", "0", "src/ 2 of 3 files covered, 1 by several atoms"),
        ("uncovered", "-1", "README.md not covered"),
        ("uncovered", "-1", "docs/ 0 of 1 files covered"),
    ]
    assert cells[0][1] == "/p/atlas/knowledge?view=coverage&amp;folder=src"
    below = open_page(browser, f"{COVERAGE}&folder=src")
    assert "src/pay" in " ".join(below.links).replace("%2F", "/")


def test_the_list_has_the_same_and_begins_with_what_recent_work_touched(browser: Browser, ids: dict[str, str]) -> None:
    page = browser.get(f"{COVERAGE}&show=list").body.decode()
    uncovered = re.findall(r'data-id="uncovered-([^"]*)"', page)

    assert uncovered == ["src/web", "", "docs"]
    assert page.count('<tr data-id="entry-') == 3
    assert "patterns=src%2Fweb%2F%2A%2A#new-atom" in page


@pytest.mark.parametrize("folder", ["nothing", "a" * 4_096, "a" * 4_097, HOSTILE, "src/../.."])
def test_a_folder_that_is_not_there_is_said_on_the_page(browser: Browser, ids: dict[str, str], folder: str) -> None:
    reply = browser.get(f"{COVERAGE}&folder={quote(folder)}")

    assert reply.status == 200
    assert 'class="refusal" role="alert"' in reply.body.decode()


def test_without_a_check_the_page_says_how_to_make_one(browser: Browser, engine: Engine) -> None:
    engine.session("ada").call("project.create", name="borealis")
    page = "/p/borealis/knowledge"

    assert "groundplan knowledge check --project borealis" in open_page(browser, f"{page}?view=coverage").text
    assert "after the first check" in open_page(browser, f"{page}?patterns=src/**").text


def test_hostile_names_of_files_are_text(browser: Browser, engine: Engine) -> None:
    files = [f"{HOSTILE}/{HOSTILE}", "a" * 4_096]
    engine.session("ada").call("knowledge.record_check", projectId="atlas", commit="fedcba987", atoms=[], files=files)
    for query in ("", "&show=list", f"&folder={quote(HOSTILE.partition('/')[0])}", "&patterns=**"):
        page = open_page(browser, f"{COVERAGE}{query}")
        assert page.names.count("script") == 1
