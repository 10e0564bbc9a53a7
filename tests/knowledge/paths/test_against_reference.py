"""The matcher and the slow reference agree on every text and every path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.knowledge.paths.pattern import MalformedPattern, Pattern, parse_pattern
from tests.knowledge.paths import reference_matcher
from tests.knowledge.paths.random_paths import SOUND_TEXTS, TEXTS, generate_paths
from tests.machines.budget import STEPS_IN_A_RUN, budget

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 1_500  # comparisons; each example makes as many as a machine takes steps
STEPS_OF_TEXTS = 600  # drawing a list of texts takes longer than comparing

SEEDS = st.integers(0, 2**32)


def parse_or_none(text: str) -> Pattern | None:
    try:
        return parse_pattern(text)
    except MalformedPattern:
        return None


@budget(STEPS_OF_TEXTS)
@given(st.lists(TEXTS, min_size=STEPS_IN_A_RUN, max_size=STEPS_IN_A_RUN))
def test_the_same_texts_are_patterns(texts: list[str]) -> None:
    assert {text: parse_or_none(text) is not None for text in texts} == {
        text: reference_matcher.is_pattern(text) for text in texts
    }


@budget(STEPS)
@given(st.one_of(TEXTS, SOUND_TEXTS, SOUND_TEXTS), SEEDS)
def test_a_pattern_matches_the_same_paths(text: str, seed: int) -> None:
    pattern = parse_or_none(text)
    if pattern is not None:
        paths = generate_paths([text], seed)
        assert [path for path in paths if pattern.matches(path)] == [
            path for path in paths if reference_matcher.matches(text, path)
        ]


@budget(STEPS)
@given(st.one_of(TEXTS, SOUND_TEXTS), SEEDS)
def test_the_alternatives_of_a_pattern_are_patterns_that_together_mean_the_same(text: str, seed: int) -> None:
    pattern = parse_or_none(text)
    if pattern is None:
        return
    alone = [parse_pattern(alternative) for alternative in pattern.alternatives]
    assert [one.alternatives for one in alone] == [(one.text,) for one in alone]
    paths = set(generate_paths([text], seed))
    for path in paths - {pattern.text, *pattern.alternatives}:  # these also match because the path equals the text
        assert pattern.matches(path) == any(one.matches(path) for one in alone), path


@budget(STEPS)
@given(st.one_of(TEXTS, SOUND_TEXTS, SOUND_TEXTS), SEEDS)
def test_a_pattern_can_match_below_the_same_folders(text: str, seed: int) -> None:
    pattern = parse_or_none(text)
    if pattern is None:
        return
    paths = generate_paths([text], seed)
    folders = {folder for path in paths for folder in (path, *folders_above(path))}
    assert {folder for folder in folders if pattern.can_match_below(folder)} == {
        folder for folder in folders if reference_matcher.can_match_below(text, folder)
    }
    for path in filter(pattern.matches, paths):
        assert all(map(pattern.can_match_below, folders_above(path))), path


def folders_above(path: str) -> list[str]:
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names))]
