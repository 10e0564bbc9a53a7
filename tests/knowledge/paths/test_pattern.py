"""The meaning of patterns, rule by rule, and the errors and hints for invalid ones."""

from __future__ import annotations

import pytest

from groundplan.knowledge.paths.pattern import ALTERNATIVES_MAX, MalformedPattern, expand_braces, parse_pattern


def error_of(text: str) -> MalformedPattern:
    with pytest.raises(MalformedPattern) as refused:
        parse_pattern(text)
    return refused.value


def matches(text: str, *paths: str) -> list[str]:
    pattern = parse_pattern(text)
    return [path for path in paths if pattern.matches(path)]


def test_star_and_question_mark_stay_within_a_segment_and_match_dot_files() -> None:
    assert matches("src/*", "src/a.ts", "src/.env", "src/a/b.ts", "src") == ["src/a.ts", "src/.env"]
    assert matches("a?c", "abc", "a.c", "a/c", "ac", "abbc") == ["abc", "a.c"]
    assert matches("*a*b*", "ab", ".a.b.", "aab", "ba") == ["ab", ".a.b.", "aab"]
    assert matches("ab*b", "abb", "ab.b", "ab") == ["abb", "ab.b"]


def test_two_stars_as_a_segment_are_any_directories() -> None:
    paths = ("a.ts", "src/a.ts", "src/ui/a.ts", "lib/src/a.ts")
    assert matches("**/a.ts", *paths) == list(paths)
    assert matches("src/**/a.ts", *paths) == ["src/a.ts", "src/ui/a.ts"]
    assert matches("**/src/**", *paths) == ["src/a.ts", "src/ui/a.ts", "lib/src/a.ts"]
    assert matches("**", *paths) == list(paths)
    assert matches("src/**/**/a.ts", *paths) == ["src/a.ts", "src/ui/a.ts"]
    assert matches("**/a/**/a/**", "a/b", "a/a", "a/a/b", "a/x/a/b") == ["a/a/b", "a/x/a/b"]


def test_two_stars_at_the_end_need_something_below() -> None:
    assert matches("docs/**", "docs", "docs/a.md", "docs/a/b.md", "docs2/a.md") == ["docs/a.md", "docs/a/b.md"]


def test_two_stars_within_a_segment_are_one() -> None:
    assert matches("a**b", "ab", "axb", "a/b") == ["ab", "axb"]
    assert matches("a/***", "a/b", "a/b/c") == ["a/b"]


@pytest.mark.parametrize(
    ("text", "accepted", "others"),
    [
        ("[a-c]", "abc", "d-A"),
        ("[!a]", "b!^.", "a"),
        ("[^a]", "b!^.", "a"),
        ("[]a]", "]a", "b"),
        ("[!]a]", "b[", "]a"),
        ("[a-]", "a-", "b"),
        ("[-a]", "a-", "b"),
        (r"[\]\\]", "]\\", "a["),
        (r"[a\-c]", "a-c", "b"),
        ("[a-c-e]", "abc-e", "d"),
        ("[a-cb-e]", "abcde", "f"),
        ("[a-db]", "abcd", "e"),
        ("[{,}]", "{,}", "a"),
        ("[a!^]", "a!^", "b"),
        ("[à-ý\U0001f600-\U0010ffff]", "éü\U0001f680\U0010ffff", "e"),
        ("[[x]", "[x", "]"),
        ("[*?]", "*?", "a"),
    ],
)
def test_a_class_is_one_character(text: str, accepted: str, others: str) -> None:
    pattern = parse_pattern(f"x{text}y")
    assert [sign for sign in accepted + others if pattern.matches(f"x{sign}y")] == list(accepted)


def test_braces_are_written_out_also_nested_and_over_several_directories() -> None:
    assert parse_pattern("{a,b}/{c,d}").alternatives == ("a/c", "a/d", "b/c", "b/d")
    assert parse_pattern("a{b,c{d,e/f}}g").alternatives == ("abg", "acdg", "ace/fg")
    assert parse_pattern("{src,lib/core}/**").alternatives == ("src/**", "lib/core/**")
    assert parse_pattern("a{,b}").alternatives == ("a", "ab")
    assert matches("{src,lib/core}/**", "src/a", "lib/a", "lib/core/a") == ["src/a", "lib/core/a"]


def test_braces_without_a_comma_are_text_as_are_lone_signs() -> None:
    assert matches("{a}", "{a}", "a") == ["{a}"]
    assert matches("x{1..3}", "x1", "x{1..3}") == ["x{1..3}"]
    assert matches("{}*", "{}", "{}x") == ["{}", "{}x"]
    assert matches("a},]?", "a},]!", "a") == ["a},]!"]
    assert parse_pattern("{a{b,c}}").alternatives == ("{ab}", "{ac}")


def test_braces_and_commas_in_a_class_mean_nothing() -> None:
    assert matches("{[,],b}", ",", "b", "[") == [",", "b"]
    assert matches("{[}],a}", "}", "a") == ["}", "a"]


def test_an_escape_takes_the_next_character_as_it_is() -> None:
    assert matches(r"\*", "*", "a") == ["*"]
    assert matches(r"\[id\]/*.ts", "[id]/a.ts", "i/a.ts") == ["[id]/a.ts"]
    assert matches(r"\{a,b\}", "{a,b}", "a") == ["{a,b}"]
    assert matches(r"{a\,b,c}", "a,b", "c", "a") == ["a,b", "c"]
    assert matches(r"\!important", "!important") == ["!important"]
    assert matches(r"a\\b", r"a\b") == [r"a\b"]
    assert matches(r"\s\r\c", "src") == ["src"]


def test_a_pattern_that_equals_the_path_matches_whatever_its_signs_mean() -> None:
    for text in ("app/[id]/page.tsx", "app/[[...slug]]/page.tsx", "app/[...slug]/(group)/@slot/a.ts", "x{a,b}", "[!a]"):
        assert parse_pattern(text).matches(text)
    assert not parse_pattern("[id]/*.ts").matches("[id]/a.ts")
    assert parse_pattern("[id]/*.ts").matches("d/a.ts")


def test_case_counts() -> None:
    assert matches("README*", "README.md", "readme.md") == ["README.md"]


def test_a_leading_dot_slash_is_dropped() -> None:
    assert parse_pattern("./src/*").text == "src/*"
    assert matches("././src/*", "src/a") == ["src/a"]


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "./a", "a/./b", "../a", "a/../b", "..", "C:/a", "c:"])
@pytest.mark.parametrize("text", ["**", "*", "**/a", "*/a", "*/*", "?:/*", "a/**", "*/**/*"])
def test_a_path_that_does_not_lead_down_from_the_root_matches_nothing(text: str, path: str) -> None:
    assert not parse_pattern(text).matches(path)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("", "is empty", "**"),
        ("./", "is empty", "**"),
        ("a\nb", "line break", "an element of its own"),
        ("a\tb", "line break or a tab", "an element of its own"),
        ("/src/**", "begins with '/'", "write src/**, "),
        ("/", "begins with '/'", "write **, "),
        ("C:/src/*", "begins with 'C:'", "write src/*, "),
        ("!src/**", "begins with '!'", r"\!"),
        ("docs/", "ends with '/'", "write docs/** "),
        ("a//b", "an empty segment", "a single '/'"),
        ("a/{b,}/c", "the alternative 'a//c', which has an empty segment", "a single '/'"),
        ("a/{b,}", "the alternative 'a/', which has an empty segment", "a single '/'"),
        ("{/a,b}", "the alternative '/a', which has an empty segment", "a single '/'"),
        ("a/../b", "has a '..' segment", "without '..'"),
        ("..", "has a '..' segment", "without '..'"),
        ("a/{..,b}", "the alternative 'a/..', which has a '..' segment", "without '..'"),
        ("a/.{.,b}/c", "the alternative 'a/../c', which has a '..' segment", "without '..'"),
        (r"\.\./a", "has a '..' segment", "without '..'"),
        ("a/./b", "has a '.' segment", "leave it out"),
        (".", "has a '.' segment", "** means every file"),
        ("a/[bc", "unclosed '['", r"\["),
        ("[", "unclosed '['", r"\["),
        ("[]", "unclosed '['", r"\["),
        ("[!]", "unclosed '['", r"\["),
        ("a[b/c]", "unclosed '['", "in the same segment"),
        ("{a[,b}", "unclosed '['", r"\["),
        ("[z-a]", "the range 'z-a', which runs backwards", "write [a-z]"),
        ("app/[category-id]/*", "the range 'y-i'", r"\[ and \]"),
        ("[[:alpha:]]", "the class '[:alpha:]'", "write [A-Za-z]"),
        ("x[_[:punct:]]", "the class '[:punct:]'", "the characters themselves"),
        ("{a,b", "unclosed '{'", r"\{"),
        ("a{b,{c}", "unclosed '{'", r"\{"),
        ("{a,b}" * 7, "more than 64 alternatives", "fewer braces"),
        ("a\\", r"a lone '\'", "write / alone"),
        ("a\\/b", r"a lone '\'", "write / alone"),
        ("{a\\/b,c}", r"a lone '\'", "write / alone"),
        ("[a\\", r"a lone '\'", "write / alone"),
    ],
)
def test_what_is_no_pattern_is_refused_with_a_hint(text: str, problem: str, hint: str) -> None:
    refused = error_of(text)
    assert problem in refused.problem
    assert refused.hint is not None
    assert hint in refused.hint


def test_only_whole_segments_of_dots_are_refused() -> None:
    for text in ("[...slug]", "...", "a..b", ".a", "..a/b", "a/.../b", "*.."):
        parse_pattern(text)


def test_exactly_as_many_alternatives_as_allowed_pass() -> None:
    assert len(parse_pattern("{a,b}" * 6).alternatives) == ALTERNATIVES_MAX
    assert len(parse_pattern("{" + ",".join(map(str, range(ALTERNATIVES_MAX))) + "}").alternatives) == ALTERNATIVES_MAX
    assert "more than 64" in error_of("{" + ",".join(map(str, range(ALTERNATIVES_MAX + 1))) + "}").problem


def test_equal_alternatives_are_kept_once_but_count() -> None:
    assert parse_pattern("{a,a}").alternatives == ("a",)
    assert "more than 64" in error_of("{a,a}" * 7).problem


def test_alternatives_that_are_long_together_are_refused() -> None:
    long = "x" * 100
    assert len(parse_pattern("{a,b}" * 6 + long).alternatives) == ALTERNATIVES_MAX
    assert "8,192 characters" in error_of("{a,b}" * 6 + "x" * 123).problem


def test_a_text_that_would_explode_is_refused_before_it_does() -> None:
    """Expanded, the first would have 2 to the 1,000th alternatives."""
    for text in ("{a,b}" * 1_000, "{{a,b}{a,b},c}" * 100, "{" * 400 + "a,b" + "}{a,b}" * 400):
        assert "more than 64" in error_of(text).problem


def test_nesting_goes_as_deep_as_one_likes() -> None:
    deep = 4_000
    assert expand_braces("{" * deep + "a" + "}" * deep) == ["{" * deep + "a" + "}" * deep]
    assert parse_pattern("{" * 60 + "a,b" + "}" * 60).alternatives == (
        "{" * 59 + "a" + "}" * 59,
        "{" * 59 + "b" + "}" * 59,
    )
