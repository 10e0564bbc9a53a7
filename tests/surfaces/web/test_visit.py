"""A visit knows its address and what waits, and does not make others wait."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode

from hypothesis import given
from hypothesis import strategies as st

from groundplan.surfaces.web.visit import Visit

WAIT_S = 30  # ends a test that would hang


class HeldSession:
    """A session whose answers wait until they are released."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()
        self.is_released = threading.Event()

    def call(self, operation: str, **_arguments: Any) -> str:
        self.is_asked.set()
        assert self.is_released.wait(WAIT_S)
        return operation


def make_visit(session: Any = None, query: dict[str, str] | None = None) -> Visit:
    return Visit(session, cast("Any", SimpleNamespace(name="atlas")), "/p/atlas/work", query or {})


def test_a_page_does_not_wait_for_what_another_page_reads() -> None:
    slow, quick = HeldSession(), HeldSession()
    quick.is_released.set()
    found: list[Any] = []
    first = threading.Thread(target=lambda: found.append(make_visit(slow).waiting))
    second = threading.Thread(target=lambda: found.append(make_visit(quick).waiting))
    first.start()
    assert slow.is_asked.wait(WAIT_S)
    second.start()
    second.join(WAIT_S / 3)
    is_held = second.is_alive()
    slow.is_released.set()
    first.join(WAIT_S)
    second.join(WAIT_S)

    assert not is_held
    assert len(found) == 2


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6), max_size=3))
def test_a_link_has_the_query_that_a_browser_would_write(query: dict[str, str]) -> None:
    link = make_visit(query=query).link()

    assert link == f"/p/atlas/work?{urlencode(query)}" if query else link == "/p/atlas/work"
    assert dict(parse_qsl(link.partition("?")[2])) == query
