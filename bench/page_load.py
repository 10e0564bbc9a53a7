"""Measure pages that follow a project while agents write: 2 in a browser, and 48 clients that do what a page does.

A client follows the events; after one it waits as the page does, asks for the page again and reads it to its end. A
change is seen by a client when an answer has arrived that was asked for after the change was committed.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from typing import Any

import groundplan
from bench.graphs import PROJECT, copy_graph
from bench.mixed_load import AgentConnection
from bench.options import Options
from bench.page import NO_LIMIT, make_token
from bench.report import Result
from bench.rest import run_program

CLIENTS = 48
BROWSER_PAGES = 2
AGENTS = 8
SECONDS = 60.0
QUICK_SECONDS = 5.0
AGENT_PAUSE_S = 0.5
SIZE = 1_000
PAUSE_S, PAUSE_S_MAX = 0.4, 1.0  # as in events.js
LATE_S = 5.0  # how long the last change is waited for
STALE_S_MAX = 2.0
PATH = f"/p/{PROJECT}/work"


class Follower:
    """A client: what it asked for and when the answer was there."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._head = f"host: localhost\r\nauthorization: Bearer {token}\r\n\r\n"
        self._is_due = asyncio.Event()
        self.asked: list[float] = []
        self.seen: list[float] = []
        self.errors: list[str] = []

    async def follow(self) -> None:
        """Read the events until the end."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(f"GET /v1/projects/{PROJECT}/events HTTP/1.1\r\n{self._head}".encode())
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                self.errors.append(f"events: {head[:60]!r}")
            while line := await reader.readline():
                if line.startswith(b"data:"):
                    self._is_due.set()
            self.errors.append("the events ended")
        except OSError as error:
            self.errors.append(f"events: {error}")
        finally:
            writer.close()

    async def refresh(self) -> None:
        """Ask for the page after each event, or after several that came together."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        took = 0.0
        try:
            while True:
                await self._is_due.wait()
                await asyncio.sleep(max(PAUSE_S, min(took, PAUSE_S_MAX)))
                self._is_due.clear()
                begin = time.perf_counter()
                writer.write(f"GET {PATH} HTTP/1.1\r\n{self._head}".encode())
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.partition(b":")[2])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                )
                await reader.readexactly(length)
                if not head.startswith(b"HTTP/1.1 200"):
                    self.errors.append(f"page: {head[:60]!r}")
                self.asked.append(begin)
                self.seen.append(time.perf_counter())
                took = self.seen[-1] - begin
        except (OSError, asyncio.IncompleteReadError) as error:
            self.errors.append(f"page: {error}")
        finally:
            writer.close()

    def find_delay(self, committed: float) -> float:
        """Return after how many seconds a change was seen; as long as was waited if it was not."""
        place = bisect_left(self.asked, committed)
        return self.seen[place] - committed if place < len(self.asked) else LATE_S


def run(options: Options) -> list[Result]:
    """Measure on a copy of one SQLite file."""
    seconds = QUICK_SECONDS if options.quick else SECONDS
    with copy_graph(options, SIZE) as copy:
        db = str(copy.graph)
        token = make_token(db)
        with groundplan.open(db, actor="ada") as plan:
            made = [
                str(plan.token.create(kind="agent", name=f"agent-{number}", role="editor", trusted=True).secret)
                for number in range(CLIENTS + AGENTS)
            ]
        with run_program("-m", "groundplan", "serve", "--port", "0", "--db", db, *NO_LIMIT) as port:
            return asyncio.run(_measure(port, token, made, seconds))


async def _measure(port: int, token: str, tokens: list[str], seconds: float) -> list[Result]:
    from playwright.async_api import async_playwright

    from tests.browser_program import FLAGS, find_browser

    followers = [Follower(port, one) for one in tokens[:CLIENTS]]
    errors: list[str] = []
    commits: list[float] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        # The content policy forbids the function that looks at each frame.
        context = await browser.new_context(extra_http_headers={"authorization": f"Bearer {token}"}, bypass_csp=True)
        owner = AgentConnection(port, token, PROJECT)
        shown = (await owner.send("POST", "nodes", {"nodes": [{"ref": "a", "summary": "Mark 0"}]}))["created"][0]["id"]
        pages = [await context.new_page() for _ in range(BROWSER_PAGES)]
        for page in pages:
            page.on("pageerror", lambda error: errors.append(f"script: {error}"))
            await page.goto(f"http://127.0.0.1:{port}{PATH}?node={shown}")
        tasks = [asyncio.create_task(one.follow()) for one in followers]
        tasks += [asyncio.create_task(one.refresh()) for one in followers]
        await asyncio.sleep(1)
        end = time.perf_counter() + seconds
        agents = [AgentConnection(port, one, PROJECT) for one in tokens[CLIENTS:]]
        watching = asyncio.create_task(_watch(owner, shown, pages, end))
        await asyncio.gather(*(_write(agent, commits, errors, end) for agent in agents))
        in_browser = await watching
        await asyncio.sleep(min(LATE_S, 2 * STALE_S_MAX))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await browser.close()
    errors += [error for one in followers for error in one.errors]
    delays = sorted(one.find_delay(commit) for one in followers for commit in commits)
    of = f"{BROWSER_PAGES} pages, {CLIENTS} clients, {AGENTS} agents"
    for error in sorted(set(errors))[:3]:
        print(f"  {error}", flush=True)
    return [
        Result("page-load", f"{of}: changes", len(commits) / seconds, "writes/s"),
        Result("page-load", f"{of}: pages read", sum(len(one.seen) for one in followers) / seconds, "pages/s"),
        Result("page-load", f"{of}: errors", len(errors), "", bar=0),
        Result("page-load", f"{of}: a client sees a change, median", delays[len(delays) // 2], "s"),
        Result("page-load", f"{of}: a client sees a change, slowest", delays[-1], "s", bar=STALE_S_MAX),
        Result("page-load", f"{of}: a browser shows a change, slowest", max(in_browser), "s", bar=STALE_S_MAX),
    ]


async def _write(agent: AgentConnection, commits: list[float], errors: list[str], end: float) -> None:
    number = 0
    while time.perf_counter() < end:
        number += 1
        try:
            await agent.send("POST", "nodes", {"nodes": [{"ref": "a", "summary": f"Walk mile {number}"}]})
            commits.append(time.perf_counter())
        except (RuntimeError, OSError, asyncio.IncompleteReadError) as error:
            errors.append(f"{type(error).__name__}: {error}")
        await asyncio.sleep(AGENT_PAUSE_S)


async def _watch(owner: AgentConnection, shown: str, pages: list[Any], end: float) -> list[float]:
    """Return after how many seconds each of some changes was shown by each page."""
    delays: list[float] = []

    async def wait(page: Any, text: str, committed: float) -> None:
        try:
            await page.wait_for_function(
                f"document.querySelector('.inspector h2').textContent === {text!r}", timeout=1000 * LATE_S
            )
            delays.append(time.perf_counter() - committed)
        except Exception:  # it was not shown at all
            delays.append(LATE_S)

    number = 0
    while time.perf_counter() < end:
        number += 1
        await owner.send("PATCH", f"nodes/{shown}", {"summary": f"Mark {number}"})
        committed = time.perf_counter()
        await asyncio.gather(*(wait(page, f"Mark {number}", committed) for page in pages))
        await asyncio.sleep(0.5)
    return delays
