"""The page with all components is for developers: it shows each of them, and only when asked for."""

from __future__ import annotations

import re

from groundplan.surfaces.web.render import FOLDER, STATIC
from tests.engines import Engine
from tests.surfaces.web.browser import Browser

# These are within others: the text of a field, its mark, and the state of the page in a form.
INNER = {"typed", "invalid", "keep_query"}
SELECTOR = re.compile(r"([^{}]+)\{")
LEADING = re.compile(r"\s*(?:/\*.*?\*/\s*)?\.([a-zA-Z][\w-]*)", re.DOTALL)
SHARED_SHEETS = ("components.css", "layout.css", "areas.css")


def test_the_page_exists_only_when_asked_for(browser: Browser, engine: Engine) -> None:
    assert browser.get("/_design").status == 404
    with Browser(engine.store, design=True) as developer:
        reply = developer.get("/_design")

    assert reply.status == 200
    assert reply.body.decode().count('data-theme="dark"') == 1


def test_every_component_is_shown() -> None:
    components = (FOLDER / "templates" / "components.html").read_text(encoding="utf-8")
    design = (FOLDER / "templates" / "design.html").read_text(encoding="utf-8")
    macros = set(re.findall(r"{% macro (\w+)", components)) - INNER

    assert {name for name in macros if f"ui.{name}(" not in design} == set()


def test_the_page_shows_what_scripts_and_other_templates_draw(engine: Engine) -> None:
    with Browser(engine.store, design=True) as developer:
        page = developer.get("/_design").body.decode()

    for part in ('class="toast"', 'class="picks"', 'class="theirs"', "Take theirs", "state-box-blocked", "Show each"):
        assert page.count(part) >= 2, part  # in light and in dark
    for state in ("covered", "overlapping", "partly", "uncovered"):
        assert page.count(f'class="cell cover-{state}"') == 2
    assert page.count('fill="url(#hatch-dark)"') == page.count('fill="url(#hatch-light)"') == 2


def test_every_class_of_the_style_is_used() -> None:
    style = "".join(path.read_text(encoding="utf-8") for path in STATIC.glob("*.css"))
    names = {name for selector in SELECTOR.findall(style) for name in re.findall(r"\.([a-zA-Z][\w-]*)", selector)}
    sources = [*FOLDER.glob("templates/*.html"), *STATIC.glob("*.js"), *FOLDER.rglob("*.py")]
    written = "".join(path.read_text(encoding="utf-8") for path in sources)
    made = set(re.findall(r"([a-z-]+-){", written))  # such as state-{{ state }} in a template, type-{name} in Python

    unused = {name for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", written)}
    assert {name for name in unused if not name.startswith(tuple(made))} == set()


def test_no_class_means_two_things_in_two_views() -> None:
    sheets = {path.name: path.read_text(encoding="utf-8") for path in STATIC.glob("*.css")}
    # The class that begins a selector is what the rule is for: `.slide .trail` belongs to slides, `.trail` to all.
    leading = {
        name: {found[1] for rule in SELECTOR.findall(style) for one in rule.split(",") if (found := LEADING.match(one))}
        for name, style in sheets.items()
    }
    shared = set().union(*(leading[name] for name in SHARED_SHEETS))
    owners = {
        one: sorted(name for name, classes in leading.items() if name not in SHARED_SHEETS and one in classes)
        for one in set().union(*leading.values()) - shared
    }

    assert {one: names for one, names in owners.items() if len(names) > 1} == {}
