"""The pictures of the documentation are up to date."""

from __future__ import annotations

import re
import struct

from groundplan.surfaces.web.pages import AREAS
from tests.pictures.documentation_pictures import FOLDER, draw_pictures
from tests.pictures.page_pictures import (
    GUIDE_HEIGHT,
    PAGE_FOLDER,
    SCREENS,
    WIDTH,
    list_files,
    list_guide_files,
)

GUIDE_BYTES_MAX = 150_000  # of a picture
PAGE = FOLDER.parent / "concepts" / "pictures.md"


def test_the_pictures_of_the_documentation_are_current() -> None:
    current = draw_pictures()
    there = {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}

    outdated = [path.name for path in current if there.get(path) != current[path]]
    assert not outdated, "run `make pictures`, and look at them"
    assert there.keys() == current.keys()


def test_the_page_shows_every_picture() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(\.\./pictures/([a-z]+)\.svg\)", PAGE.read_text(encoding="utf-8"))

    assert sorted(shown) == sorted(path.stem for path in draw_pictures())


def test_every_screen_and_step_has_its_picture() -> None:
    """Their bytes differ each time they are taken; that they are there, and their sizes, do not."""
    of_screens = {path: screen.size for path, screen in zip(list_files(), SCREENS.values(), strict=True)}
    sizes = of_screens | dict.fromkeys(list_guide_files(), (WIDTH, GUIDE_HEIGHT))

    assert set(PAGE_FOLDER.glob("*.png")) == sizes.keys(), "run `make pictures`, and look at them"
    assert AREAS.keys() <= SCREENS.keys()
    for path, size in sizes.items():
        head = path.read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", head[16:]) == size, path.name


def test_a_guide_opens_at_once() -> None:
    files = list_guide_files()

    assert len(files) <= 6
    assert {path.name for path in files if path.stat().st_size > GUIDE_BYTES_MAX} == set()


def test_the_readme_shows_two_screens_of_the_page() -> None:
    readme = (FOLDER.parents[1] / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(docs/pictures/web/([a-z-]+)\.png\)", readme)

    assert len(shown) == 2
    assert set(shown) <= SCREENS.keys()
