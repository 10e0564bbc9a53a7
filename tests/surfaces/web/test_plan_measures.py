"""Measures and health on the page: numbers over time, reviews, what to do next, and the plan as it was on a day."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.actors import local_actor
from groundplan.purpose.health import Metrics
from groundplan.session import Session
from groundplan.surfaces.web.areas.plan.health import FIGURES
from groundplan.surfaces.web.areas.plan.measures import (
    HEIGHT,
    POINTS_MAX,
    WIDTH,
    DayValue,
    build_chart,
    format_number,
)
from tests.engines import Engine
from tests.manual_clock import ManualClock
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.plan_pages import AGENT, PLAN, fill_form, fill_theory, list_forms, open_as, read_page

MEASURES = "view=measures"
VIEWS = ("canvas", "list", "gates", "publish", "measures", "health")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def record(session: Session, value: float, day: str) -> None:
    """Measure the indicator on a day."""
    one = {"indicator": "IN1", "value": value, "as_of": day, "note": f"note of {day}"}
    session.call("purpose.record", project="atlas", measurements=[one])


def test_an_indicator_shows_its_numbers_as_a_chart_and_as_a_table(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    record(ada, 35, "2026-02-01")
    record(ada, 50, "2026-03-01")
    record(ada, 30, "2026-01-01")  # recorded late; the latest is that of March
    browser.log_in()
    page = read_page(browser, MEASURES)
    table = page[page.index("<table") : page.index("</table>")]

    assert (
        'aria-label="Households at a well: from 30 % on 2026-01-01 to 50 % on 2026-03-01; baseline 20 %, target 80 %"'
        in page
    )
    assert re.findall(r'scope="row">([\d-]+)<', table) == ["2026-03-01", "2026-02-01", "2026-01-01"]
    assert "50% of the way" in page
    assert page.count('class="chart-dot"') == 3


def test_the_inspector_shows_the_same_chart_and_leads_to_the_form(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    recorded = [
        {"indicator": "IN1", "value": value, "as_of": f"2026-0{month}-01"} for month, value in ((1, 30), (2, 45))
    ]
    ada.call("purpose.record", project="atlas", measurements=recorded)
    browser.log_in()
    page = read_page(browser, "key=OC1")

    assert 'aria-label="Households at a well: from 30 % on 2026-01-01 to 45 % on 2026-02-01' in page
    assert "view=measures&amp;record=IN1#indicator-IN1" in page


def test_the_list_marks_what_leads_nowhere(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    ada.call("purpose.edit", project="atlas", operations=[{"op": "add_node", "node_type": "OUTPUT", "title": "A song"}])
    browser.log_in()

    assert read_page(browser, "view=list").count('<span class="warning">nowhere</span>') == 1


def test_a_measurement_and_a_review_are_recorded_on_a_published_version(browser: Browser, engine: Engine) -> None:
    fill_theory(engine, is_ready=True).call("purpose.publish", project="atlas")
    browser.log_in()
    measured = fill_form(
        browser, MEASURES, "measure-IN1", measurements__0__value="61.5", measurements__0__as_of="2026-03-01"
    )
    review = {
        "reviews__0__status": "holding",
        "reviews__0__reason": "Counted",
        "reviews__0__evidence": "https://a.example/b",
    }
    reviewed = fill_form(browser, MEASURES, "review-AS1", **review)
    page = read_page(browser, MEASURES)

    assert (measured.status, reviewed.status) == (303, 303)
    assert "61.5 %" in page
    assert re.search(r'status-holding">holding</span><br><span class="quiet">Counted', page)
    assert 'href="https://a.example/b" rel="noopener noreferrer"' in page


@pytest.mark.parametrize(
    ("form", "typed", "kept"),
    [
        ("measure-IN1", {"measurements__0__value": "<many>", "measurements__0__as_of": "2026-03-01"}, "&lt;many&gt;"),
        ("measure-IN1", {"measurements__0__value": "1", "measurements__0__as_of": "2999-03-01"}, 'value="2999-03-01"'),
        ("measure-IN1", {"measurements__0__value": "inf", "measurements__0__as_of": "2026-03-01"}, 'value="inf"'),
        ("review-AS1", {"reviews__0__status": "refuted", "reviews__0__evidence": "<e>"}, "&lt;e&gt;"),
    ],
)
def test_a_refusal_stays_at_its_form_with_what_was_typed(
    browser: Browser, engine: Engine, form: str, typed: dict[str, str], kept: str
) -> None:
    fill_theory(engine)
    browser.log_in()
    reply = fill_form(browser, MEASURES, form, **typed)
    page = reply.body.decode()

    assert reply.status == 400
    assert 'role="alert"' in list_forms(page)[form]
    assert kept in list_forms(page)[form]
    assert re.search(rf'data-id="{form}-part" open', page)
    assert "unplaced" not in page


def test_the_link_of_one_item_opens_its_form(browser: Browser, engine: Engine) -> None:
    fill_theory(engine)
    browser.log_in()

    assert 'data-id="measure-IN1-part" open' in read_page(browser, f"{MEASURES}&record=IN1")
    assert 'data-id="review-AS1-part" open' in read_page(browser, f"{MEASURES}&review=AS1")
    assert 'part" open' not in read_page(browser, f"{MEASURES}&record=zz&review=%3Cb%3E&page=-7")


@pytest.mark.parametrize(("who", "is_offered"), [("ada", True), ("ben", True), ("cleo", False), (AGENT, True)])
def test_only_who_may_record_sees_the_forms(engine: Engine, who: str, *, is_offered: bool) -> None:
    fill_theory(engine).call("purpose.record", project="atlas", requests=[{"question": "Which village?"}])
    with open_as(engine, who) as browser:
        page = read_page(browser, MEASURES)
        health = read_page(browser, "view=health")

    assert "Which village?" in page
    assert bool(list_forms(page)) is is_offered
    assert bool(list_forms(health)) is is_offered


def test_a_question_is_answered_where_the_measures_are(browser: Browser, engine: Engine) -> None:
    fill_theory(engine).call("purpose.record", project="atlas", requests=[{"question": "Which village?"}])
    browser.log_in()
    form = next(one for one in list_forms(read_page(browser, MEASURES)) if one.startswith("settle-"))
    answered = fill_form(browser, MEASURES, form, decisions__0__text="Lenta", decisions__0__rationale="It is dry")

    assert answered.status == 303
    assert "Which village?" not in read_page(browser, MEASURES)


def test_an_overdue_review_is_first_and_a_review_settles_it(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine, is_ready=True)
    more = {"op": "add_assumption", "node": "AC1", "assumption_text": "Rigs come"}
    ada.call("purpose.edit", project="atlas", operations=[more])
    browser.log_in()
    before = read_page(browser, MEASURES)
    review = {"assumption": "AS1", "status": "holding", "reason": "Seen"}
    ada.call("purpose.record", project="atlas", reviews=[review])

    assert before.index("People walk to wells") < before.index("Rigs come")
    assert "overdue</span>" in before
    assert "overdue</span>" not in read_page(browser, MEASURES)


def test_every_figure_has_words() -> None:
    assert sorted(FIGURES) == sorted(Metrics.__struct_fields__)


def test_each_figure_that_is_not_good_says_what_to_do_and_its_form_does_it(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    browser.log_in()
    page = read_page(browser, "view=health")
    sections = re.findall(r'<section class="card figure".*?</section>', page, re.DOTALL)
    sent = fill_form(browser, "view=health", "mend-mechanism-coverage-OC1-G1", operations__0__mechanism="By use")

    assert len(sections) >= 4
    assert all("<a " in one or "<form" in one for one in sections)
    assert "view=measures&amp;review=AS1#assumption-AS1" in page
    assert sent.status == 303
    assert [edge.mechanism for edge in ada.call("purpose.open", project="atlas").edges if edge.source == "OC1"] == [
        "By use"
    ]


def test_the_health_names_weak_links_single_points_and_what_leads_nowhere(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    ada.call("purpose.edit", project="atlas", operations=[{"op": "add_node", "node_type": "OUTPUT", "title": "Loose"}])
    browser.log_in()
    page = read_page(browser, "view=health")

    assert "1 activity reaches the goal only through this link" in page
    assert "confidence not said" in page
    assert "mend-GA-ORPHANS-OP2" in list_forms(page)


# --- As it was on a day ----------------------------------------------------------------------------------------------


def test_a_day_shows_the_version_in_force_with_its_observations_and_no_form(engine: Engine) -> None:
    clock = ManualClock()  # the first of March 2026
    store = engine.store_with_clock(clock)
    ada = fill_theory(engine, is_ready=True, session=Session(store, local_actor("ada")))
    clock.move(days=1)
    ada.call("purpose.publish", project="atlas")
    clock.move(days=1)
    record(ada, 30, "2026-03-02")
    clock.move(days=1)
    record(ada, 70, "2026-03-04")
    ada.call("purpose.draft", project="atlas")
    ada.call(
        "purpose.edit", project="atlas", operations=[{"op": "update_node", "node": "OP1", "title": "Twelve wells"}]
    )
    ada.call("purpose.publish", project="atlas")
    clock.move(days=30)
    with Browser(store) as browser:
        browser.log_in()
        pages = {view: read_page(browser, f"view={view}&as_of=2026-03-03") for view in VIEWS}
        later = read_page(browser, "view=list&as_of=2026-03-04")
        early = read_page(browser, "view=measures&as_of=2026-03-01")
        future = read_page(browser, "view=list&as_of=2026-05-01")
        odd = [browser.get(f"{PLAN}?as_of={text}").status for text in ("yesterday", "%00", "2026-02-30", "9" * 999)]

    assert [view for view, page in pages.items() if "Version 1 as it was on 2026-03-03" not in page] == []
    assert {view: list(list_forms(page)) for view, page in pages.items() if list_forms(page)} == {}
    assert "Ten wells" in pages["list"]
    assert "note of 2026-03-02" in pages["measures"]
    assert "note of 2026-03-04" not in pages["measures"]
    assert "Twelve wells" in later
    assert "No version was in force on 2026-03-01" in early
    assert "2026-05-01 is in the future" in future
    assert odd == [200, 200, 200, 200]


# --- The chart -------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.dates(), NUMBERS), min_size=1, max_size=20),
    st.none() | NUMBERS,
    st.none() | NUMBERS,
)
def test_every_point_of_a_chart_is_within_it(
    points: list[tuple[object, float]], low: float | None, high: float | None
) -> None:
    chart = build_chart([DayValue(str(day), value) for day, value in points], baseline=low, target=high)

    assert chart is not None
    assert all(0 <= dot.x <= WIDTH and 0 <= dot.y <= HEIGHT for dot in chart.dots)
    assert all(y is None or 0 <= y <= HEIGHT for y in (chart.baseline_y, chart.target_y))


def test_a_chart_of_many_points_keeps_the_first_and_the_last() -> None:
    points = [DayValue(f"20{n // 300:02}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}", n) for n in range(2_000)]
    chart = build_chart(points)
    first, *_, last = sorted(points, key=lambda one: one.day)

    assert chart is not None
    assert len(chart.dots) == POINTS_MAX
    assert chart.words == f"from {first.value:,} on {first.day} to {last.value:,} on {last.day}"
    assert build_chart([]) is None


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (1234567.0, "1,234,567"), (0.25, "0.25"), (1e300, "1e+300"), (-2.5, "-2.5")]
)
def test_a_number_is_written_as_people_do(value: float, text: str) -> None:
    assert format_number(value) == text
    assert format_number(value, "km") == f"{text} km"
