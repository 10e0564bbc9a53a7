"""The skills as prompts: the same texts that `groundplan init --skills` writes, in every revision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groundplan.repository.rules import front_matter
from groundplan.skills import SKILL_NAMES
from groundplan.skills.install import install
from tests.surfaces.mcp.connection import SERVER_KEY, GateTools, ThreadConnection, envelope
from tests.surfaces.mcp.test_handshake import REVISIONS


@pytest.mark.parametrize("revision", REVISIONS)
def test_prompts_are_declared_listed_and_served_in_every_handshake_revision(
    connection: ThreadConnection, revision: str
) -> None:
    assert connection.initialize(revision)["capabilities"]["prompts"] == {}

    listed = connection.result("prompts/list")
    served = [connection.result("prompts/get", {"name": name}) for name in SKILL_NAMES]

    assert listed.keys() == {"prompts"}
    assert [one["name"] for one in listed["prompts"]] == list(SKILL_NAMES)
    assert {key for one in listed["prompts"] for key in one} == {"name", "description"}  # no title: too new for some
    for one, prompt in zip(listed["prompts"], served, strict=True):
        assert prompt.keys() == {"description", "messages"}
        assert prompt["description"] == one["description"]


def test_a_prompt_is_the_text_that_init_writes(connection: ThreadConnection, tmp_path: Path) -> None:
    connection.initialize()
    install(tmp_path)

    for name in SKILL_NAMES:
        _, body = front_matter.split((tmp_path / name / "SKILL.md").read_text(encoding="utf-8"))
        content = {"type": "text", "text": body.lstrip("\n")}
        assert connection.result("prompts/get", {"name": name})["messages"] == [{"role": "user", "content": content}]


def test_stateless_results_have_their_fields_and_the_list_may_be_cached(connection: ThreadConnection) -> None:
    listed = connection.result("prompts/list", envelope())
    served = connection.result("prompts/get", envelope(name=SKILL_NAMES[0]))

    meta = {SERVER_KEY: {"name": "groundplan", "version": "1.2.3"}}
    assert len(listed.pop("prompts")) == len(SKILL_NAMES)
    assert listed == {"resultType": "complete", "ttlMs": 300_000, "cacheScope": "private", "_meta": meta}
    assert served.keys() == {"resultType", "description", "messages", "_meta"}


def test_an_unknown_prompt_is_refused_with_the_nearest_one(connection: ThreadConnection) -> None:
    connection.initialize()

    error = connection.error("prompts/get", {"name": "groundplan-planing"})

    assert (error["code"], error["data"]) == (-32602, {"code": "unknown_prompt", "near": "groundplan-planning"})


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/list", {"cursor": "x"}),
        ("prompts/get", {}),
        ("prompts/get", {"name": 1}),
        ("prompts/get", {"name": SKILL_NAMES[0], "arguments": "x"}),
        ("prompts/get", {"name": SKILL_NAMES[0], "arguments": {"project": "atlas"}}),
        ("prompts/get", {"name": f"../{SKILL_NAMES[0]}"}),
    ],
)
def test_malformed_requests_for_prompts_are_refused(connection: ThreadConnection, method: str, params: Any) -> None:
    connection.initialize()

    assert connection.error(method, params)["code"] == -32602


@pytest.mark.parametrize("arguments", [None, {}])
def test_no_arguments_may_be_said_as_null_or_as_an_empty_object(connection: ThreadConnection, arguments: Any) -> None:
    connection.initialize()

    assert connection.result("prompts/get", {"name": SKILL_NAMES[0], "arguments": arguments})["messages"]


@pytest.mark.parametrize(("method", "params"), [("prompts/list", None), ("prompts/get", {"name": SKILL_NAMES[0]})])
def test_prompts_are_refused_before_the_handshake(connection: ThreadConnection, method: str, params: Any) -> None:
    assert connection.error(method, params)["data"] == {"code": "not_initialized"}


def test_prompts_need_no_tools(connection: ThreadConnection, tools: GateTools) -> None:
    connection.initialize()
    connection.result("prompts/list")

    assert (tools.listings, tools.performed) == (0, [])
