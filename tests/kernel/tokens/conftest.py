"""A project of Ada's with members."""

from __future__ import annotations

import pytest

from groundplan.session import Session
from tests.engines import Engine, fill_once


def populate(engine: Engine) -> None:
    ada = engine.session("ada")
    for project in ("atlas", "borealis"):
        ada.call("project.create", name=project)
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("member.add", scopeId="atlas", userId="scout", role="editor", kind="agent")
    ada.call("member.add", scopeId="borealis", userId="scout", role="editor", kind="agent")


@pytest.fixture
def ada(engine: Engine) -> Session:
    """Ada in local mode: she owns the organization."""
    fill_once(engine, populate)
    return engine.session("ada")
