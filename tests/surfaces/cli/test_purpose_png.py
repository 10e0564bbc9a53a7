"""`purpose render --png` on the command line: the picture as pixels with all its text, or an error."""

from __future__ import annotations

import json
import shutil
import struct
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from resvg_py import svg_to_bytes

import groundplan
from groundplan.purpose.exchange.writers import picture
from tests.surfaces.cli.conftest import Run, RunResult
from tests.surfaces.cli.tiny_font import tiny_font

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Would show a file if it were not text.
ODD_TITLE = '"/></text><image href="seen.png" width="400" height="400"/>'
SMALL = [
    {"op": "add_node", "ref": "well", "node_type": "OUTPUT", "title": "A well"},
    {"op": "add_node", "ref": "health", "node_type": "GOAL", "title": "Health"},
    {"op": "add_edge", "source": "well", "target": "health"},
]

Fonts = Callable[[str], None]


class RenderCommands:
    """Project atlas with a small theory, and commands that draw it."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __call__(self, *words: str) -> RunResult:
        return self.run("purpose", "render", "--project", "atlas", *words)

    def answer(self, *words: str) -> Any:
        return self(*words, "--json").answer

    def png(self, name: str, *words: str) -> bytes:
        """Render a PNG of minimal size."""
        assert self("--png", name, "--scale", "1", *words).code == 0
        return Path(name).read_bytes()

    def rename(self, title: str) -> None:
        with groundplan.open("groundplan.db", actor="ada") as session:
            operations = [{"op": "update_node", "node": "G1", "title": title}]
            session.call("purpose.edit", project="atlas", operations=operations)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the theory."""
    db = tmp_path_factory.mktemp("plan") / "groundplan.db"
    with groundplan.open(str(db), actor="ada") as session:
        session.call("project.create", name="atlas")
        session.call("work.open", project="atlas", policies={"profile_min": "light"})
        session.call("purpose.draft", project="atlas", profile="light")
        session.call("purpose.edit", project="atlas", operations=SMALL)
    return db


@pytest.fixture
def fonts(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Fonts:
    """Make one font the only font of the machine."""

    def fonts(family: str) -> None:
        file = tmp_path_factory.mktemp("fonts") / "tiny.ttf"
        file.write_bytes(tiny_font(family))
        drawing = partial(svg_to_bytes, skip_system_fonts=True, font_files=[str(file)])
        monkeypatch.setattr("resvg_py.svg_to_bytes", drawing)

    return fonts


@pytest.fixture
def pictures(run: Run, plan: Path, fonts: Fonts) -> RenderCommands:
    shutil.copy(plan, ".")
    fonts("Arial")
    return RenderCommands(run)


def size(png: bytes) -> tuple[int, ...]:
    assert png.startswith(SIGNATURE)
    return struct.unpack(">II", png[16:24])


def test_a_png_has_two_pixels_for_each_of_the_picture_or_as_many_as_are_asked_for(pictures: RenderCommands) -> None:
    drawn = pictures.answer()
    width, height = drawn["width"], drawn["height"]

    told = pictures.answer("--png", "plan.png")

    raw = Path("plan.png").read_bytes()
    assert size(raw) == (width * 2, height * 2)
    about = {"file": "plan.png", "width": width * 2, "height": height * 2, "bytes": len(raw)}
    assert told == {"version": 1, "png": about}
    line = pictures("--png", "small.png", "--scale", "1").out
    raw = Path("small.png").read_bytes()
    assert size(raw) == (width, height)
    assert line == f"Wrote small.png: v1, {width} x {height}, {len(raw)} bytes.\n"


def test_what_is_said_in_the_picture_is_written_in_the_png(pictures: RenderCommands) -> None:
    before = pictures.png("before.png")
    pictures.rename("Health for all")

    assert pictures.png("after.png") != before


def test_svg_and_png_can_be_drawn_at_once(pictures: RenderCommands) -> None:
    svg = pictures().out
    both = ("--svg", "plan.svg", "--png", "plan.png", "--scale", "1")
    told = pictures.answer(*both)

    raw = Path("plan.png").read_bytes()
    assert Path("plan.svg").read_bytes() == svg.encode()
    assert (told["file"], told["bytes"]) == ("plan.svg", len(svg.encode()))
    assert (told["png"]["file"], told["png"]["bytes"]) == ("plan.png", len(raw))
    shown = pictures(*both, "--force").out
    assert [line.partition(":")[0] for line in shown.splitlines()] == ["Wrote plan.svg", "Wrote plan.png"]
    piped = ("--svg", "-", "--png", "piped.png", "--scale", "1")
    assert pictures(*piped).out == svg
    assert Path("piped.png").read_bytes() == raw
    assert pictures.answer(*piped, "--force")["svg"] == svg


def test_a_png_that_should_follow_its_reader_is_light(pictures: RenderCommands) -> None:
    light, dark = pictures.png("light.png"), pictures.png("dark.png", "--theme", "dark")

    assert light != dark
    assert pictures.png("auto.png", "--theme", "auto", "--svg", "auto.svg") == light
    assert "var(--gp-" in Path("auto.svg").read_text(encoding="utf-8")


def test_pathways_and_comparisons_are_drawn_as_png_too(pictures: RenderCommands) -> None:
    assert pictures.png("pathway.png", "--pathway", "OP1") != pictures.png("plan.png")
    assert pictures("--png", "none.png", "--pathway", "G9", "--json").error == (3, "not_found")
    assert not Path("none.png").exists()


def test_a_title_that_names_a_file_shows_none(pictures: RenderCommands) -> None:
    pictures.rename(ODD_TITLE)
    before = pictures.png("before.png")
    box = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{}</svg>'
    image = box.format('<image href="seen.png" width="40" height="40"/>')
    nothing = svg_to_bytes(svg_string=image)
    Path("seen.png").write_bytes(svg_to_bytes(svg_string=box.format('<rect width="40" height="40"/>')))

    assert svg_to_bytes(svg_string=image) != nothing  # so it would be visible
    assert pictures.png("after.png") == before


@pytest.mark.parametrize(
    "words",
    [
        ("--png", "-"),
        ("--png", "mine.png"),
        ("--png", "no/such/folder.png"),
        ("--png", "a\x00b.png"),
        ("--png", "same", "--svg", "same"),
        ("--png", "new.png", "--svg", "mine.png"),
        ("--png", "mine.png", "--svg", "new.svg"),
        ("--scale", "2"),
        ("--svg", "new.svg", "--scale", "2"),
        *(("--png", "new.png", "--scale", scale) for scale in ("0", "5", "-1", "1.5", "nan")),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    pictures: RenderCommands, words: tuple[str, ...]
) -> None:
    Path("mine.png").write_text("mine", encoding="utf-8")
    before = sorted(Path().iterdir())

    assert pictures(*words, "--json").error == (2, "usage")
    assert sorted(Path().iterdir()) == before
    assert Path("mine.png").read_text(encoding="utf-8") == "mine"


def test_a_file_that_is_there_is_drawn_over_by_force(pictures: RenderCommands) -> None:
    Path("mine.png").write_text("mine", encoding="utf-8")

    assert pictures.png("mine.png", "--force").startswith(SIGNATURE)


def test_a_png_that_would_be_too_large_is_refused_with_what_to_do(
    pictures: RenderCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = pictures.answer()
    monkeypatch.setattr(picture, "PIXELS_MAX", drawn["width"] * drawn["height"])

    refused = pictures("--png", "plan.png", "--svg", "plan.svg", "--json")

    assert refused.error == (2, "usage")
    assert "--scale 1" in refused.err
    assert not Path("plan.svg").exists()
    assert pictures("--png", "plan.png", "--scale", "1").code == 0


def test_the_text_is_drawn_with_the_shipped_font_whatever_the_machine_has(
    pictures: RenderCommands, fonts: Fonts
) -> None:
    with_arial = pictures.png("arial.png")

    fonts("Of Signs Only")

    assert pictures.png("signs.png") == with_arial


def test_without_the_extra_the_error_says_how_to_install_it_and_svg_is_drawn_still(
    pictures: RenderCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)

    # Refused before a store is opened.
    refused = pictures("--png", "plan.png", "--svg", "plan.svg", "--db", "no.db", "--json")

    assert refused.error == (7, "extra_missing")
    assert "pip install 'groundplan[png]'" in json.loads(refused.err)["error"]["message"]
    assert not [*Path().glob("plan.*")]
    assert pictures("--svg", "plan.svg").code == 0


def test_help_says_what_a_png_needs(pictures: RenderCommands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    assert "Needs groundplan[png]." in pictures("--help").out
