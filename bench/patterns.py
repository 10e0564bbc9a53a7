"""Path patterns: building the index of a large project, asking it, and patterns that are made to be slow.

The project has 5,000 atoms of 4 patterns, of the kinds that people write. The paths lie where the patterns point, so
most of them are known to several atoms.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from functools import partial
from random import Random

from bench.options import Options
from bench.report import Result
from bench.rounds import Step, interleaved, medians_ms, one_core
from groundplan.knowledge.paths.index import PathIndex
from groundplan.knowledge.paths.pattern import Pattern, parse_pattern
from tests.knowledge.paths.pathological_patterns import PATHOLOGICAL, long_path

ATOMS = 5_000
PATTERNS_OF_AN_ATOM = 4
PATHS = 200
FILES = 50_000  # of a repository that is walked
FILES_OF_A_DIRECTORY = 10
FEW_ATOMS = 500

BUILDS = 10
ROUNDS = 100
WALKS = 5

BUILD_MS_MAX = 400.0
MATCH_MS_MAX = 60.0
PATHOLOGICAL_MS_MAX = 5.0
WALK_S_MAX = 5.0

SHARED = ("md", "mdx", "json", "yaml", "css", "svg", "snap", "sql")  # ends of names that many atoms care for
SOURCES = ("ts", "tsx", "test.ts", "css")


def part(options: Options) -> list[Result]:
    """The benchmark."""
    with one_core(spread=options.spread):
        return [*_project(options), *_walks(options), *_pathological(options)]


def _project(options: Options) -> Iterator[Result]:
    site = _Site(_atoms(ATOMS))
    paths = _paths()
    times = interleaved(options.rounds(BUILDS), [Step("build", site.build, before=site.clear)])
    match = Step("match", lambda: [site.index.matching(path) for path in paths])
    times |= interleaved(options.rounds(ROUNDS), [match])
    taken = medians_ms([times])
    what = f"{ATOMS:,} atoms of {PATTERNS_OF_AN_ATOM} patterns"
    yield Result("patterns", f"build the index, {what}", taken["build"], "ms", bar=BUILD_MS_MAX)
    yield Result("patterns", f"match {PATHS} paths, {what}", taken["match"], "ms", bar=MATCH_MS_MAX)
    yield Result("patterns", "memory of a pattern in the index", _bytes_of_a_pattern(), "bytes")


def _bytes_of_a_pattern() -> float:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        index = _built(_atoms(ATOMS))
        return (tracemalloc.get_traced_memory()[0] - before) / index.size
    finally:
        tracemalloc.stop()


def _walks(options: Options) -> Iterator[Result]:
    files = _repository()
    for atoms in (FEW_ATOMS, ATOMS):
        index = _built(_atoms(atoms))
        step = Step("walk", partial(_walk, index, files))
        taken = medians_ms([interleaved(options.rounds(WALKS), [step])])["walk"] / 1000
        yield Result("patterns", f"match {FILES:,} files, {atoms:,} atoms", taken, "s", bar=WALK_S_MAX)


def _walk(index: PathIndex, files: list[str]) -> int:
    return sum(1 for _ in index.match_many(files))


def _pathological(options: Options) -> Iterator[Result]:
    """The first match of each, which has to make ready what later ones find ready."""
    for name, (text, unit) in PATHOLOGICAL.items():
        trial = _Trial(text, long_path(unit))
        times = interleaved(options.rounds(ROUNDS), [Step("match", trial.match, before=trial.prepare)])
        yield Result("patterns", f"{name}, first match", medians_ms([times])["match"], "ms", bar=PATHOLOGICAL_MS_MAX)


class _Site:
    """Where an index is built again and again. The one before is taken down first, which takes time, too."""

    def __init__(self, atoms: dict[str, list[str]]) -> None:
        self._atoms = atoms
        self.index = PathIndex()

    def clear(self) -> None:
        self.index = PathIndex()

    def build(self) -> None:
        self.index = _built(self._atoms)


class _Trial:
    """A pattern that has not matched anything yet, and a path."""

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._pattern: Pattern

    def prepare(self) -> None:
        self._pattern = parse_pattern(self._text)

    def match(self) -> bool:
        return self._pattern.matches(self._path)


def _built(atoms: dict[str, list[str]]) -> PathIndex:
    index = PathIndex()
    for key, patterns in atoms.items():
        index.put(key, patterns)
    return index


def _random(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - the same project each time, nothing secret


def _atoms(many: int) -> dict[str, list[str]]:
    random = _random(1)
    return {f"atom-{n:05}": random.sample(_kinds(n, random), PATTERNS_OF_AN_ATOM) for n in range(many)}


def _kinds(n: int, random: Random) -> list[str]:
    return [
        f"src/area{n}/**",
        f"src/area{n}/**/*.test.ts",
        f"src/**/name{n}-*.tsx",
        f"**/thing{n}/*.ts",
        f"packages/p{n}/{{src,lib}}/**",
        f"src/area{n}/file{random.randrange(50)}.ts",
        f"**/*.{random.choice(SHARED)}",
    ]


def _paths() -> list[str]:
    random = _random(2)
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


def _repository() -> list[str]:
    random = _random(3)
    directories = [f"src/area{n}/{part}" for n in range(1_500) for part in ("views/forms", "model", "api/v1")]
    directories += [f"packages/p{n}/src/lib" for n in range(FILES // FILES_OF_A_DIRECTORY - len(directories))]
    return [
        f"{directory}/file{n}.{random.choice(SOURCES)}"
        for directory in directories
        for n in range(FILES_OF_A_DIRECTORY)
    ]
