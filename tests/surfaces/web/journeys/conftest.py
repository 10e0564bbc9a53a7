"""A real browser on a real server: a server for each module, and one browser for all modules that follow each other."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

import groundplan
from tests.browser_program import FLAGS, find_browser
from tests.standby import Forked, Standby

TIMEOUT_MS = 20_000  # for a loaded machine; what is awaited comes in milliseconds
_NUMBERS = count()
_LOGIN = re.compile(r"(http://127\.0\.0\.1:\d+)(/login\?code=\S+)")


class Site:
    """A server on a file of its own, and the file as another writer sees it."""

    def __init__(self, db: Path, program: Standby) -> None:
        self.db = db
        self._program = program
        self.port = 0
        self.project = ""  # of the test that runs
        self.cookies: list[Any] = []
        self._process: Forked | None = None

    def start(self) -> None:
        """Start the server, on the same port as before if there was one."""
        arguments = ["serve", "--db", str(self.db), "--port", str(self.port), "--person", "ada", "--design"]
        read_end, write_end = os.pipe()
        nothing = os.open(os.devnull, os.O_RDWR)
        self._process = self._program.start(*arguments, files=(nothing, nothing, write_end))
        os.close(nothing)
        os.close(write_end)
        output = os.fdopen(read_end)
        printed = ""
        while (found := _LOGIN.search(printed)) is None:
            line = output.readline()
            assert line, printed
            printed += line
        # The server logs each request; a full pipe would stop it.
        threading.Thread(target=output.read, daemon=True).start()
        self.address, self.login = found.groups()
        self.port = int(self.address.rpartition(":")[2])

    def stop(self) -> None:
        """Stop the server."""
        assert self._process is not None
        self._process.end(signal.SIGTERM)

    def open_as(self, name: str, kind: str = "person") -> groundplan.Session:
        """Return a session of another writer on the same file."""
        return groundplan.open(str(self.db), actor=name, kind=kind)

    def create_project(self) -> None:
        """Create an empty project for a test."""
        self.project = f"atlas-{next(_NUMBERS)}"
        with self.open_as("ada") as ada:
            ada.call("project.create", name=self.project, goal="A map of everything")

    @property
    def work(self) -> str:
        """The path of the work of the project."""
        return f"/p/{self.project}/work"

    def plan(self, *summaries: str, **fields: Any) -> list[str]:
        """Plan tasks as Ada, and return their ids."""
        with self.open_as("ada") as ada:
            nodes = [{"ref": f"n{n}", "summary": summary, **fields} for n, summary in enumerate(summaries)]
            return [one.id for one in ada.call("work.plan", project=self.project, nodes=nodes).created]


class OpenBrowser:
    """The browser, from the first test that asks for it until a test of another folder follows."""

    def __init__(self) -> None:
        self._used = contextlib.ExitStack()
        self._browser: Browser | None = None

    def launch(self) -> Browser:
        """Return the browser, started if it is not open: a start takes longer than most journeys."""
        if self._browser is None:
            expect.set_options(timeout=TIMEOUT_MS)
            playwright = self._used.enter_context(sync_playwright())
            self._browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
            self._used.callback(self._browser.close)
        return self._browser

    def close(self) -> None:
        """Close the browser if it is open, and its event loop, which would stop other tests from running theirs."""
        self._browser = None
        self._used.close()


_BROWSER = OpenBrowser()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Close the browser after the last of the tests of this folder that follow each other."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path.parent != item.path.parent:
            _BROWSER.close()


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """The browser."""
    return _BROWSER.launch()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, chromium: Browser, program: Standby) -> Iterator[Site]:
    """A server, and the cookies of Ada's login."""
    one = Site(tmp_path_factory.mktemp("site") / "plan.db", program)
    one.start()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(one.address + one.login)
    one.cookies = context.cookies()
    context.close()
    yield one
    one.stop()


@pytest.fixture
def context(site: Site, chromium: Browser) -> Iterator[BrowserContext]:
    """A window of Ada's, who is logged in, with an empty project."""
    site.create_project()
    one = chromium.new_context(base_url=site.address, viewport={"width": 1280, "height": 800})
    one.set_default_timeout(TIMEOUT_MS)
    one.add_cookies(site.cookies)
    yield one
    one.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab. Errors of the script fail the test."""
    errors: list[str] = []
    one = context.new_page()
    one.on("pageerror", lambda error: errors.append(str(error)))
    yield one
    assert errors == []
