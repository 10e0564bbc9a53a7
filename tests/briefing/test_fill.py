"""The room of a briefing is spent by priority: never exceeded, and used while something fits."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st

from groundplan.briefing.briefing import AssumptionNote, Briefing, FactNote, KnowledgeNote, WhyStep
from groundplan.briefing.fill import LISTS, Entry, Part, fill_briefing
from groundplan.kernel.answers import count_chars

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400)
rooms = st.integers(0, 20_000)


def make_steps(titles: list[str], total: int | None = None) -> Part:
    steps = [WhyStep(key=f"OP{number}", type="OUTPUT", title=title) for number, title in enumerate(titles)]
    leading = min(3, len(steps))
    return Part("why", [Entry((step,)) for step in steps], total or len(steps), leading=leading, is_chain=True)


def make_assumptions(written: list[str]) -> Part:
    notes = [AssumptionNote(f"AS{number}", text, "HIGH", "at_risk") for number, text in enumerate(written)]
    return Part("assumptions", [Entry((one,), step=f"OP{at % 5}") for at, one in enumerate(notes)], len(notes))


def make_knowledge(written: list[str], more: int = 0) -> Part:
    notes = [KnowledgeNote(id=str(number), name="atom", text=text) for number, text in enumerate(written)]
    return Part("knowledge", [Entry((one,), "text") for one in notes], len(notes) + more)


def make_facts(values: list[str]) -> Part:
    notes = [
        FactNote(pointer=f"/{at}", label="fact", value=text, provenance="unknown") for at, text in enumerate(values)
    ]
    return Part("facts", [Entry((one,), "value") for one in notes], len(notes))


def name_calls(left: Collection[str]) -> list[str]:
    return [f"{name} is shown by another call" for name in left]


@given(
    titles=st.lists(texts, max_size=12),
    assumptions=st.lists(texts, max_size=8),
    missing=st.lists(texts, max_size=20),
    knowledge=st.lists(texts, max_size=20),
    facts=st.lists(texts, max_size=20),
    more=st.integers(0, 5_000),
    room=rooms,
    lean=st.booleans(),
)
def test_a_briefing_never_exceeds_its_room_and_counts_all_that_it_leaves_out(
    titles: list[str],
    assumptions: list[str],
    missing: list[str],
    knowledge: list[str],
    facts: list[str],
    more: int,
    room: int,
    lean: bool,
) -> None:
    parts = [
        make_steps(titles),
        Part("missing", [Entry((pointer,)) for pointer in missing], len(missing)),
        make_assumptions(assumptions),
        make_knowledge(knowledge, more),
        make_facts(facts),
    ]

    briefing = fill_briefing(parts, room, name_calls, lean=lean)

    if briefing is None:
        assert room < 400
        return
    assert count_chars(briefing) <= room
    shown = {name: len(getattr(briefing, name) or ()) for name in LISTS}
    shown["knowledge"] -= sum(1 for one in briefing.knowledge or () if one.excerpt)
    shown["facts"] -= sum(1 for one in briefing.facts or () if one.excerpt)
    left = dict.fromkeys(LISTS, 0) | (briefing.left_out or {})
    assert shown["why"] + left["why"] == len(titles)
    assert shown["missing"] + left["missing"] == len(missing)
    assert shown["knowledge"] + left["knowledge"] == len(knowledge) + more
    assert shown["facts"] + left["facts"] == len(facts)
    assert sum(len(step.assumptions or ()) for step in briefing.why or ()) + left.get("assumptions", 0) == len(
        assumptions
    )


@given(knowledge=st.lists(st.text("abc é\n", min_size=60, max_size=4_000), min_size=1, max_size=30), room=rooms)
def test_at_least_nine_tenths_are_used_when_a_text_was_left_out(knowledge: list[str], room: int) -> None:
    briefing = fill_briefing([make_knowledge(knowledge)], room, name_calls, lean=False)

    if briefing is not None and briefing.left_out and room >= 800:
        assert count_chars(briefing) >= room * 0.9


def test_a_more_important_list_is_filled_before_a_less_important_one() -> None:
    parts = [make_steps(["step " * 10] * 3), make_knowledge(["atom " * 40] * 3), make_facts(["fact " * 40] * 3)]

    briefing = fill(parts, 1_000)

    assert len(briefing.why or ()) == 3
    assert len(briefing.knowledge or ()) >= len(briefing.facts or ()) - 1
    assert "facts" in (briefing.left_out or {})


def test_one_long_list_does_not_hide_all_others() -> None:
    missing = [f"/a/fact/{number}" for number in range(500)]
    parts = [Part("missing", [Entry((one,)) for one in missing], 500), make_facts(["short"] * 3)]

    briefing = fill(parts, 2_000)

    assert len(briefing.facts or ()) == 3
    assert len(briefing.missing or ()) > 40


def test_the_strongest_path_comes_before_all_else() -> None:
    titles = ["a title that needs some room " * 4] * 3
    parts = [make_steps(titles), Part("missing", [Entry((f"/{number}",)) for number in range(50)], 50)]

    briefing = fill(parts, 800)

    assert len(briefing.why or ()) == 3


def test_a_chain_has_no_gap() -> None:
    parts = [make_steps(["short", "long " * 200, "short"])]

    briefing = fill(parts, 600)

    assert [step.key for step in briefing.why or ()] == ["OP0"]
    assert briefing.left_out == {"why": 2}


def fill(parts: list[Part], room: int) -> Briefing:
    briefing = fill_briefing(parts, room, name_calls, lean=False)
    assert briefing is not None
    return briefing
