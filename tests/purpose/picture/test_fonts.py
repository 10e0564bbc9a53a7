"""The font that a picture carries: the letters that it uses, and only those."""

from __future__ import annotations

import re
from base64 import b64decode

import pytest
from resvg_py import svg_to_bytes

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.font import WEIGHTS, cut_font, list_characters, read_font
from groundplan.purpose.picture.subjects import build_plan_picture
from groundplan.purpose.picture.svg import draw
from groundplan.purpose.picture.text import measure_width
from groundplan.purpose.picture.tokens import Theme
from tests.purpose.exchange.theory_strategies import make_published
from tests.purpose.theories import theory, whole_theory

LETTERS = "Clean wâter for everybody 123"
FONT_BYTES_MAX = 12_000  # of one weight in a picture, as base64


def rasterize(path: str, text: str) -> bytes:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="40">'
        f'<text y="30" font-family="Arimo" font-size="20">{text}</text></svg>'
    )
    return svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=[path])


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_cut_font_draws_its_letters_as_before_and_no_others(
    weight: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fonts")
    (folder / "whole.ttf").write_bytes(read_font(weight))
    (folder / "cut.ttf").write_bytes(cut_font(read_font(weight), LETTERS))

    whole, cut = str(folder / "whole.ttf"), str(folder / "cut.ttf")
    assert rasterize(cut, LETTERS) == rasterize(whole, LETTERS)
    assert rasterize(cut, "xXzZ") != rasterize(whole, "xXzZ")
    assert rasterize(cut, "xXzZ") == rasterize(cut, "")


def test_equal_letters_give_equal_bytes_and_few_letters_a_small_font() -> None:
    font = read_font(400)

    assert cut_font(font, LETTERS) == cut_font(font, reversed(LETTERS))
    assert len(cut_font(font, LETTERS)) < len(font) / 3
    assert len(cut_font(font, "漢")) == len(cut_font(font, ""))


@pytest.mark.parametrize("theme", Theme)
def test_a_file_carries_the_letters_of_both_weights_and_a_page_none(theme: Theme) -> None:
    picture = build_plan_picture(make_published(whole_theory()))
    svg = draw(picture, theme, embeds_font=True).svg

    found = re.findall(
        r"@font-face{font-family:Arimo;font-weight:(400|700);src:url\(data:font/ttf;base64,([^)]+)\)}", svg
    )
    assert [weight for weight, _ in found] == ["400", "700"]
    for _, data in found:
        assert b64decode(data)[:4] == read_font(400)[:4]
        assert len(data) < FONT_BYTES_MAX
    assert "@font-face" not in draw(picture, theme).svg
    assert svg.count("url(") == 2
    assert f'font-family="{tokens.FONT}"' in svg


def test_the_widths_of_the_table_are_at_least_those_of_the_font() -> None:
    """So no title leaves its card."""
    for weight in WEIGHTS:
        font = read_font(weight)
        widths = read_widths(font)
        for code, glyph in list_characters(font).items():
            if chr(code).isprintable() and chr(code) != "\N{REPLACEMENT CHARACTER}":
                assert widths[glyph] <= measure_width(chr(code), 1000) + 1, hex(code)


def read_widths(font: bytes) -> list[float]:
    """Return the width of every glyph in thousandths of the font size."""
    count = int.from_bytes(font[4:6], "big")
    tables = {font[at : at + 4]: int.from_bytes(font[at + 8 : at + 12], "big") for at in range(12, 12 + 16 * count, 16)}
    full = int.from_bytes(font[tables[b"hhea"] + 34 :][:2], "big")
    units = int.from_bytes(font[tables[b"head"] + 18 :][:2], "big")
    glyphs = int.from_bytes(font[tables[b"maxp"] + 4 :][:2], "big")
    at = tables[b"hmtx"]
    found = [int.from_bytes(font[at + 4 * place :][:2], "big") * 1000 / units for place in range(full)]
    return found + [found[-1]] * (glyphs - full)


def test_text_that_the_font_does_not_have_is_still_written() -> None:
    svg = draw(
        build_plan_picture(make_published(theory("G1", nodes={"G1": {"title": "水 agua"}}))), embeds_font=True
    ).svg

    assert "水 agua" in svg
