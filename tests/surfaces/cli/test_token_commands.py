"""`groundplan token`."""

from __future__ import annotations

import sys

import pytest

from groundplan.kernel.tokens.token_text import compute_digest
from tests.surfaces.cli.conftest import Run


def test_in_a_pipe_a_new_token_is_the_only_output(run: Run) -> None:
    created = run("token", "create", "--name", "scout", "--expires", "never")

    assert compute_digest(created.out.removesuffix("\n")) is not None
    assert "never expires" in created.err


def test_on_a_terminal_a_new_token_comes_with_its_limits(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("project", "create", "atlas")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)

    created = run("token", "create", "--name", "scout", "--project", "atlas", "--label", "night run")

    assert created.out.startswith("gpt_")
    assert all(word in created.out for word in ("viewer", "night run", "groundplan token revoke"))


def test_a_list_of_tokens_shows_no_secret_and_a_revoked_token_leaves_it(run: Run) -> None:
    created = run("token", "create", "--name", "scout", "--json").answer
    listed = run("token", "list").out

    assert created["token"]["id"] in listed
    assert created["secret"] not in listed
    assert created["token"]["id"] in run("token", "revoke", created["token"]["id"]).out
    assert run("token", "list", "--json").answer == {"tokens": []}
