"""Random texts that are patterns or almost patterns, and paths that they match or almost match."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from tests.knowledge.paths import reference_matcher
from tests.machines.budget import STEPS_IN_A_RUN

# Few characters, so that patterns and paths match; every special sign, whole and broken.
PLAIN = ("a", "b", "ab", "a.b", ".a", "-", "é")
WHOLE = ("*", "*", "?", "**", "[ab]", "[!a]", "[^b]", "[a-b]", "[]a]", "[a-]", "[-.]", r"[\]a]", r"[a\-b]", "[!]-a]")
BRACES = ("{a,b}", "{,a}", "{a,b/a}", "{a}", "{a..b}", "{*,b}", "{a,{b,**}}", "{a/,}b", "{[,],b}", r"{\,,a}", "{b,}")
ODD = (
    "{",
    "}",
    ",",
    "[",
    "]",
    "\\",
    "!",
    "^",
    "..",
    ".",
    ":",
    r"\*",
    r"\{",
    r"\\",
    "[b-a]",
    "[[:alpha:]]",
    "{}",
    "\t",
    " ",
)
SLASHES = ("/", "/", "/**/", "/*/", "**/", "/**", "./", "//")

PIECES = st.sampled_from((*PLAIN, *PLAIN, *SLASHES, *SLASHES, *WHOLE, *BRACES))
TEXTS = st.lists(st.one_of(PIECES, PIECES, PIECES, st.sampled_from(ODD)), max_size=8).map("".join)

NAMES = st.lists(
    st.sampled_from((*PLAIN, *PLAIN, *WHOLE, "{a,b}", "{,a}", "{b,*}", "{?,b*}", "{a,b/a}")), min_size=1, max_size=3
).map("".join)
SOUND_TEXTS = st.lists(st.one_of(NAMES, NAMES, st.sampled_from(("**", "a", "b"))), min_size=1, max_size=6).map("/".join)

ODD_PATHS = ("", "/", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a/.", "a:/b", "a:", "a:b", ".a/..a", "**", "[ab]")
SIGNS = "ab.-é[]*{,^"


def generate_paths(texts: Sequence[str], seed: int) -> list[str]:
    """Return as many paths as a machine takes steps: any, odd ones, and ones that a pattern (almost) matches."""
    random = Random(seed)  # noqa: S311 - the same paths every time
    sound = [text for text in texts if reference_matcher.is_pattern(text)]
    ways = [_any_path, _odd_path, _near_path, _near_path] if sound else [_any_path, _odd_path]
    return [random.choice(ways)(random, sound) for _ in range(STEPS_IN_A_RUN)]


def _any_path(random: Random, _: Sequence[str]) -> str:
    return "/".join(_name(random) for _ in range(random.randint(1, 6)))


def _odd_path(random: Random, _: Sequence[str]) -> str:
    return random.choice(ODD_PATHS)


def _near_path(random: Random, sound: Sequence[str]) -> str:
    """Replace each sign of a pattern by a match; sometimes drop a name or a character."""
    names: list[str] = []
    for segment in random.choice(reference_matcher.alternatives(random.choice(sound))):
        if segment == ("*", "*"):
            names += [_name(random) for _ in range(random.randint(0, 2))]
        else:
            names.append("".join(_match_unit(random, unit) for unit in segment))
    if names and random.random() < 0.2:
        names.pop(random.randrange(len(names)))
    path = "/".join(names)
    at = random.randrange(len(path) + 1)
    return path if random.random() < 0.8 else path[:at] + path[at + 1 :]


def _match_unit(random: Random, unit: str) -> str:
    if unit == "*":
        return "".join(random.choices("ab.", k=random.randint(0, 2)))
    return random.choice(SIGNS) if unit == "?" or (len(unit) > 1 and unit[0] == "[") else unit[-1]


def _name(random: Random) -> str:
    return "".join(random.choices("ab" if random.random() < 0.7 else SIGNS, k=random.randint(1, 3)))
