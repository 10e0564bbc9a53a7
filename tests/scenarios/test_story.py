"""The story in `examples/` works as it stands: its commands, and its calls to a real server for each agent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.engines import Engine
from tests.scenarios.agents import Agent, Serve
from tests.standby import Standby
from tests.surfaces.cli.test_guides import run_script, without_times

pytestmark = pytest.mark.slow  # every test starts servers

STORY = Path(__file__).parents[2] / "examples" / "two-agents-and-a-plan.md"
BLOCK = re.compile(r"^```(sh|text|js|json)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"(\w+)\.(\w+)\((.*)\)", re.DOTALL)
ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-z]*\d)[0-9a-z]{6}\b")
AND_MORE = "…"  # as the last entry of a list: there are more

ANSWER_OF = {"sh": "text", "js": "json"}


class Player:
    """Plays the story, with the ids that the servers give instead of those in the text."""

    def __init__(self, serve: Serve, engine: Engine, program: Standby, folder: Path) -> None:
        self._serve, self._engine, self._program, self._folder = serve, engine, program, folder
        self._agents: dict[str, Agent] = {}
        self._real: dict[str, str] = {}  # by the id in the story

    def play(self, language: str, text: str, shown: str | None) -> None:
        """Run one block, and compare its answer with what the story shows of it."""
        text = self._with_real_ids(text)
        if language == "sh":
            printed = run_script(f'export GROUNDPLAN_DB="{self._engine.db}"\n{text}', self._folder, self._program)
            if shown is not None:
                assert without_times(printed) == without_times(self._with_real_ids(shown)), printed
        else:
            told = {} if shown is None else json.loads(shown)
            answer = self._call(text, is_refused="error" in told)
            self._learn_ids(told, answer)
            assert shown is None or contains(answer, json.loads(self._with_real_ids(shown))), f"{text}\n{answer}"

    def _call(self, text: str, *, is_refused: bool) -> Any:
        match = CALL.fullmatch(text.strip())
        assert match, text
        name, tool, arguments = match.groups()
        if name not in self._agents:
            self._agents[name] = self._serve(name, "--access", "open", "--kind", "agent")
        agent, given = self._agents[name], json.loads(arguments)
        return {"error": agent.error_of(tool, **given)} if is_refused else agent.answer(tool, **given)

    def _learn_ids(self, shown: Any, given: Any) -> None:
        if isinstance(shown, dict) and isinstance(given, dict):
            for name in shown.keys() & given.keys():
                self._learn_ids(shown[name], given[name])
        elif isinstance(shown, list) and isinstance(given, list):
            for one, other in zip(shown, given, strict=False):
                self._learn_ids(one, other)
        elif isinstance(shown, str) and isinstance(given, str) and ID.fullmatch(shown):
            self._real.setdefault(shown, given)

    def _with_real_ids(self, text: str) -> str:
        return ID.sub(lambda id_: self._real.get(id_[0], id_[0]), text)


def contains(given: Any, shown: Any) -> bool:
    """Return whether an answer has everything that the story shows of it."""
    if isinstance(shown, dict) and isinstance(given, dict):
        return all(name in given and contains(given[name], value) for name, value in shown.items())
    if isinstance(shown, list) and isinstance(given, list):
        if shown[-1:] == [AND_MORE]:
            shown, given = shown[:-1], given[: len(shown) - 1]
        return len(given) == len(shown) and all(map(contains, given, shown))
    return bool(given == shown)


def test_the_story_works_as_it_stands(serve: Serve, engine: Engine, program: Standby, tmp_path: Path) -> None:
    (tmp_path / "groundplan.yaml").write_text("access: open\n", encoding="utf-8")  # as a file has it, on both engines
    player = Player(serve, engine, program, tmp_path)
    blocks = BLOCK.findall(STORY.read_text(encoding="utf-8"))
    assert len(blocks) > 20
    for (language, text), (following, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if answer := ANSWER_OF.get(language):
            player.play(language, text, shown if following == answer else None)
