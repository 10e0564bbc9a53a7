"""The room of a briefing is spent by priority: never exceeded, and used while something fits."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from groundplan.briefing.briefing import AssumptionNote, Briefing, FactNote, KnowledgeNote, WhyStep
from groundplan.briefing.fill import LISTS, Entry, Part, fill_briefing
from groundplan.kernel.answers import count_chars

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400)
rooms = st.integers(0, 20_000)


def make_steps(titles: list[str]) -> Part:
    """Return a chain that ends with the goal."""
    steps = [WhyStep(key=f"OP{number}", type="OUTPUT", title=title) for number, title in enumerate(titles)]
    return Part(
        "why", [Entry((step,)) for step in steps], len(steps), must=len(steps) - 1 if steps else None, is_chain=True
    )


def make_missing(pointers: list[str]) -> Part:
    return Part("missing", [Entry((pointer,)) for pointer in pointers], len(pointers), share=3)


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


def name_calls(left: Collection[str], _room: int) -> list[str]:
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
        make_knowledge(knowledge, more),
        make_missing(missing),
        make_facts(facts),
        make_steps(titles),
        make_assumptions(assumptions),
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
    parts = [make_knowledge(["atom " * 40] * 3), make_facts(["fact " * 40] * 3), make_steps(["step " * 10] * 3)]

    briefing = fill(parts, 1_000)

    assert len(briefing.knowledge or ()) >= len(briefing.facts or ())
    assert "facts" in (briefing.left_out or {})


def test_one_long_list_does_not_hide_all_others() -> None:
    parts = [make_knowledge(["note " * 5] * 200), make_facts(["short"] * 3)]

    briefing = fill(parts, 2_000)

    assert len(briefing.facts or ()) == 3
    assert len(briefing.knowledge or ()) > 10


def test_missing_facts_use_a_third_of_the_room_and_then_their_number_says_the_rest() -> None:
    pointers = [f"/a/fact/{number}" for number in range(500)]

    briefing = fill([make_missing(pointers), make_knowledge(["text " * 10] * 2)], 2_000)

    shown = briefing.missing or []
    assert 500 < count_chars(shown) <= 2_000 / 3
    assert briefing.left_out == {"missing": 500 - len(shown)}


def test_the_goal_is_there_however_little_room_there_is() -> None:
    parts = [
        make_knowledge(["text " * 40] * 9),
        make_missing([f"/{number}" for number in range(50)]),
        make_steps(["a title that needs some room " * 4] * 9),
    ]

    for room in range(400, 2_000, 50):
        steps = fill(parts, room).why or []
        assert steps[-1].key == "OP8", room


def test_the_first_text_of_a_list_stands_at_least_with_its_beginning() -> None:
    parts = [make_knowledge(["long " * 1_000, "short"]), make_facts(["fact " * 300])]

    briefing = fill(parts, 2_000)

    first, second = briefing.knowledge or []
    assert len(str(first.excerpt)) > 600
    assert second.text == "short"
    assert len(str((briefing.facts or [])[0].excerpt)) > 160
    assert briefing.left_out == {"knowledge": 1, "facts": 1}


def test_a_chain_has_no_gap_except_before_its_goal() -> None:
    parts = [make_steps(["short", "long " * 200, "short", "the goal"])]

    briefing = fill(parts, 600)

    assert [step.key for step in briefing.why or ()] == ["OP0", "OP3"]
    assert briefing.left_out == {"why": 2}


def test_the_same_parts_fill_any_room_again_and_again() -> None:
    parts = [make_knowledge(["text " * 40] * 5), make_steps(["step"] * 5), make_assumptions(["it holds " * 9] * 4)]

    first, *_, last = [fill(parts, room) for room in (400, 4_000, 700, 1_200, 400)]

    assert first == last
    assert fill(parts, 4_000).left_out is UNSET


def fill(parts: list[Part], room: int) -> Briefing:
    briefing = fill_briefing(parts, room, name_calls, lean=False)
    assert briefing is not None
    return briefing
