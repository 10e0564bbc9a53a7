"""The pictures of the documentation are up to date."""

from __future__ import annotations

import re

from tests.pictures.documentation_pictures import FOLDER, draw_pictures

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
