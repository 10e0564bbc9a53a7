"""What a picture and a file of a theory cost: layout and SVG together, and files out of a store and into one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

import groundplan
from bench.large_purpose import fill_large, large_theory
from bench.options import Options
from bench.purpose import SEED, content_from
from bench.report import Result
from bench.rounds import Step, interleaved, medians_ms
from groundplan.purpose.exchange.formats.table import WRITABLE
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import Profile, VersionStatus
from groundplan.purpose.picture.comparison import comparison
from groundplan.purpose.picture.picture_model import Picture, build_plan_picture, pathway
from groundplan.purpose.picture.svg import DrawnPicture, draw

PROJECT = "atlas"
SMALL, LARGE = (300, 450, 180), (2_000, 3_000, 1_000)
SMALL_MS_MAX, LARGE_MS_MAX = 150.0, 1_000.0
ROUNDS, LARGE_ROUNDS = 30, 7


def part(options: Options) -> list[Result]:
    """The benchmark."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        return [*_pictures(options), *_files(options, Path(folder))]


def _pictures(options: Options) -> Iterator[Result]:
    for size, rounds, bar in ((SMALL, ROUNDS, SMALL_MS_MAX), (LARGE, LARGE_ROUNDS, LARGE_MS_MAX)):
        theory = Theory(
            PROJECT,
            1,
            "v1",
            VersionStatus.PUBLISHED,
            Profile.STANDARD,
            None,
            content_from(large_theory(*size, SEED)),
            {},
            {},
            [],
        )
        other = theory._replace(content=content_from(large_theory(*size, SEED + 1)))
        seen: set[str] = set()

        def check(drawn: DrawnPicture, seen: set[str] = seen) -> None:
            seen.add(drawn.svg)
            assert len(seen) == 1, "the same theory gave two pictures"

        steps = (
            Step("plan", partial(_drawn, build_plan_picture, theory), check=check),
            Step("pathway", partial(_drawn, pathway, theory, "G1")),
            Step("compare", partial(_drawn, comparison, other, theory)),
        )
        took = medians_ms([interleaved(options.rounds(rounds), steps)])
        what = f"{size[0]:,} nodes, {size[1]:,} edges"
        yield Result("pictures", f"layout and SVG, {what}", took["plan"], "ms", bar=bar)
        yield Result("pictures", "… the ways to a goal", took["pathway"], "ms")
        yield Result("pictures", "… two versions that share nothing but keys", took["compare"], "ms")


def _drawn(subject: Callable[..., Picture], *of: Any) -> DrawnPicture:
    return draw(subject(*of))


def _files(options: Options, folder: Path) -> Iterator[Result]:
    with groundplan.open(str(folder / "plan.db"), actor="ada") as session:
        session.call("project.create", name=PROJECT)
        fill_large(session, PROJECT, large_theory(*SMALL, SEED))
        steps = [
            Step(format_, partial(session.call, "purpose.export", project=PROJECT, format=format_))
            for format_ in WRITABLE
        ]
        took = medians_ms([interleaved(options.rounds(ROUNDS), steps)])
        document = msgspec.json.decode(session.call("purpose.export", project=PROJECT, format="json").content)
        session.call("project.create", name="copy")
        taking = Step(
            "import",
            lambda: session.call("purpose.import", project="copy", document=document),
            check=lambda _: session.call("purpose.discard", project="copy"),
        )
        took |= medians_ms([interleaved(options.rounds(ROUNDS), [taking])])
    for format_ in WRITABLE:
        yield Result("pictures", f"export as {format_}, {SMALL[0]} nodes", took[format_], "ms")
    yield Result("pictures", f"import, {SMALL[0]} nodes", took["import"], "ms")
