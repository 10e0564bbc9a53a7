"""Measure the canvas of the plan in a headless Chromium: opening it, an edit until it is redrawn, and moving it.

Frames are measured while the wheel moves and zooms the canvas.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import groundplan
from bench.large_purpose import fill_draft, generate_theory
from bench.options import Options
from bench.page import NO_LIMIT, load_page, make_token, open_browser
from bench.purpose import SEED
from bench.report import Result
from bench.rest import run_program

PROJECT = "atlas"
SMALL, LARGE = (300, 450, 180), (2_000, 3_000, 1_000)
OPEN_MS_MAX, EDIT_MS_MAX, FRAME_MS_MAX = 400.0, 150.0, 34.0
ROUNDS, LARGE_ROUNDS = 20, 5
PATH = f"/p/{PROJECT}/plan"
FRAMES = 90
# From the press of the button to the second frame after the answer is in the page.
_EDIT_MS = """async (title) => {
  const field = document.querySelector("#edit textarea");
  field.value = title;
  const begin = performance.now();
  field.form.requestSubmit();
  await new Promise((done) => document.addEventListener("shown", done, { once: true }));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  if (document.querySelector("#inspector h2").textContent !== title) throw new Error("the edit is not shown");
  return performance.now() - begin;
}"""
_FRAMES_MS = """async (count) => {
  const box = document.getElementById("canvas");
  const { left, top } = box.getBoundingClientRect();
  const frames = [];
  let before = await new Promise(requestAnimationFrame);
  for (let number = 0; number < count; number += 1) {
    const isZoom = number % 3 === 0;
    const deltaY = isZoom ? (number % 2 ? 12 : -12) : 40 * (number % 30 < 15 ? 1 : -1);
    const place = { clientX: left + 400, clientY: top + 300, bubbles: true, cancelable: true };
    box.dispatchEvent(new WheelEvent("wheel", { deltaY, deltaX: 15, ctrlKey: isZoom, ...place }));
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - before);
    before = now;
  }
  return frames;
}"""


def run(options: Options) -> list[Result]:
    """Measure plans of two sizes."""
    results: list[Result] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder, open_browser() as browser:
        for size in (SMALL, LARGE):
            db = str(Path(folder) / f"{size[0]}.db")
            with groundplan.open(db, actor="ada") as ada:
                ada.call("project.create", name=PROJECT)
                fill_draft(ada, PROJECT, generate_theory(*size, SEED))
            token = make_token(db)
            with run_program("-m", "groundplan", "serve", "--port", "0", "--db", db, *NO_LIMIT) as port:
                results += _measure(options, browser, f"http://127.0.0.1:{port}", token, size)
    return results


def _measure(options: Options, browser: Any, server: str, token: str, size: tuple[int, int, int]) -> Iterator[Result]:
    of = f"{size[0]:,} nodes, {size[1]:,} edges"
    rounds = options.count_rounds(ROUNDS if size is SMALL else LARGE_ROUNDS)
    opened = [load_page(browser, f"{server}{PATH}", token) for _ in range(rounds + 1)][1:]  # the first one warms up
    yield Result("canvas", f"{of}: open", median(opened), "ms", bar=OPEN_MS_MAX if size is SMALL else None)
    # The content policy forbids the functions that look into the page.
    context = browser.new_context(
        extra_http_headers={"authorization": f"Bearer {token}"},
        viewport={"width": 1440, "height": 900},
        bypass_csp=True,
    )
    page = context.new_page()
    page.goto(f"{server}{PATH}?key=OP1")
    page.wait_for_timeout(500)
    edits = [page.evaluate(_EDIT_MS, f"Title {number}") for number in range(rounds)]
    yield Result("canvas", f"{of}: edit", median(edits), "ms", bar=EDIT_MS_MAX if size is SMALL else None)
    page.wait_for_timeout(1000)
    for scale, presses in (("as it opens", 0), ("all in sight", 1)):
        if presses:
            page.click("[data-zoom=fit]")
            page.wait_for_timeout(500)
        frames = page.evaluate(_FRAMES_MS, FRAMES)
        yield Result("canvas", f"{of}: frame p95, {scale}", quantiles(frames, n=20)[-1], "ms", bar=FRAME_MS_MAX)
    context.close()
