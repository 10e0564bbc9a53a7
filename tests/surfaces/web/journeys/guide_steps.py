"""The steps of the guide for practitioners: read from its text, and followed in a browser.

A step is bold text in one of the forms of `ACTIONS`. "You see …" says what the page shows after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the list of pictures is read without a browser
    from playwright.sync_api import ElementHandle, Page

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "theory-of-change.md"
KEYS = {"→": "ArrowRight", "←": "ArrowLeft"}

_QUOTED = r"“([^”]+)”"
_LABEL = r"\*([^*]+)\*"
ACTIONS = {
    "choose": rf"Choose {_LABEL}(?: at {_QUOTED})?\.",
    "choose_card": rf"Choose the card {_QUOTED}\.",
    "choose_line": rf"Choose the line from {_QUOTED} to {_QUOTED}\.",
    "drag": rf"Drag the circle of {_QUOTED} onto {_QUOTED}\.",
    "type_text": rf"Type {_QUOTED} into {_LABEL}\.",
    "type_lines": rf"Type these lines into {_LABEL}:",
    "select": rf"Select {_QUOTED} in {_LABEL}\.",
    "pick_day": rf"Pick the day (\d{{4}}-\d\d-\d\d) in {_LABEL}\.",
    "press": r"Press `([^`]+)`\.",
    "open_file": r"Open the file\.",
}
SIGHTS = {
    "see_line": rf"You see the line from {_QUOTED} to {_QUOTED}",
    "see_card": rf"You see the card {_QUOTED}",
    "see": rf"You see {_QUOTED}",
    "keep_picture": r"!\[[^\]]+\]\(\.\./pictures/web/([a-z-]+)\.png\)",
}
_FENCE = re.compile(r"^ *```\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_PART = re.compile(
    rf"\*\*(?P<action>(?:[^*]|\*[^*]+\*)+)\*\*|{'|'.join(f'(?P<{name}>{one})' for name, one in SIGHTS.items())}"
)

# Returns the one element with a name that is nearest to the focus, as a person reads a form.
# What only screen readers read, keys and signs are no part of a name.
SETTLED_MS = 1_000  # after which the page has shown the changes of the steps before
_FIND = """([kind, name, place]) => {
  const isField = kind === "field";
  const squeeze = (text) => text.replace(/\\s+/g, " ").trim();
  const say = (one) => {
    const copy = one.cloneNode(true);
    for (const part of copy.querySelectorAll(".hidden, kbd, .count, [aria-hidden]")) part.remove();
    return squeeze(copy.textContent);
  };
  const fits = (one) => {
    if (!one.checkVisibility() || one.disabled) return false;
    const row = one.closest("li, tr")?.textContent ?? "";
    return say(isField ? one.querySelector("span") : one) === name && (!place || squeeze(row).includes(place));
  };
  const all = [...document.querySelectorAll(isField ? "label.field" : "a[href], button, summary")].filter(fits);
  for (let box = document.activeElement ?? document.body; box; box = box.parentElement) {
    const inside = all.filter((one) => one !== document.activeElement && box.contains(one));
    if (inside.length > 1) return null;
    if (inside.length) return isField ? inside[0].control : inside[0];
  }
  return null;
}"""
_SHOWS = """text => document.body.innerText.replace(/\\s+/g, " ").includes(text)"""
_IS_UNCOVERED = """card => {
  const box = card.querySelector(".body").getBoundingClientRect();
  return card.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
}"""
_MIDDLE = """line => {
  const middle = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
  return [middle.x, middle.y];
}"""


class Step(NamedTuple):
    """What a reader does or sees: the method of `Reader`, and its words."""

    name: str
    words: tuple[str, ...]


def read_steps(guide: str) -> list[Step]:
    """Return the steps of a guide in order. Bold text that is no action is refused."""
    lines = [one[1] for one in _FENCE.finditer(guide)]
    text = " ".join(_FENCE.sub("", guide).split())
    steps = list(_list_steps(text, lines))
    assert not lines, f"no step types these lines: {lines}"
    return steps


def _list_steps(text: str, lines: list[str]) -> Iterator[Step]:
    for part in _PART.finditer(text):
        forms, written = (ACTIONS, part["action"]) if part["action"] else (SIGHTS, part[0])
        found = [(name, one) for name, form in forms.items() if (one := re.fullmatch(form, written))]
        assert len(found) == 1, f"no action of a guide: {written}"
        name, match = found[0]
        given = tuple(word or "" for word in match.groups())
        yield Step(name, (*given, lines.pop(0)) if name == "type_lines" else given)


class Reader:
    """A person who follows the guide with a mouse and a keyboard."""

    def __init__(self, page: Page, folder: Path, keep_picture: Callable[[str], object]) -> None:
        self.page = page
        self.keep_picture = keep_picture
        self._folder = folder
        self._file: Path | None = None

    def follow(self, steps: list[Step]) -> None:
        """Do every step, and say which one failed."""
        for step in steps:
            try:
                getattr(self, step.name)(*step.words)
            except Exception as error:
                error.add_note(f"{GUIDE.name}: {step.name} {' | '.join(step.words)}")
                raise

    def choose(self, name: str, place: str = "") -> None:
        element = self._find("button", name, place)
        if element.get_attribute("download") is None:
            element.click()
            return
        with self.page.expect_download() as download:
            element.click()
        self._file = self._folder / download.value.suggested_filename
        download.value.save_as(self._file)

    def choose_card(self, title: str) -> None:
        self._find_card(title).click()

    def choose_line(self, source: str, target: str) -> None:
        line = self._find_line(source, target)
        self.page.mouse.click(*line.evaluate(_MIDDLE))

    def drag(self, source: str, target: str) -> None:
        card = self._find_card(source)
        card.hover()
        self.page.wait_for_timeout(SETTLED_MS)
        start, end = card.query_selector(".handle"), self._find_card(target).query_selector(".body")
        assert start is not None
        assert end is not None
        for element, press in ((start, self.page.mouse.down), (end, self.page.mouse.up)):
            box = element.bounding_box()
            assert box is not None
            self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
            press()

    def type_text(self, text: str, label: str) -> None:
        self._find("field", label).fill(text)

    def type_lines(self, label: str, lines: str) -> None:
        self.type_text(lines, label)

    def pick_day(self, day: str, label: str) -> None:
        self.type_text(day, label)

    def select(self, choice: str, label: str) -> None:
        field = self._find("field", label)
        field.focus()
        field.select_option(label=choice)

    def press(self, key: str) -> None:
        self.page.keyboard.press(KEYS.get(key, key))

    def open_file(self) -> None:
        assert self._file is not None, "no file was saved"
        self.page.goto(self._file.as_uri())

    def see(self, text: str) -> None:
        self.page.wait_for_function(_SHOWS, arg=text)

    def see_card(self, title: str) -> None:
        card = self._find_card(title)
        self.page.wait_for_function(_IS_UNCOVERED, arg=card)

    def see_line(self, source: str, target: str) -> None:
        self._find_line(source, target)

    def _find(self, kind: str, name: str, place: str = "") -> ElementHandle:
        element = self.page.wait_for_function(_FIND, arg=[kind, name, place]).as_element()
        assert element is not None
        return element

    def _find_card(self, title: str) -> ElementHandle:
        card = self.page.wait_for_selector(f'#canvas .node[aria-label*=", {title}"]')
        assert card is not None
        return card

    def _find_line(self, source: str, target: str) -> ElementHandle:
        ends = [self._find_card(title).get_attribute("data-id") for title in (source, target)]
        line = self.page.wait_for_selector(f"[data-id='link-{ends[0]}-{ends[1]}'] .hit", state="attached")
        assert line is not None
        return line
