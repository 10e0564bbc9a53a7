"""A form runs an operation of its area, and no other: each area declares them, and its templates use all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from jinja2 import Environment, nodes

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.web.areas.inbox import SETTLING
from groundplan.surfaces.web.areas.plan.fixes import FIX_OPERATIONS
from groundplan.surfaces.web.pages import AREAS
from groundplan.surfaces.web.render import FOLDER
from tests.engines import Engine
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import begin, submit

TEMPLATES = FOLDER / "templates"
WAITING = "entry.operation"  # in components.html: the form of an item of the inbox
OF_NO_AREA = {"components.html", "design.html"}
MENDS = "plan_parts.html"  # its forms mend a finding: `mends.py` names their operations


class WrittenForm(NamedTuple):
    """A form in a template: which operations it can run; none if the template does not name them."""

    line: int
    operations: frozenset[str]


def read_forms(source: str) -> Iterator[WrittenForm]:
    """Yield the forms of a template: the calls of `ui.form`, whose second argument is the operation."""
    for call in Environment(autoescape=True).parse(source).find_all(nodes.Call):
        is_form = isinstance(call.node, nodes.Getattr) and call.node.attr == "form"
        if not is_form:
            continue
        given = [*call.args[1:2], *(one.value for one in call.kwargs if one.key == "operation")]
        named = {
            text.value for one in given for text in [one, *one.find_all(nodes.Const)] if isinstance(text, nodes.Const)
        }
        yield WrittenForm(call.lineno, frozenset(str(name) for name in named))


def find_area(template: str) -> str | None:
    """Return the area of a template, by the beginning of its name."""
    return next((path for path in AREAS if template.startswith(path)), None)


def list_forms() -> Iterator[tuple[str, WrittenForm]]:
    for path in sorted(TEMPLATES.glob("*.html")):
        if path.name not in {*OF_NO_AREA, MENDS}:
            for form in read_forms(path.read_text(encoding="utf-8")):
                yield path.name, form


def test_every_form_of_a_template_runs_an_operation_that_its_area_declares() -> None:
    for template, form in list_forms():
        area = find_area(template)
        assert area is not None, f"{template} has a form: name it after its area, such as work_{template}"
        where = f"{template}, line {form.line}"
        assert form.operations, f"{where}: write the operation as a text in the call of ui.form"
        missing = sorted(name for name in form.operations if not AREAS[area].has_form(name))
        assert not missing, f"{where} runs {missing}: add it to `operations` of the area {area!r}, or of its view"


def test_every_declared_operation_exists_and_is_run_by_a_form() -> None:
    used: dict[str, set[str]] = {path: set() for path in AREAS}
    for template, form in list_forms():
        used[find_area(template) or ""] |= form.operations
    for path in AREAS:
        for file in TEMPLATES.glob(f"{path}*.html"):
            if "ui.waiting(" in file.read_text(encoding="utf-8"):
                used[path] |= SETTLING
    used["plan"] |= FIX_OPERATIONS
    for path, area in AREAS.items():
        assert all(name in OPERATIONS for name in area.operations), path
        idle = sorted(area.operations - used[path])
        assert not idle, f"no template {path}*.html runs {idle}: remove it from `operations` of the area or of its view"


def test_only_the_items_of_the_inbox_and_the_mends_of_findings_choose_their_operation() -> None:
    """Else the tests above would not see what a form runs."""
    source = (TEMPLATES / "components.html").read_text(encoding="utf-8")

    other = source.count(f'{{% call form(entry.form ~ "-other", {WAITING}, ')
    assert other == 1
    assert source.count("{% call form(") - other == source.count(f"{{% call form(entry.form, {WAITING}, ") == 2
    mends = (TEMPLATES / MENDS).read_text(encoding="utf-8")
    assert mends.count("{% call ui.form(") == mends.count("{% call ui.form(one.form, one.operation, ") == 2


@pytest.mark.parametrize(
    ("area", "operation"), [("work", "token.create"), ("home", "work.plan"), ("search", "work.open")]
)
def test_an_operation_of_another_area_is_refused_whatever_the_role(
    browser: Browser, engine: Engine, area: str, operation: str
) -> None:
    begin(browser, engine)
    before = engine.session("ada").call("work.open", project="atlas").summary
    fields = {"project": "atlas", "nodes.0.ref": "n", "nodes.0.summary": "New", "kind": "agent", "name": "builder"}
    reply = submit(browser, f"/p/atlas/{area}", operation, **fields)

    assert reply.status == 400
    assert f"no form of the page {AREAS[area].title} runs &#39;{operation}&#39;" in reply.body.decode()
    assert engine.session("ada").call("work.open", project="atlas").summary == before
    assert [token.name for token in engine.session("ada").call("token.list").tokens] == ["ada"]


@pytest.mark.parametrize("area", ["work", "facts"])
def test_a_change_is_undone_on_the_page_where_it_was_made(browser: Browser, engine: Engine, area: str) -> None:
    task = begin(browser, engine)
    ada = engine.session("ada")
    ada.call("work.update", updates=[{"node_id": task, "summary": "Walk it twice"}])
    event = ada.call("event.list", project="atlas").events[0].id

    assert submit(browser, f"/p/atlas/{area}", "briefing.undo", project="atlas", event=event).status == 303
    assert ada.call("work.context", node_id=task).node.summary == "Walk the coast"
