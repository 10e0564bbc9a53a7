"""The files of the page are small, our own, and never mixed between versions; its colours can be read."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from groundplan.surfaces.http.answers import Answer, send_answer
from groundplan.surfaces.web import page_tokens
from groundplan.surfaces.web.asset_routes import KEPT
from groundplan.surfaces.web.assets import FOLDER, STYLE_NAME, get_assets_path, load_assets
from tests.purpose.picture.test_tokens import contrast
from tests.surfaces.web.browser import Browser

SCRIPT_BYTES_MAX = 60_000  # of all scripts, compressed
OWN_SCRIPTS = {"page.js", "search.js", "morph.js", "events.js", "keys.js", "words.js", "moves.js", "typing.js"} | {
    "canvas.js",
    "canvas_view.js",
}


def test_all_scripts_are_our_own_and_fit_their_limit() -> None:
    scripts = {name: asset for name, asset in load_assets().items() if name.endswith(".js")}

    assert scripts.keys() == OWN_SCRIPTS
    assert sum(len(asset.compressed) for asset in scripts.values()) <= SCRIPT_BYTES_MAX


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


def test_the_style_uses_no_colour_beside_the_tokens() -> None:
    for path in FOLDER.glob("*.css"):
        colours = re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", path.read_text(encoding="utf-8"))
        assert colours == [], path.name


def test_every_variable_of_the_style_is_a_token() -> None:
    defined = set(re.findall(r"(--gp-[a-z0-9-]+):", page_tokens.build_variables()))
    used = {name for path in FOLDER.glob("*.css") for name in re.findall(r"var\((--gp-[a-z0-9-]+)\)", path.read_text())}

    assert used - defined == set()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read_on_its_background(theme: str) -> None:
    for pairs, least in ((page_tokens.TEXT_ON, 4.5), (page_tokens.SHAPE_ON, 3.0)):
        for name, backgrounds in pairs.items():
            for background in backgrounds:
                colours = [getattr(page_tokens.COLOURS[one], theme) for one in (name, background)]
                assert contrast(*colours) >= least, (name, background)
