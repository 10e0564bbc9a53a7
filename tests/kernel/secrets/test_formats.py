"""Each format is found wherever it stands in a text, and what only resembles it is not."""

from __future__ import annotations

import random
import re
import string
import time
from pathlib import Path

import pytest

from groundplan.kernel.secrets import FORMATS, SecretFormat, find_kinds
from tests.kernel.secrets.made_up import RECIPES, make_one, make_secret
from tests.proof import scaled

ROOT = Path(__file__).parents[3]
SEEDS = scaled(3, 100)
# Of random texts, the part that looks like a placeholder or has no unbroken part that is long enough.
MISSED_MAX = 0.02
AROUND = (("", ""), ("use ", " for the tests"), ("TOKEN=", "\n"), ("`", "`."), ('{"key": "', '"}'), ("über\n", ", ja"))


def test_there_are_at_least_fifty_formats_and_a_recipe_for_each() -> None:
    kinds = dict.fromkeys(one.kind for one in FORMATS)
    assert list(RECIPES) == list(kinds)
    assert len(kinds) >= 50


@pytest.mark.proof
def test_every_format_is_found_wherever_it_stands(subtests: pytest.Subtests) -> None:
    for kind, recipes in RECIPES.items():
        with subtests.test(kind):
            texts = [
                f"{before}{make_secret(recipe, seed)}{after}"
                for recipe in recipes
                for seed in range(SEEDS)
                for before, after in AROUND
            ]
            missed = [text for text in texts if kind not in find_kinds(text)]
            assert len(missed) <= MISSED_MAX * len(texts), missed[:3]


def test_a_secret_of_one_format_is_rarely_taken_for_another() -> None:
    found = {kind: find_kinds(make_one(kind)) for kind in RECIPES}
    assert {kind: kinds for kind, kinds in found.items() if kinds != [kind]} == {}


@pytest.mark.parametrize(
    "text",
    [
        "gh" + "p_" + "x" * 36,
        "gh" + "p_" + "0" * 36,
        "gh" + "p_" + "abcdefghijklmnopqrstuvwxyz0123456789",
        "gh" + "p_" + "abcd1234" * 4 + "abcd",
        "gh" + "p_" + "YOUR" + "TOKENHERE1" * 3 + "ab",
        "AK" + "IAIOSFODNN7EXAMPLE",
        "aws_secret_" + "access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "sk" + "-ant-api03-" + "your-key-goes-here-" * 5,
        "gl" + "pat-this-is-not-a-token-at-all",
        "gp" + "t_this_is_the_name_of_a_4th_function",
        "postgresql://USER:PASSWORD@HOST:5432/NAME",
        "postgresql://app:${DB_PASSWORD}@db.internal/plan",
        "postgresql://app:<password>@db.internal/plan",
        "https://ada:hunter22@example.com/",
        "postgresql://app:hunter22@localhost:5432/plan",
        "https://ada@example.org:8080/a:b@c",
        "-----BEGIN PUBLIC KEY-----\n" + "MIIB" * 16,
        "-----BEGIN RSA PRIVATE " + "KEY-----",
        "5f0c6d1e-3b2a-4c59-8d7e-9a0b1c2d3e4f",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "src/groundplan/kernel/operations/execute.py:120 test_a_name_that_is_as_long_as_a_sentence",
        "skeleton-proj-with-a-very-long-name-2024-01-01-and-more-words",
    ],
)
def test_placeholders_names_and_hashes_are_no_secrets(text: str) -> None:
    assert find_kinds(text) == []


def test_a_part_of_a_longer_word_is_no_secret() -> None:
    token = make_one("GitHub personal access token")
    assert find_kinds(f"a{token}") == []
    assert find_kinds(f"{token}a") == []
    assert find_kinds(f"({token})") == ["GitHub personal access token"]


def test_random_words_are_no_secrets() -> None:
    pick = random.Random(9)  # noqa: S311 - chance
    alphabet = string.ascii_letters + string.digits + "+/_-.=: "
    texts = ("".join(pick.choices(alphabet, k=2_000)) for _ in range(scaled(50, 2_000)))
    assert [kinds for text in texts if (kinds := find_kinds(text))] == []


def read_repository() -> dict[str, str]:
    """Return every text file of the repository that is written by hand."""
    found = [path for folder in ("docs", "src", "tests", "reference", "bench") for path in (ROOT / folder).rglob("*")]
    files = [*found, *ROOT.glob("*.md")]
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in files
        if path.suffix in (".md", ".py", ".pyi", ".sql", ".json", ".toml", ".svg", ".csv", ".txt") and path.is_file()
    }


@pytest.mark.proof
def test_the_text_of_this_repository_has_no_secrets() -> None:
    texts = read_repository()
    assert len(texts) > 500
    texts = {name: texts[name] for name in sorted(texts)[:: scaled(5, 1)]}
    assert {name: kinds for name, text in texts.items() if (kinds := find_kinds(text))} == {}


def test_every_pattern_is_linear() -> None:
    # No repeat without a bound, and none of a group that itself repeats without one.
    for one in FORMATS:
        assert not re.search(r"(?<!\\)[*+](?![^\[]*\])", re.sub(r"\[[^\]]*\]", "", one.pattern)), one.kind


@pytest.mark.proof
def test_a_text_that_nearly_matches_costs_no_more_for_its_length() -> None:
    chars = scaled(2_000, 50_000)
    slow = []
    for one in FORMATS:
        literal = one.literals[0]
        for unit in (f"{literal} ", f"{literal}a", f"-{literal}", f"{literal}{'a1B' * 30}-", f".{literal}{'A' * 15}"):
            once, four_times = (unit * (size // len(unit)) for size in (chars, 4 * chars))
            if cost_of(one, four_times) > 10 * cost_of(one, once) + 0.002:
                slow.append((one.kind, unit))
    assert slow == []


def cost_of(one: SecretFormat, text: str) -> float:
    def measure() -> float:
        begun = time.process_time()
        assert len(list(one.regex.finditer(text))) >= 0
        return time.process_time() - begun

    return min(measure() for _ in range(3))
