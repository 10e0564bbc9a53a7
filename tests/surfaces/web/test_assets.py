"""The files of the page are small, our own, and never mixed between versions; its colours can be read."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from groundplan.purpose.picture import tokens
from groundplan.surfaces.http.answers import Answer, send_answer
from groundplan.surfaces.web import render
from groundplan.surfaces.web.join_scripts import FIRST
from groundplan.surfaces.web.pages import AREAS, FIRST_AREA, KEPT
from groundplan.surfaces.web.render import STATIC, STYLE_NAME, get_assets_path, load_assets
from tests.engines import Engine
from tests.purpose.picture.test_tokens import contrast
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import begin

SCRIPT_BYTES_MAX = 60_000  # of all scripts, compressed
REQUESTS_MAX = 5  # of the first screen
FONT = re.compile(r'url\("([^"#]+)"\)')
REFERENCE = re.compile(r'<(?:link|script|img|source|iframe)\b[^>]*?(?:href|src)="(?!data:)([^"]+)"')


def test_all_scripts_are_our_own_and_fit_their_limit() -> None:
    scripts = {name: asset for name, asset in load_assets().items() if name.endswith(".js")}

    assert FIRST in scripts
    assert scripts.keys() <= {path.name for path in STATIC.glob("*.js")}
    assert sum(len(asset.compressed) for asset in scripts.values()) <= SCRIPT_BYTES_MAX


@pytest.mark.parametrize("area", AREAS)
def test_the_first_screen_needs_few_requests(browser: Browser, engine: Engine, area: str) -> None:
    begin(browser, engine)
    page = browser.get(f"/p/atlas/{area}").body.decode()
    needed = set(REFERENCE.findall(page))
    style, script = (load_assets()[name].body.decode() for name in (STYLE_NAME, FIRST))
    fonts = {f"{get_assets_path()}/{name}" for name in FONT.findall(style)}

    assert fonts <= needed  # they are asked for at once, and not only when the style was read
    assert re.findall(r"^import .*", script, re.MULTILINE) == []
    of_area = {one for one in needed if one.endswith(".js") and not one.endswith(f"/{FIRST}")}
    assert len(of_area) <= (area != FIRST_AREA)  # an area may have a script of its own, but not the first one
    assert 1 + len(needed - of_area) <= REQUESTS_MAX, sorted(needed)


def test_a_browser_keeps_the_files_of_this_version_only(browser: Browser) -> None:
    kept = browser.get(f"{get_assets_path()}/{STYLE_NAME}")
    other = browser.get(f"/static/000000000000/{STYLE_NAME}")

    assert "immutable" in kept.headers["cache-control"]
    assert kept.headers["content-type"] == "text/css; charset=utf-8"
    assert (other.status, "immutable" in other.headers["cache-control"]) == (200, False)
    assert browser.get(f"{get_assets_path()}/nothing.js").status == 404
    assert browser.get(f"{get_assets_path()}/../pages.py").status == 404


def test_an_answer_with_a_rule_for_caches_has_no_other_one() -> None:
    """Two would be joined, and `no-store` would win."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(send_answer(send, Answer(200, b"", [KEPT])))

    assert [value for name, value in sent[0]["headers"] if name == b"cache-control"] == [KEPT[1]]


def test_a_file_is_sent_compressed_to_who_accepts_that(browser: Browser) -> None:
    plain = browser.get(f"{get_assets_path()}/page.js")
    compressed = browser.get(f"{get_assets_path()}/page.js", accept_encoding="gzip")

    assert "content-encoding" not in plain.headers
    assert compressed.headers["content-encoding"] == "gzip"
    assert len(compressed.body) < len(plain.body)


@pytest.mark.parametrize(("site", "is_compressed"), [("same-origin", True), ("none", True), ("cross-site", False)])
def test_a_page_is_sent_compressed_unless_another_site_asks_for_it(
    browser: Browser, engine: Engine, site: str, is_compressed: bool
) -> None:
    """Another site could choose what the page repeats, and guess the rest from the length."""
    begin(browser, engine)
    path = "/p/atlas/home"
    reply = browser.get(path, accept_encoding="gzip", sec_fetch_site=site, sec_fetch_mode="navigate")

    assert ("content-encoding" in reply.headers) is is_compressed
    assert (len(reply.body) < len(browser.get(path).body)) is is_compressed
    assert "content-encoding" not in browser.get(path, sec_fetch_site="none").headers


def test_the_style_uses_no_colour_beside_the_tokens() -> None:
    for path in STATIC.glob("*.css"):
        colours = re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", path.read_text(encoding="utf-8"))
        assert colours == [], path.name


def test_no_token_of_the_page_has_the_name_of_one_of_the_picture() -> None:
    # A chosen theme sets the tokens of the picture once more, and would replace the value of the page.
    assert set(tokens.COLOURS).isdisjoint({*render.COLOURS, *render.SIZES})


def test_every_variable_of_the_style_is_a_token() -> None:
    defined = set(re.findall(r"(--gp-[a-z0-9-]+):", render.build_variables()))
    used = {name for path in STATIC.glob("*.css") for name in re.findall(r"var\((--gp-[a-z0-9-]+)\)", path.read_text())}

    assert used - defined == set()


# Pairs of text and background, of which the contrast is checked.
TEXT_ON = {
    "ink": ("ground", "surface", "raised", "accent-soft"),
    "quiet": ("ground", "surface", "raised", "accent-soft"),
    "accent": ("ground", "surface", "raised", "accent-soft"),
    "on-accent": ("accent",),
    "on-strong": ("strong",),
    "good": ("surface", "good-soft"),
    "caution": ("surface", "caution-soft"),
    "bad": ("surface", "bad-soft"),
    "agent": ("surface", "agent-soft"),
}
SHAPE_ON = {"control": ("surface", "ground"), "accent": ("surface", "ground")}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read_on_its_background(theme: str) -> None:
    for pairs, least in ((TEXT_ON, 4.5), (SHAPE_ON, 3.0)):
        for name, backgrounds in pairs.items():
            for background in backgrounds:
                colours = [getattr(render.COLOURS[one], theme) for one in (name, background)]
                assert contrast(*colours) >= least, (name, background)
