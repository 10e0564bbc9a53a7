"""Hydration writes facts into a caller's structure: what is written, what is left alone, and what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from groundplan.context import hydrate as hydration
from groundplan.context.hydrate import VERSION_KEY, Hydrated
from groundplan.context.schemas import (
    ContextView,
    PcivContextViewV1,
    PcivInputV1,
    PcivRunV1,
    Provenance,
    ReplacedValue,
    RunStatus,
    UpdatedBy,
    ValueKind,
)
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Invalid
from tests.machines.budget import fixed_settings
from tests.proof import scaled

hydrate = partial(hydration.hydrate, create_missing=True)

VERSION = "2026-03-01T12:00:00.000Z"
UPDATED = "2026-02-01T12:00:00.000Z"
TRIES = settings(fixed_settings(0), max_examples=scaled(30, 100))


def field(pointer: str, value: Any, *, kind: ValueKind | None = None, required: bool = False) -> PcivInputV1:
    """Return an input with a value; None is UNSET."""
    kinds = {bool: ValueKind.BOOLEAN, str: ValueKind.STRING, int: ValueKind.NUMBER, float: ValueKind.NUMBER}
    kind = kind or kinds.get(type(value), ValueKind.JSON)
    held = {f"value_{one}": value if one is kind else None for one in ValueKind}
    return PcivInputV1(
        id=pointer,
        run_id="run",
        pointer=pointer,
        label="Label",
        domain="site",
        required=required,
        field_type="text",
        options=None,
        value_kind=kind,
        **held,
        provenance=Provenance.UNKNOWN if value is None else Provenance.USER_ENTERED,
        updated_by=UpdatedBy.USER,
        updated_at=UPDATED,
        evidence_snippet=None,
        source_ids=[],
    )


def view_of(*inputs: PcivInputV1, committed_at: str | None = VERSION) -> PcivContextViewV1:
    status = RunStatus.PARTIAL_COMMITTED if committed_at else RunStatus.DRAFT
    run = PcivRunV1(
        id="run",
        scope_id="atlas",
        user_id="ada",
        status=status,
        allow_partial=True,
        committed_at=committed_at,
        created_at=UPDATED,
        updated_at=UPDATED,
    )
    return PcivContextViewV1(run, {}, {one.pointer: one for one in inputs}, [], {})


def facts(values: Mapping[str, Any]) -> PcivContextViewV1:
    return view_of(*(field(pointer, value) for pointer, value in values.items()))


def hydrate_values(target: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hydrated target without the version."""
    found = dict(hydrate(facts(values), target).target)
    assert found.pop(VERSION_KEY) == VERSION
    return found


def find_unplaced(target: dict[str, Any], *pointers: str) -> list[str]:
    """Return the facts that have no place. If there are none, the target is unchanged."""
    done = hydrate(facts(dict.fromkeys(pointers, "new")), target)
    if not done.placed and not done.replaced:
        assert done.target == {**target, VERSION_KEY: VERSION}
    assert all(one.reason for one in done.unplaced)
    return [one.pointer for one in done.unplaced]


class TestValues:
    def test_explicit_empty_strings_false_and_zero_are_values_and_are_written(self) -> None:
        before = {"project": {"notes": "of yesterday", "open": True, "budget": 7, "tags": ["a"]}}

        after = hydrate_values(
            before, {"/project/notes": "", "/project/open": False, "/project/budget": 0, "/project/tags": []}
        )

        assert encode(after) == b'{"project":{"notes":"","open":false,"budget":0,"tags":[]}}'

    def test_what_is_unset_is_never_written_and_what_stands_there_stays(self) -> None:
        inputs = (
            field("/site/size", None, kind=ValueKind.NUMBER, required=True),
            field("/site/name", None, kind=ValueKind.STRING, required=True),
            field("/site/notes", None, kind=ValueKind.STRING),
        )

        done = hydrate(view_of(*inputs), {"site": {"size": 5}})

        assert done == Hydrated(
            target={"site": {"size": 5}, VERSION_KEY: VERSION},
            context_version_id=VERSION,
            placed=[],
            kept=[],
            replaced=[],
            unplaced=[],
            missing=["/site/name", "/site/size"],
        )

    def test_unknown_as_an_option_is_a_value(self) -> None:
        flood = field("/site/flood", "unknown", kind=ValueKind.ENUM, required=True)

        done = hydrate(view_of(flood), {})

        assert (done.target["site"], done.missing) == ({"flood": "unknown"}, [])

    def test_neither_the_target_nor_the_view_shares_anything_with_the_result(self) -> None:
        target: dict[str, Any] = {"own": {"list": [{}]}}
        value: dict[str, Any] = {"list": [{}]}
        done = hydrate(facts({"/a": value, "/a/list/0/b": 1}), target)

        done.target["own"]["list"][0]["touched"] = done.target["a"]["touched"] = True

        assert (target, value) == ({"own": {"list": [{}]}}, {"list": [{}]})

    def test_a_whole_object_is_written_before_its_parts(self) -> None:
        assert hydrate_values({}, {"/a/b": 1, "/a": {"c": 2}, "/a/d": 3}) == {"a": {"b": 1, "c": 2, "d": 3}}


class TestPlaces:
    def test_without_being_asked_no_object_is_made_on_the_way(self) -> None:
        found = {"/a/b/c": 1, "/a/x": 2, "/b": 3, "/c/d": 4}

        done = hydration.hydrate(facts(found), {"a": {"y": 1}})

        assert done.target == {"a": {"y": 1, "x": 2}, "b": 3, VERSION_KEY: VERSION}
        assert [one.pointer for one in done.unplaced] == ["/a/b/c", "/c/d"]
        assert done.placed == ["/a/x", "/b"]

    def test_objects_on_the_way_are_made(self) -> None:
        assert hydrate_values({"a": {"x": 1}}, {"/a/b/c": "new"}) == {"a": {"x": 1, "b": {"c": "new"}}}

    def test_places_that_an_array_has_are_written(self) -> None:
        assert hydrate_values(
            {"a": [1, {"b": 2}, [3]]}, {"/a/0": "x", "/a/1/b": "y", "/a/1/c/d": "z", "/a/2/0": "w"}
        ) == {"a": ["x", {"b": "y", "c": {"d": "z"}}, ["w"]]}

    def test_an_array_keeps_its_length(self) -> None:
        pointers = ("/a/-", "/a/2", "/a/2/b", f"/a/{'9' * 5000}")

        assert find_unplaced({"a": [1, 2]}, *pointers) == sorted(pointers)

    @pytest.mark.parametrize("step", ["00", "01", "+1", "-1", "1.0", "1e0", " 1", "", "x", "\u0661", "1\n"])
    def test_what_is_not_the_number_of_a_place_is_told(self, step: str) -> None:
        assert find_unplaced({"a": [*range(12)]}, f"/a/{step}") == [f"/a/{step}"]

    @pytest.mark.parametrize("scalar", ["text", "", 0, 1.5, True, None])
    def test_nothing_is_placed_below_a_scalar(self, scalar: Any) -> None:
        assert find_unplaced({"a": {"b": scalar}}, "/a/b/c", "/a/b/0") == ["/a/b/0", "/a/b/c"]

    def test_slashes_and_tildes_in_a_name_are_unescaped_once(self) -> None:
        assert hydrate_values({}, {"/a~1b": 1, "/a~0b": 2, "/~01": 3, "/": 4, "/ /": 5}) == {
            "a/b": 1,
            "a~b": 2,
            "~1": 3,
            "": 4,
            " ": {"": 5},
        }

    def test_a_pointer_to_the_whole_is_told(self) -> None:
        assert find_unplaced({"a": 1}, "", "a") == ["", "a"]

    def test_hundreds_of_levels_are_no_more_than_many(self) -> None:
        view = facts({"/a" * 500: 1})

        once = hydrate(view, {})

        assert encode(hydrate(view, once.target).target) == encode(once.target)

    @pytest.mark.parametrize("target", [[], None, "text", 1])
    def test_only_an_object_is_hydrated(self, target: Any) -> None:
        with pytest.raises(Invalid):
            hydrate(facts({"/0": 1}), target)


def inferred_field(pointer: str, value: Any) -> PcivInputV1:
    """Return an input that a model inferred."""
    return structs.replace(field(pointer, value), provenance=Provenance.MODEL_INFERRED)


class TestProvenance:
    def test_a_guess_above_or_below_what_a_person_entered_does_not_change_it(self) -> None:
        theirs = (field("/site/owner", "parish"), field("/plan", {"depth": 30, "l": [1, 2]}))
        guesses = (
            inferred_field("/site", "flat"),
            inferred_field("/plan/depth", 5),
            inferred_field("/plan/l/0", 9),
            inferred_field("/else", 1),
        )

        done = hydrate(view_of(*theirs, *guesses), {})

        del done.target[VERSION_KEY]
        assert done.target == {"site": {"owner": "parish"}, "plan": {"depth": 30, "l": [1, 2]}, "else": 1}
        assert [one.pointer for one in done.unplaced] == ["/plan/depth", "/plan/l/0", "/site"]

    def test_what_a_person_entered_stands_over_a_guess_around_it(self) -> None:
        assert hydrate(view_of(inferred_field("/plan", {"depth": 1}), field("/plan/depth", 30)), {}).target["plan"] == {
            "depth": 30
        }


class TestReplacing:
    def test_what_a_fact_replaces_is_told_with_the_provenance_of_the_fact(self) -> None:
        sourced = structs.replace(field("/b", {"c": 1}), provenance=Provenance.SOURCE_BACKED)
        target = {"a": "typed", "b": {"c": 2, "d": 3}, "same": {"x": 1, "y": [0]}, "null": None}

        done = hydrate(
            view_of(field("/a", ""), sourced, field("/same", {"y": [0], "x": 1}), field("/null", 1), field("/new", 1)),
            target,
        )

        assert done.replaced == [
            ReplacedValue("/a", "typed", Provenance.USER_ENTERED),
            ReplacedValue("/b", {"c": 2, "d": 3}, Provenance.SOURCE_BACKED),
        ]
        assert (done.placed, done.kept) == (["/new", "/null", "/same"], [])

    @pytest.mark.parametrize("typed", ["", 0, False, "x", [], {"a": 1}])
    def test_a_model_s_fact_leaves_another_value_as_it_is_unless_it_may_overwrite(self, typed: Any) -> None:
        view = view_of(inferred_field("/a", "guess"), inferred_field("/b", 1), inferred_field("/c", {"d": 1}))
        target = {"a": typed, "b": None, "c": {"d": 1}}

        kept = hydrate(view, target)
        overwritten = hydrate(view, target, overwrite=True)

        assert (kept.kept, kept.placed, kept.replaced) == (["/a"], ["/b", "/c"], [])
        assert encode(kept.target["a"]) == encode(typed)
        assert overwritten.replaced == [ReplacedValue("/a", typed, Provenance.MODEL_INFERRED)]
        assert (overwritten.kept, overwritten.target["a"]) == ([], "guess")

    def test_false_is_not_0_and_one_is_one_however_it_is_written(self) -> None:
        view = view_of(inferred_field("/a", 0), inferred_field("/b", [1]), inferred_field("/c", [{"d": True}]))

        done = hydrate(view, {"a": False, "b": [1.0], "c": [{"d": 1}]})

        assert (done.kept, done.placed) == (["/a", "/c"], ["/b"])


class TestVersion:
    def test_the_version_is_set_at_the_root_and_no_input_is_written_there(self) -> None:
        done = hydrate(facts({f"/{VERSION_KEY}": "mine", f"/{VERSION_KEY}/a": 1, "/a": 1}), {VERSION_KEY: {"a": 2}})

        assert done.target == {VERSION_KEY: VERSION, "a": 1}
        assert [one.pointer for one in done.unplaced] == [f"/{VERSION_KEY}", f"/{VERSION_KEY}/a"]
        assert hydrate_values({}, {f"/a/{VERSION_KEY}": 1}) == {"a": {VERSION_KEY: 1}}

    def test_it_is_that_of_the_view_or_follows_from_the_run(self) -> None:
        bare = view_of()
        whole = ContextView(**structs.asdict(bare), context_version_id="v7", missing=[], warnings=[], rev=1)

        versions = [hydrate(view, {}).context_version_id for view in (whole, bare, view_of(committed_at=None))]

        assert versions == ["v7", VERSION, UPDATED]


# Few names, so that pointers collide with each other and with the target.
STEPS = st.sampled_from(["a", "b", "", "0", "1", "00", "-", "~", "/", VERSION_KEY])
SCALARS = st.sampled_from(["", "text", 0, 1, 1.5, True, False])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STEPS, inner, max_size=3), max_leaves=6
)
TARGETS = st.dictionaries(STEPS, VALUES | st.none(), max_size=4)
POINTERS = st.lists(STEPS, min_size=1, max_size=4).map(
    lambda steps: "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
)
INPUTS = st.dictionaries(POINTERS, st.tuples(VALUES | st.none(), st.booleans()), max_size=8)


def views(inputs: Mapping[str, tuple[Any, bool]]) -> PcivContextViewV1:
    return view_of(*(field(pointer, value, required=required) for pointer, (value, required) in inputs.items()))


@TRIES
@given(INPUTS, TARGETS)
def test_hydrating_again_changes_nothing_and_the_target_is_not_touched(
    inputs: dict[str, tuple[Any, bool]], target: dict[str, Any]
) -> None:
    before = deepcopy(target)

    once = hydrate(views(inputs), target)
    twice = hydrate(views(inputs), once.target)

    assert encode(twice.target) == encode(once.target)
    assert twice.replaced == []
    assert encode(target) == encode(before)


@TRIES
@given(INPUTS, TARGETS)
def test_every_input_is_placed_or_replaces_or_is_unplaced_or_unset(
    inputs: dict[str, tuple[Any, bool]], target: dict[str, Any]
) -> None:
    done = hydrate(views(inputs), target)

    unset = {pointer for pointer, (value, _) in inputs.items() if value is None}
    elsewhere = [one.pointer for one in done.unplaced]
    replacing = [one.pointer for one in done.replaced]
    assert sorted([*done.placed, *replacing, *elsewhere, *unset]) == sorted(inputs)
    assert not done.kept
    assert done.missing == sorted(pointer for pointer in unset if inputs[pointer][1])
    assert (done.placed, elsewhere) == (sorted(done.placed), sorted(elsewhere))
    without = hydrate(views({pointer: inputs[pointer] for pointer in inputs.keys() - unset}), target)
    assert encode(done.target) == encode(without.target)


@TRIES
@given(INPUTS, TARGETS)
def test_values_are_where_they_point_and_everything_else_is_as_it_was(
    inputs: dict[str, tuple[Any, bool]], target: dict[str, Any]
) -> None:
    done = hydrate(views(inputs), target)

    written = [*done.placed, *(one.pointer for one in done.replaced)]
    after = dict(leaves(done.target))
    expected = {
        leaf: value
        for leaf, value in leaves({**target, VERSION_KEY: VERSION})
        if not any(is_below(leaf, pointer) or is_below(pointer, leaf) for pointer in written)
    }
    for pointer in written:
        for leaf, value in leaves(inputs[pointer][0], pointer):
            if not any(is_below(other, pointer) and is_near(leaf, other) for other in written if other != pointer):
                expected[leaf] = value
    assert {leaf: after[leaf] for leaf in expected} == expected
    assert all(any(is_near(leaf, pointer) for pointer in written) for leaf in after.keys() - expected.keys())


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield every scalar and every empty object or array as JSON, by pointer."""
    if value and isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, f"{pointer}/{str(step).replace('~', '~0').replace('/', '~1')}")
    else:
        yield pointer, encode(value).decode()


def is_below(pointer: str, other: str) -> bool:
    return f"{pointer}/".startswith(f"{other}/")


def is_near(pointer: str, other: str) -> bool:
    return is_below(pointer, other) or is_below(other, pointer)
