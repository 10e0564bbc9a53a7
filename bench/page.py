"""Measure the page in a headless Chromium: its first screen, a search as one types, and how soon a change is seen.

The first screen is loaded with an empty cache, in turns with the same bytes from a server that only sends them. The
browser measures it, from the start of the navigation to the end of the load event.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import groundplan
from bench.graphs import PROJECT, copy_graph
from bench.options import Options
from bench.report import Result
from bench.rest import run_program

FIRST_SCREEN_MS_MAX = {1_000: 300.0, 100_000: 500.0}  # by size
SCREENS = {"home": "home", "work": "work", "board": "work?view=board"}  # their addresses
TYPED = "step 99"
SEARCHES = 10
SEARCH_MS_MAX = 500.0
ROUNDS = 30
CHANGES = 20
RATIO_MAX = 3.0
CHANGE_MS_MAX = 1_000.0
BARE = "bare page, same bytes"
NO_LIMIT = ("--requests-per-s", "1000000")
_ASSET = re.compile(r'(?:href|src)="(/static/[^"]+)"')
_IMPORT = re.compile(r'from "\./([a-z_]+\.js)"')
_FONT = re.compile(r'url\("([^"#]+)"\)')  # what begins with "#" is a part of the page itself
# The time is there only after the event has ended.
LOADED_MS = """async () => {
  const entry = performance.getEntriesByType("navigation")[0];
  while (!entry.loadEventEnd) await new Promise((done) => setTimeout(done, 1));
  return entry.loadEventEnd;
}"""


def run(options: Options) -> list[Result]:
    """Measure the first screen on each graph, and changes on the smallest."""
    results: list[Result] = []
    sizes = [size for size in FIRST_SCREEN_MS_MAX if size in options.sizes]
    for size in sizes:
        with copy_graph(options, size) as copy, open_browser() as browser:
            token = make_token(str(copy.graph))
            with run_program("-m", "groundplan", "serve", "--port", "0", "--db", str(copy.graph), *NO_LIMIT) as port:
                results += _measure_first_screens(options, browser, port, token, size)
                results.append(_measure_search(options, browser, port, token, size))
                if size == sizes[0]:
                    results += _measure_changes(options, browser, port, token, str(copy.graph))
    return results


def make_token(db: str) -> str:
    """Return a token of a person who sees everything."""
    with groundplan.open(db, actor="ada") as plan:
        return str(plan.token.create(kind="person", name="ada", trusted=True).secret)


@contextmanager
def open_browser() -> Iterator[Any]:
    """Open a headless Chromium."""
    from playwright.sync_api import sync_playwright

    from tests.browser_program import FLAGS, find_browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        yield browser
        browser.close()


def _measure_first_screens(options: Options, browser: Any, port: int, token: str, size: int) -> Iterator[Result]:
    for screen, address in SCREENS.items():
        path = f"/p/{PROJECT}/{address}"
        with ExitStack() as stack:
            folder = options.scratch / f"page-{size}-{screen}"
            _save(port, path, token, folder)
            bare_port = stack.enter_context(run_program("-m", "bench.page", str(folder)))
            ours: list[float] = []
            bare: list[float] = []
            for number in range(options.count_rounds(ROUNDS) + 1):
                taken = (load_page(browser, f"http://127.0.0.1:{at}{path}", token) for at in (port, bare_port))
                for times, took in zip((ours, bare), taken, strict=True):
                    if number:  # the first round warms up
                        times.append(took)
        bar = FIRST_SCREEN_MS_MAX[size]
        yield Result("page", f"{screen}, {size:,} nodes", median(ours), "ms", bar=bar)
        yield Result("page", f"{screen}, {size:,} nodes", median(ours), "ms", median(bare), BARE, RATIO_MAX)


def load_page(browser: Any, address: str, token: str) -> float:
    """Return in how many ms a page is loaded with an empty cache."""
    context = browser.new_context(extra_http_headers={"authorization": f"Bearer {token}"})
    page = context.new_page()
    answer = page.goto(address)
    assert answer.status == 200, address
    took = float(page.evaluate(LOADED_MS))
    context.close()
    return took


def _measure_search(options: Options, browser: Any, port: int, token: str, size: int) -> Result:
    """Measure from the last key to the frame in which the choices for the whole text are shown."""
    context = browser.new_context(extra_http_headers={"authorization": f"Bearer {token}"}, bypass_csp=True)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/p/{PROJECT}/home")
    took = []
    for _ in range(options.count_rounds(SEARCHES) + 1):
        page.fill("#find", "")
        page.wait_for_selector("#find-picks", state="hidden")
        page.type("#find", TYPED)
        begin = time.perf_counter()
        page.wait_for_selector("#find-picks li")
        took.append(1000 * (time.perf_counter() - begin))
    context.close()
    return Result("page", f"search as one types, {size:,} nodes, slowest", max(took[1:]), "ms", bar=SEARCH_MS_MAX)


def _measure_changes(options: Options, browser: Any, port: int, token: str, db: str) -> Iterator[Result]:
    """Measure from the commit of a change to the frame in which the page shows it."""
    # The content policy forbids the function that looks at each frame.
    context = browser.new_context(extra_http_headers={"authorization": f"Bearer {token}"}, bypass_csp=True)
    page = context.new_page()
    took = []
    with groundplan.open(db, actor="builder", kind="agent") as agent:
        (task,) = agent.work.plan(project=PROJECT, nodes=[{"ref": "a", "summary": "Change 0"}]).created
        page.goto(f"http://127.0.0.1:{port}/p/{PROJECT}/work?node={task.id}")
        page.wait_for_timeout(500)  # until it follows the events
        for number in range(1, options.count_rounds(CHANGES) + 1):
            agent.work.update(updates=[{"node_id": task.id, "summary": f"Change {number}"}])
            begin = time.perf_counter()
            page.wait_for_function(f"document.querySelector('.inspector h2').textContent === 'Change {number}'")
            took.append(1000 * (time.perf_counter() - begin))
            page.wait_for_timeout(300)
    context.close()
    yield Result("page", "an agent's change is seen, usually", median(took), "ms")
    yield Result("page", "an agent's change is seen, slowest", max(took), "ms", bar=CHANGE_MS_MAX)


# --- The bare server ---


def _save(port: int, path: str, token: str, folder: Path) -> None:
    """Save a page with everything that it loads, each by its path."""

    def save(target: str) -> str:
        wanted = Request(f"http://127.0.0.1:{port}{target}", headers={"authorization": f"Bearer {token}"})
        with urlopen(wanted) as answer:  # noqa: S310 - as above
            body: bytes = answer.read()
            kind = answer.headers["content-type"]
        file = folder / urlsplit(target).path.strip("/").replace("/", "__")
        folder.mkdir(exist_ok=True)
        file.write_bytes(kind.encode() + b"\n" + body)
        return body.decode("utf-8", "replace")

    waiting = _ASSET.findall(save(path))
    seen = set(waiting)
    while waiting:
        target = waiting.pop()
        below = target.rpartition("/")[0]
        body = save(target)
        found = _IMPORT.findall(body) if target.endswith(".js") else _FONT.findall(body)
        fresh = {f"{below}/{name}" for name in found} - seen
        seen |= fresh
        waiting += fresh


def serve_bare(folder: Path) -> None:
    """Serve saved files by the same server and framework."""
    from starlette.applications import Starlette
    from starlette.requests import Request as BareRequest
    from starlette.responses import Response
    from starlette.routing import Route

    from groundplan.surfaces.http.server import open_socket, serve

    files = {}
    for file in folder.iterdir():
        kind, _, body = file.read_bytes().partition(b"\n")
        files["/" + file.name.replace("__", "/")] = (body, kind.decode())

    async def answer(request: BareRequest) -> Response:
        found = files.get(request.url.path)
        return Response(status_code=404) if found is None else Response(found[0], headers={"content-type": found[1]})

    listening = open_socket(0)
    port = listening.getsockname()[1]
    app = Starlette(routes=[Route("/{path:path}", answer)])
    serve(app, [listening], lambda _stop: print(f"http://127.0.0.1:{port}", file=sys.stderr, flush=True))


if __name__ == "__main__":
    serve_bare(Path(sys.argv[1]))
