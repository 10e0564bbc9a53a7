"""Links in the documentation are valid."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = {"build", "dist", "node_modules"}
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(
    r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|<(?:img|a|source)\b[^>]*?(?:src|href|srcset)=\"([^\"]+)\""
)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def pages() -> list[Path]:
    found: list[Path] = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if not name.startswith(".") and name not in MADE]
        found += [Path(folder, name) for name in names if name.endswith(".md") and not name.startswith(".")]
    return sorted(found)


@cache
def anchors(page: Path) -> set[str]:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}
    return slugs | set(re.findall(r"<a id=\"([^\"]+)\"", text))


def links(page: Path) -> list[str]:
    text = INLINE_CODE.sub("", FENCED.sub("", page.read_text(encoding="utf-8")))
    return [inline or tag for inline, tag in LINK.findall(text)]


def is_broken(page: Path, link: str) -> bool:
    if OUTSIDE.match(link):
        return False
    target, _, anchor = link.partition("#")
    found = (page.parent / target).resolve() if target else page
    return not found.exists() or bool(anchor and found.suffix == ".md" and anchor not in anchors(found))


def test_every_relative_link_leads_somewhere(subtests: pytest.Subtests) -> None:
    for page in pages():
        with subtests.test(str(page.relative_to(ROOT))):
            assert not [link for link in links(page) if is_broken(page, link)]


def test_every_page_opens_with_its_title(subtests: pytest.Subtests) -> None:
    for page in pages():
        with subtests.test(str(page.relative_to(ROOT))):
            text = FRONT_MATTER.sub("", page.read_text(encoding="utf-8")).lstrip()
            assert text.startswith(("# ", "<p", "<h1", "<div", "<picture", "<img")), "a page opens with # Title"


def test_every_path_that_the_architecture_names_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    folders = re.findall(r"`([a-z_./]+/)`", text)
    named = {*folders, *re.findall(r"\b[a-z_]+/[a-z_./]+\.(?:py|toml)\b|(?<=`)[a-z_]+\.py(?=`)", text)}
    assert len(named) > 50
    roots = (ROOT / "src/groundplan", ROOT)
    assert not [path for path in sorted(named) if not any((root / path).exists() for root in roots)]
