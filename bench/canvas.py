"""Measure the canvas of the plan in a headless Chromium: opening it, an edit until it is redrawn, and moving it.

A plan of 300 nodes is drawn whole, in turns with the SVG file of the same plan. A plan of 2,000 nodes opens as an
overview. Frames are measured while the wheel moves and zooms the canvas. Beside the time on the clock, which other
programs lengthen, is the processor time of the page's main thread.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import groundplan
from bench.large_purpose import fill_draft, generate_theory
from bench.options import Options
from bench.page import LOADED_MS, NO_LIMIT, make_token, open_browser
from bench.purpose import SEED
from bench.report import Result
from bench.rest import run_program

PROJECT = "atlas"
SMALL, LARGE = (300, 450, 180), (2_000, 3_000, 1_000)
OPEN_MS_MAX, OVERVIEW_MS_MAX, EDIT_MS_MAX, FRAME_MS_MAX = 400.0, 500.0, 150.0, 34.0
ROUNDS = 20
ALL = "detail=all"
PLAIN = "the plain SVG file"
PATH = f"/p/{PROJECT}/plan"
FRAMES = 90
# From the press of the button to the second frame after the answer is in the page.
_EDIT_MS = """async (title) => {
  const field = document.querySelector("#edit textarea");
  field.value = title;
  const begin = performance.now();
  field.form.requestSubmit();
  const shown = () => document.querySelector("#inspector h2").textContent;
  // The event of the edit before may show the page once more.
  while (shown() !== title) await new Promise((done) => document.addEventListener("shown", done, { once: true }));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
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


class Opened(NamedTuple):
    """How long a page took to open, and how long its main thread used a processor."""

    ms: float
    cpu_ms: float


def run(options: Options) -> list[Result]:
    """Measure plans of two sizes."""
    results: list[Result] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder, open_browser() as browser:
        for size in (SMALL, LARGE):
            db = str(Path(folder) / f"{size[0]}.db")
            with groundplan.open(db, actor="ada") as ada:
                ada.call("project.create", name=PROJECT)
                fill_draft(ada, PROJECT, generate_theory(*size, SEED))
                detail = "all" if size is SMALL else "overview"
                svg = Path(folder) / f"{size[0]}.svg"
                svg.write_text(ada.call("purpose.render", project=PROJECT, detail=detail).svg, encoding="utf-8")
            token = make_token(db)
            with run_program("-m", "groundplan", "serve", "--port", "0", "--db", db, *NO_LIMIT) as port:
                address = f"http://127.0.0.1:{port}{PATH}"
                of = f"{size[0]:,} nodes, {size[1]:,} edges"
                results += _measure_opening(options, browser, address, token, of, svg, is_small=size is SMALL)
                if size is SMALL:
                    results += _measure_edits(options, browser, f"{address}?{ALL}&key=OP1", token, of)
                results += _measure_frames(browser, address, token, of)
    return results


def _measure_opening(
    options: Options, browser: Any, address: str, token: str, of: str, svg: Path, *, is_small: bool
) -> Iterator[Result]:
    what, bar = ("all", OPEN_MS_MAX) if is_small else ("overview", OVERVIEW_MS_MAX)
    target = f"{address}?{ALL}" if is_small else address
    ours: list[Opened] = []
    plain: list[Opened] = []
    for number in range(options.count_rounds(ROUNDS) + 1):
        opened = _open(browser, target, token), _open(browser, svg.as_uri(), token)
        if number:  # the first round warms up
            ours.append(opened[0])
            plain.append(opened[1])
    took, cpu = (median(times) for times in zip(*ours, strict=True))
    plain_took, plain_cpu = (median(times) for times in zip(*plain, strict=True))
    yield Result("canvas", f"{of}: open {what}", took, "ms", bar=bar)
    yield Result("canvas", f"{of}: open {what}", took, "ms", plain_took, PLAIN)
    yield Result("canvas", f"{of}: open {what}, main thread", cpu, "ms", plain_cpu, PLAIN)


def _open(browser: Any, address: str, token: str) -> Opened:
    context = _open_context(browser, token)
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address)
    took = float(page.evaluate(LOADED_MS))
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    figures = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    context.close()
    return Opened(took, 1000 * figures["TaskDuration"])


def _open_context(browser: Any, token: str) -> Any:
    # The content policy forbids the functions that look into the page.
    return browser.new_context(
        extra_http_headers={"authorization": f"Bearer {token}"},
        viewport={"width": 1440, "height": 900},
        bypass_csp=True,
    )


def _measure_edits(options: Options, browser: Any, address: str, token: str, of: str) -> Iterator[Result]:
    context = _open_context(browser, token)
    page = context.new_page()
    page.goto(address)
    page.wait_for_timeout(500)
    rounds = options.count_rounds(ROUNDS)
    edits = [page.evaluate(_EDIT_MS, f"Title {number}") for number in range(rounds)]
    yield Result("canvas", f"{of}: edit", median(edits), "ms", bar=EDIT_MS_MAX)
    context.close()


def _measure_frames(browser: Any, address: str, token: str, of: str) -> Iterator[Result]:
    context = _open_context(browser, token)
    page = context.new_page()
    for what, query in (("overview", ""), ("all", f"?{ALL}")):
        page.goto(f"{address}{query}")
        page.wait_for_timeout(500)
        for scale, is_fitted in (("as it opens", False), ("all in sight", True)):
            if is_fitted:
                page.click("[data-zoom=fit]")
                page.wait_for_timeout(500)
            frames = page.evaluate(_FRAMES_MS, FRAMES)
            slow = quantiles(frames, n=20)[-1]
            yield Result("canvas", f"{of}: frame p95, {what} {scale}", slow, "ms", bar=FRAME_MS_MAX)
    context.close()
