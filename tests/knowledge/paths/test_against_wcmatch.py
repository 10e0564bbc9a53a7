"""Where wcmatch gives a pattern the same meaning, it finds the same paths.

Left out, because the two differ on purpose:
- texts that are refused here: wcmatch accepts `[a`, `{a`, `a//b` or `!a`, and knows `[[:alpha:]]`;
- `{1..3}`, which is a range in wcmatch and plain text here;
- commas and braces in a class inside braces: wcmatch expands braces first, here a class is read first;
- `./` in front of a pattern, which is dropped here;
- a path that equals the pattern's text, and paths with an extra `/` or with `.` or `..` segments.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcmatch import glob

from groundplan.knowledge.paths.names import split_path
from groundplan.knowledge.paths.pattern import MalformedPattern, parse_pattern
from tests.knowledge.paths.random_paths import PLAIN, WHOLE, generate_paths
from tests.machines.budget import budget

STEPS = 1_500

# `*` matches dot files, `**` is any directories, case counts, and `/` is the only separator, wherever this runs.
LIKE_OURS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.CASE | glob.FORCEUNIX

BRACES = ("{a,b}", "{,a}", "{b,*}", "{a,b/a}", "{**/a,b}", "{a}", "{}", "{a,{b,?*}}", r"{\,,a}", "{[ab],.a}", "{a/,}b")
ESCAPES = (r"\*", r"\?", r"\[", r"\{", r"\\", r"\a")
SEGMENTS = st.one_of(
    st.just("**"),
    st.lists(st.sampled_from((*PLAIN, *WHOLE, *BRACES, *ESCAPES)), min_size=1, max_size=3).map("".join),
)
TEXTS = st.lists(SEGMENTS, min_size=1, max_size=5).map("/".join)


@pytest.mark.slow
@budget(STEPS)
@given(TEXTS, st.integers(0, 2**32))
def test_wcmatch_finds_the_same_paths(text: str, seed: int) -> None:
    try:
        pattern = parse_pattern(text)
    except MalformedPattern:
        return
    for path in generate_paths([text], seed):
        if path != text and split_path(path) is not None:
            assert pattern.matches(path) == glob.globmatch(path, text, flags=LIKE_OURS), path


def test_it_is_asked_with_flags_that_make_it_like_ours() -> None:
    """Otherwise the comparison above could hold because nothing ever matches."""
    for text, path in (("**/.a", "b/.a"), ("*", ".a"), ("{a,b}/?", "b/a"), ("a/**", "a/b/c"), ("**/a/**", "a/b")):
        assert glob.globmatch(path, text, flags=LIKE_OURS)
        assert parse_pattern(text).matches(path)
    for text, path in (("A", "a"), ("a/**", "a"), ("*", "a/b"), ("a?b", "a/b")):
        assert not glob.globmatch(path, text, flags=LIKE_OURS)
        assert not parse_pattern(text).matches(path)
