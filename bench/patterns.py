"""Measure the index of path patterns of a large project: building, matching, and patterns designed to be slow.

The project has 5,000 atoms with 4 common patterns each. The paths are chosen so that most of them match several atoms.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from functools import partial
from random import Random

from bench.options import Options
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, pin_to_one_core, run_interleaved
from groundplan.knowledge.paths.index import PathIndex
from groundplan.knowledge.paths.pattern import Pattern, parse_pattern
from tests.knowledge.paths.pathological_patterns import DEAR, PATHOLOGICAL, long_path

ATOMS = 5_000
PATTERNS_OF_AN_ATOM = 4
PATHS = 200
FILES = 50_000  # in the repository
FILES_OF_A_DIRECTORY = 10
FEW_ATOMS = 500

BUILDS = 10
ROUNDS = 100
WALKS = 5

BUILD_MS_MAX = 400.0
MATCH_MS_MAX = 60.0
PATHOLOGICAL_MS_MAX = 5.0
DEAR_MS_MAX = 120.0
DEAR_ROUNDS = 10
WALK_S_MAX = 5.0

SHARED = ("md", "mdx", "json", "yaml", "css", "svg", "snap", "sql")  # suffixes that many atoms have patterns for
SOURCES = ("ts", "tsx", "test.ts", "css")


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    with pin_to_one_core(spread=options.spread):
        return [*_measure_project(options), *_measure_walks(options), *_measure_pathological(options)]


def _measure_project(options: Options) -> Iterator[Result]:
    site = _IndexBuilder(_generate_atoms(ATOMS))
    paths = _generate_paths()
    times = run_interleaved(options.count_rounds(BUILDS), [Step("build", site.build, before=site.clear)])
    match = Step("match", lambda: [site.index.find_matches(path) for path in paths])
    times |= run_interleaved(options.count_rounds(ROUNDS), [match])
    taken = compute_medians_ms([times])
    what = f"{ATOMS:,} atoms of {PATTERNS_OF_AN_ATOM} patterns"
    yield Result("patterns", f"build the index, {what}", taken["build"], "ms", bar=BUILD_MS_MAX)
    yield Result("patterns", f"match {PATHS} paths, {what}", taken["match"], "ms", bar=MATCH_MS_MAX)
    yield Result("patterns", "memory of a pattern in the index", _measure_pattern_bytes(), "bytes")


def _measure_pattern_bytes() -> float:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        index = _build_index(_generate_atoms(ATOMS))
        return (tracemalloc.get_traced_memory()[0] - before) / index.size
    finally:
        tracemalloc.stop()


def _measure_walks(options: Options) -> Iterator[Result]:
    files = _generate_files()
    for atoms in (FEW_ATOMS, ATOMS):
        index = _build_index(_generate_atoms(atoms))
        step = Step("walk", partial(_walk, index, files))
        taken = compute_medians_ms([run_interleaved(options.count_rounds(WALKS), [step])])["walk"] / 1000
        yield Result("patterns", f"match {FILES:,} files, {atoms:,} atoms", taken, "s", bar=WALK_S_MAX)


def _walk(index: PathIndex, files: list[str]) -> int:
    return sum(1 for _ in index.match_many(files))


def _measure_pathological(options: Options) -> Iterator[Result]:
    """Measure the first match of each pattern, which builds what later matches reuse."""
    for patterns, rounds, bar in ((PATHOLOGICAL, ROUNDS, PATHOLOGICAL_MS_MAX), (DEAR, DEAR_ROUNDS, DEAR_MS_MAX)):
        for name, (text, unit) in patterns.items():
            trial = _FirstMatch(text, long_path(unit))
            times = run_interleaved(options.count_rounds(rounds), [Step("match", trial.match, before=trial.prepare)])
            yield Result("patterns", f"{name}, first match", compute_medians_ms([times])["match"], "ms", bar=bar)


class _IndexBuilder:
    """An index that is built repeatedly. `clear` frees the previous one outside the timing."""

    def __init__(self, atoms: dict[str, list[str]]) -> None:
        self._atoms = atoms
        self.index = PathIndex()

    def clear(self) -> None:
        self.index = PathIndex()

    def build(self) -> None:
        self.index = _build_index(self._atoms)


class _FirstMatch:
    """A freshly parsed pattern and a path to match."""

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._pattern: Pattern

    def prepare(self) -> None:
        self._pattern = parse_pattern(self._text)

    def match(self) -> bool:
        return self._pattern.matches(self._path)


def _build_index(atoms: dict[str, list[str]]) -> PathIndex:
    index = PathIndex()
    for key, patterns in atoms.items():
        index.put(key, patterns)
    return index


def _make_random(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - the same project in every run, no secret


def _generate_atoms(many: int) -> dict[str, list[str]]:
    random = _make_random(1)
    return {f"atom-{n:05}": random.sample(_list_patterns(n, random), PATTERNS_OF_AN_ATOM) for n in range(many)}


def _list_patterns(n: int, random: Random) -> list[str]:
    return [
        f"src/area{n}/**",
        f"src/area{n}/**/*.test.ts",
        f"src/**/name{n}-*.tsx",
        f"**/thing{n}/*.ts",
        f"packages/p{n}/{{src,lib}}/**",
        f"src/area{n}/file{random.randrange(50)}.ts",
        f"**/*.{random.choice(SHARED)}",
    ]


def _generate_paths() -> list[str]:
    random = _make_random(2)
    kinds = (
        "src/area{}/views/forms/file{}.ts",
        "src/area{}/deep/x/a{}.test.ts",
        "src/ui/parts/name{}-card{}.tsx",
        "lib/a/thing{}/x{}.ts",
        "packages/p{}/src/index{}.ts",
        "docs/area{}/readme{}.md",
        "src/area{}/file{}.ts",
        "elsewhere/{}/x{}.py",
    )
    return [random.choice(kinds).format(random.randrange(ATOMS), random.randrange(50)) for _ in range(PATHS)]


def _generate_files() -> list[str]:
    random = _make_random(3)
    directories = [f"src/area{n}/{part}" for n in range(1_500) for part in ("views/forms", "model", "api/v1")]
    directories += [f"packages/p{n}/src/lib" for n in range(FILES // FILES_OF_A_DIRECTORY - len(directories))]
    return [
        f"{directory}/file{n}.{random.choice(SOURCES)}"
        for directory in directories
        for n in range(FILES_OF_A_DIRECTORY)
    ]
