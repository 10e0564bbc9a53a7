"""What a page already shows of a canvas is not sent again, and what it shows then is what was drawn."""

from __future__ import annotations

import re

import pytest

from groundplan.surfaces.web.areas.plan.canvas_patches import (
    CANVASES_KEPT,
    PARTS_KEPT,
    CanvasDrawing,
    CanvasElement,
    compute_digest,
)
from groundplan.surfaces.web.pages import SHOWN_CANVAS
from tests.engines import Engine
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.plan_pages import PLAN, fill_form, fill_theory, read_page

_GROUP = re.compile(r'<g data-id="(links|cards)"( data-patch)?>(.*?)</g>', re.DOTALL)
_PART = re.compile(r'<a data-id="(\w+)"( data-same)?>.*?</a>')
_DIGEST = re.compile(r'data-drawn="(\w+)"')


def draw(**cards: str) -> CanvasDrawing:
    parts = {key: CanvasElement(key, f'<a data-id="{key}">{title}</a>') for key, title in cards.items()}
    return CanvasDrawing("<g>", {"links": {}, "cards": parts}, 10, 10)


def apply(shown: str, answer: str) -> dict[str, str]:
    """Change the cards of a page as its script does."""
    before = {key: part[0] for part in _PART.finditer(shown) for key in [part[1]]}
    for name, patch, content in _GROUP.findall(answer):
        if name == "cards":
            sent = {part[1]: (part[0], part[2]) for part in _PART.finditer(content)}
            fresh = {key: before[key] if same else text for key, (text, same) in sent.items()}
            return before | fresh if patch else fresh
    raise AssertionError(answer)


@pytest.mark.parametrize(
    ("after", "sent"),
    [
        (draw(A="one", B="two"), 0),
        (draw(A="one", B="new"), 1),
        (draw(A="one", B="two", C="three"), 3),  # two of them are named only
        (draw(B="two"), 1),
        (draw(B="two", A="one"), 2),
        (draw(), 0),
    ],
)
def test_a_page_shows_what_was_drawn_after_it_took_over_what_differs(after: CanvasDrawing, sent: int) -> None:
    shown = draw(A="one", B="two")
    page = shown.write()
    answer = after.write(compute_digest(shown))

    assert apply(page, answer) == {part.name: part.svg for part in after.groups["cards"].values()}
    assert len(_PART.findall(answer)) == sent
    assert f'data-from="{compute_digest(shown)}"' in answer


def test_a_canvas_that_is_not_known_any_more_is_answered_with_a_whole_one() -> None:
    first = draw(A="first")
    first.write()
    for number in range(CANVASES_KEPT):
        draw(A=str(number)).write()

    assert draw(A="first", B="two").write(compute_digest(first)) == draw(A="first", B="two").svg
    assert draw(A="first").write('"><script>') == first.svg


def test_large_canvases_push_out_earlier_ones_and_never_themselves() -> None:
    small, large = draw(A="small"), draw(**{f"K{number}": "x" for number in range(PARTS_KEPT)})
    small.write()
    large.write()

    assert draw(A="small").write(compute_digest(small)) == small.svg
    large.write()
    assert "data-patch" in large.write(compute_digest(large))


def test_an_edit_is_answered_with_the_card_that_it_changed(browser: Browser, engine: Engine) -> None:
    fill_theory(engine)
    browser.log_in()
    shown = _DIGEST.findall(read_page(browser, "key=OP1"))[0]
    assert fill_form(browser, "key=OP1", "edit", **{"operations__0__title|text": "Twelve wells"}).status == 303
    answer = browser.get(f"{PLAN}?key=OP1", x_canvas_shown=shown).body.decode()

    assert SHOWN_CANVAS == "x-canvas-shown"
    assert re.findall(r'<a class="node [^>]* data-id="(\w+)"', answer) == ["OP1"]
    assert '<a class="link' not in answer
    assert "Twelve wells" in answer


def test_a_refusal_has_the_whole_canvas_because_the_page_may_have_changed_meanwhile(
    browser: Browser, engine: Engine
) -> None:
    fill_theory(engine)
    browser.log_in()
    page = read_page(browser, "key=OP1")
    fields = {"operations.0.op": "add_edge", "operations.0.source": "G1", "operations.0.target": "AC1"}
    fixed = {"operation": "purpose.edit", "form": "connect", "project": "atlas", "csrf": browser.read_csrf()}
    refused = browser.submit(f"{PLAN}?key=OP1", {**fixed, **fields}, x_canvas_shown=_DIGEST.findall(page)[0])

    assert refused.status == 422
    assert len(re.findall(r'<a class="node ', refused.body.decode())) == 4
