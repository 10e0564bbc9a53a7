"""Pictures of every screen of the page, taken in a browser on the example, and those of the guide for practitioners."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import groundplan
from groundplan.demo import OWNER, PROJECT, SOFTWARE_PROJECT
from groundplan.surfaces.web.pages import AREAS
from tests.pictures.documentation_pictures import FOLDER
from tests.surfaces.web.journeys.guide_steps import GUIDE, Reader, read_steps

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGE_FOLDER = FOLDER / "web"
GUIDE_PROJECT = "village-wells"
WIDTH, HEIGHT = 1280, 800
WHOLE_PLAN = (1600, 900)  # a window in which the whole plan of the example is in sight
GUIDE_HEIGHT = 660  # pictures between steps are flatter
LOADED_MS = 400  # for fonts, and for times that the script writes
_LOGIN = re.compile(r"(http://127\.0\.0\.1:\d+)(/login\?code=\S+)")


class Screen(NamedTuple):
    """A screen to take: its address below the project, whether it is dark, and the window."""

    path: str
    is_dark: bool = False
    project: str = PROJECT
    size: tuple[int, int] = (WIDTH, HEIGHT)


SCREENS = {
    **{area: Screen(area) for area in AREAS},
    "plan": Screen("plan", size=WHOLE_PLAN),
    "search": Screen("search?text=water"),
    "throughline": Screen("throughline?ref=OC3"),
    "item": Screen("plan?key=OC1"),
    "plan-list": Screen("plan?view=list"),
    "gates": Screen("plan?view=gates"),
    "publish": Screen("plan?view=publish"),
    "measures": Screen("plan?view=measures"),
    "health": Screen("plan?view=health"),
    "compare": Screen("plan?view=compare"),
    "present": Screen("plan?view=present"),
    "board": Screen("work?view=board"),
    "graph": Screen("work?view=graph"),
    "knowledge": Screen("knowledge", project=SOFTWARE_PROJECT),
    "coverage": Screen("knowledge?view=coverage", project=SOFTWARE_PROJECT),
    "task": Screen("work?node={task}"),
    "fact": Screen("facts?run=draft&fact=/wells/cost"),
    "changed-facts": Screen("facts?run=draft&compare={run}"),
    "policies": Screen("members?view=policies"),
    "tokens": Screen("members?view=tokens"),
    "home-dark": Screen("home", is_dark=True),
    "plan-dark": Screen("plan", is_dark=True, size=WHOLE_PLAN),
    "fact-dark": Screen("facts?run=draft&fact=/wells/cost", is_dark=True),
}


def list_files() -> list[Path]:
    """Return the file of every screen."""
    return [PAGE_FOLDER / f"{name}.png" for name in SCREENS]


def list_guide_files() -> list[Path]:
    """Return the file of every picture of the guide for practitioners."""
    shown = [step.words[0] for step in read_steps(GUIDE.read_text(encoding="utf-8")) if step.name == "keep_picture"]
    return [PAGE_FOLDER / f"{name}.png" for name in shown]


def take_pictures() -> Iterator[Path]:
    """Write every picture, and yield its file. They are not the same bytes each time: the example is new."""
    from playwright.sync_api import sync_playwright  # here, because the list of screens needs no browser

    from tests.browser_program import FLAGS, find_browser

    PAGE_FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="groundplan-pictures-") as folder, sync_playwright() as playwright:
        db = Path(folder) / "plan.db"
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        with _serve_example(db) as (address, login):
            context = browser.new_context(base_url=address, viewport={"width": WIDTH, "height": HEIGHT})
            page = context.new_page()
            page.goto(login)
            names = _find_names(db)
            for name, screen in SCREENS.items():
                page.emulate_media(color_scheme="dark" if screen.is_dark else "light")
                page.set_viewport_size({"width": screen.size[0], "height": screen.size[1]})
                page.goto(f"/p/{screen.project}/{screen.path.format_map(names)}")
                page.wait_for_timeout(LOADED_MS)
                path = PAGE_FOLDER / f"{name}.png"
                page.screenshot(path=path)
                yield path
            page.emulate_media(color_scheme="light")
            yield from _follow_guide(page, db, Path(folder))
        browser.close()


def _follow_guide(page: Page, db: Path, folder: Path) -> Iterator[Path]:
    """Follow the guide for practitioners in a new project, and write its pictures."""
    taken: list[Path] = []

    def take(name: str) -> None:
        page.evaluate("document.getElementById('toasts')?.replaceChildren(); scrollTo(0, 0)")  # as a few seconds later
        page.wait_for_timeout(LOADED_MS)
        taken.append(PAGE_FOLDER / f"{name}.png")
        page.screenshot(path=taken[-1])

    with groundplan.open(str(db), actor=OWNER) as session:
        session.call("project.create", name=GUIDE_PROJECT, goal="Fewer children fall ill")
    page.set_viewport_size({"width": WIDTH, "height": GUIDE_HEIGHT})
    page.goto(f"/p/{GUIDE_PROJECT}/home")
    Reader(page, folder, take).follow(read_steps(GUIDE.read_text(encoding="utf-8")))
    yield from taken


def _find_names(db: Path) -> dict[str, str]:
    """Return what the addresses name: a task, and the run in force."""
    with groundplan.open(str(db), actor=OWNER) as session:
        task = session.call("work.query", project=PROJECT, filter={"is_actionable": True}, limit=1).nodes[0].id
        run = session.call("context.view", scopeId=PROJECT).run.id
    return {"task": task, "run": run}


@contextmanager
def _serve_example(db: Path) -> Iterator[tuple[str, str]]:
    """Serve the example, and yield the address and the path of the login."""
    command = [sys.executable, "-m", "groundplan", "serve", "--demo", "--db", str(db), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            printed = ""
            while (found := _LOGIN.search(printed)) is None:
                line = process.stderr.readline()
                assert line, printed
                printed += line
            threading.Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would stop it
            yield found[1], found[2]
        finally:
            process.terminate()
