"""The page with all components is for developers: it shows each of them, and only when asked for."""

from __future__ import annotations

import re

from groundplan.surfaces.web.pages import FOLDER
from tests.engines import Engine
from tests.surfaces.web.browser import Browser

# These are within others: the text of a field, and its mark.
INNER = {"typed", "invalid", "keep_query", "reference", "waiting"}  # parts of others, or only with what they read


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
