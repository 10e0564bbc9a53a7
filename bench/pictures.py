"""Measure drawing a picture of a theory (layout and SVG), and exporting and importing its files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

import groundplan
from bench.large_purpose import fill_draft, generate_theory
from bench.options import Options
from bench.purpose import SEED, build_content_from
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, run_interleaved
from groundplan.purpose.exchange.formats import WRITABLE
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import Profile, VersionStatus
from groundplan.purpose.picture.subjects import (
    Picture,
    build_comparison_picture,
    build_pathway_picture,
    build_plan_picture,
)
from groundplan.purpose.picture.svg import DrawnPicture, draw

PROJECT = "atlas"
SMALL, LARGE = (300, 450, 180), (2_000, 3_000, 1_000)
SMALL_MS_MAX, LARGE_MS_MAX = 150.0, 1_000.0
ROUNDS, LARGE_ROUNDS = 30, 7


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        return [*_measure_pictures(options), *_measure_files(options, Path(folder))]


def _measure_pictures(options: Options) -> Iterator[Result]:
    for size, rounds, bar in ((SMALL, ROUNDS, SMALL_MS_MAX), (LARGE, LARGE_ROUNDS, LARGE_MS_MAX)):
        theory = Theory(
            PROJECT,
            1,
            "v1",
            VersionStatus.PUBLISHED,
            Profile.STANDARD,
            None,
            build_content_from(generate_theory(*size, SEED)),
            {},
            {},
            [],
        )
        other = theory._replace(content=build_content_from(generate_theory(*size, SEED + 1)))
        seen: set[str] = set()

        def check(drawn: DrawnPicture, seen: set[str] = seen) -> None:
            seen.add(drawn.svg)
            assert len(seen) == 1, "the same theory gave two different pictures"

        steps = (
            Step("plan", partial(_draw, build_plan_picture, theory), check=check),
            Step("pathway", partial(_draw, build_pathway_picture, theory, "G1")),
            Step("compare", partial(_draw, build_comparison_picture, other, theory)),
        )
        took = compute_medians_ms([run_interleaved(options.count_rounds(rounds), steps)])
        what = f"{size[0]:,} nodes, {size[1]:,} edges"
        yield Result("pictures", f"layout and SVG, {what}", took["plan"], "ms", bar=bar)
        yield Result("pictures", "… pathway to a goal", took["pathway"], "ms")
        yield Result("pictures", "… comparison of two versions that share only keys", took["compare"], "ms")


def _draw(subject: Callable[..., Picture], *of: Any) -> DrawnPicture:
    return draw(subject(*of))


def _measure_files(options: Options, folder: Path) -> Iterator[Result]:
    with groundplan.open(str(folder / "plan.db"), actor="ada") as session:
        session.call("project.create", name=PROJECT)
        fill_draft(session, PROJECT, generate_theory(*SMALL, SEED))
        steps = [
            Step(format_, partial(session.call, "purpose.export", project=PROJECT, format=format_))
            for format_ in WRITABLE
        ]
        took = compute_medians_ms([run_interleaved(options.count_rounds(ROUNDS), steps)])
        document = msgspec.json.decode(session.call("purpose.export", project=PROJECT, format="json").content)
        session.call("project.create", name="copy")
        import_step = Step(
            "import",
            lambda: session.call("purpose.import", project="copy", document=document),
            check=lambda _: session.call("purpose.discard", project="copy"),
        )
        took |= compute_medians_ms([run_interleaved(options.count_rounds(ROUNDS), [import_step])])
    for format_ in WRITABLE:
        yield Result("pictures", f"export as {format_}, {SMALL[0]} nodes", took[format_], "ms")
    yield Result("pictures", f"import, {SMALL[0]} nodes", took["import"], "ms")
