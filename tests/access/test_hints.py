"""Every hint can be run: as it stands, or with the arguments that its `fill` names, on every surface.

The hints are read from the source. Each is phrased for a surface as an error of a project would phrase it, filled in
from the examples, and sent. What it names may be gone or forbidden by then; the request itself is never malformed.
"""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from groundplan.__main__ import main
from groundplan.catalog import OPERATIONS
from groundplan.kernel.errors import GroundplanError, Invalid, Vocabulary
from groundplan.kernel.store.queries import PACKAGE
from groundplan.setting_values import TOOL_GROUPS
from groundplan.surfaces.vocabularies import CliVocabulary, HttpVocabulary, McpVocabulary, add_project, list_missing
from reference.placeholders import fill_placeholders
from tests.access.examples import EXAMPLES, ROWS, example
from tests.access.test_surface_matrix import discard_writes
from tests.access.two_organizations import Caller, find_names, populate
from tests.engines import Engine, fill_once
from tests.kernel.tokens.holders import authenticate_token
from tests.surfaces.http.mcp.client import McpClient

ADA = Caller("ada", "local")
HINTS_MIN = 70  # different ones, with an operation that is written out
# Arguments of hints that the example of their operation does not have.
VALUES: Mapping[str, Any] = {
    "allowDrop": True,
    "claim": True,
    "copyFrom": "latest",
    "event": "1.0",
    "kind": "agent",
    "policies": {"publish_gates": "A"},
    "profile": "standard",
    "resolve": {},  # the draft of the test has no conflict to settle
    "targetEntityType": "TASK",
    "type": "BLOCKS",
    "waivers": [{"code": "GA_CONTEXT", "refs": ["G1"], "reason": "Soon", "owner": "ada", "due": "2030-01-01"}],
}


class Hint(NamedTuple):
    """A hint as it stands in the source: an operation, the names of its arguments, and what the caller adds."""

    operation: str
    arguments: tuple[str, ...]
    fill: tuple[str, ...]


@cache
def list_hints() -> dict[Hint, str]:
    """Return every hint whose operation is written out, with one of the places where it stands."""
    hints: dict[Hint, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "NextStep":
                    hint = read_hint(node, function)
                    if hint is not None and (function is not tree or not hint.arguments):
                        hints.setdefault(hint, f"{path.relative_to(PACKAGE)}:{node.lineno}")
    return hints


def read_hint(call: ast.Call, function: ast.AST) -> Hint | None:
    """Return a hint; None if its operation or the name of an argument is computed."""
    if not isinstance(call.args[0], ast.Constant):
        return None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    arguments = call.args[2] if len(call.args) > 2 else keywords.get("arguments")
    fill = call.args[3] if len(call.args) > 3 else keywords.get("fill")
    named = tuple(ast.literal_eval(fill)) if fill is not None else ()
    if isinstance(arguments, ast.Dict) and not all(isinstance(key, ast.Constant) for key in arguments.keys):
        return None
    return Hint(str(call.args[0].value), tuple(sorted(read_keys(arguments, function))), named)


def read_keys(arguments: ast.expr | None, function: ast.AST) -> Iterator[str]:
    """Yield the names in a dict that is written out, there or where its variable is set."""
    if isinstance(arguments, ast.Dict):
        yield from (key.value for key in arguments.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
    elif isinstance(arguments, ast.Name):
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == arguments.id for target in targets):
                yield from read_keys(node.value if isinstance(node.value, ast.Dict) else None, function)  # type: ignore[attr-defined] # an Assign


class Runner:
    """Sends a hint on one surface, and returns the code of an error about the request itself."""

    def __init__(self, engine: Engine, token: str, names: Mapping[str, str]) -> None:
        self._engine = engine
        self._names = names
        self._server = McpClient(engine.store, token, tool_groups=TOOL_GROUPS)

    def close(self) -> None:
        self._server.close()

    def fill(self, hint: Hint, vocabulary: Vocabulary) -> dict[str, Any]:
        """Return the arguments of a hint with those that it tells the caller to add."""
        operation = OPERATIONS[hint.operation]
        example = {**VALUES, **fill_placeholders(EXAMPLES[hint.operation], self._names)}
        given = {name: example[name] for name in hint.arguments}
        missing = list_missing(operation, add_project(operation, given, "atlas"), hint.fill)
        assert missing or "fill" not in vocabulary.call(hint.operation, given, hint.fill)
        return {**given, **{name: example[name] for name in missing}}

    def run_rest(self, hint: Hint) -> str | None:
        vocabulary = HttpVocabulary(OPERATIONS, "atlas")
        request = vocabulary.call(hint.operation, self.fill(hint, vocabulary))
        assert "fill" not in request
        assert "{" not in request["path"]
        reply = self._server.send(
            request["method"],
            request["path"],
            request.get("body"),
            authorization=f"Bearer {self._server.token}",
        )
        is_malformed = reply.status in (400, 405, 415) or (reply.status == 404 and reply.code == "unknown_path")
        return f"{reply.status} {reply.json}" if is_malformed else None

    def run_mcp(self, hint: Hint) -> str | None:
        vocabulary = McpVocabulary(OPERATIONS, None, "atlas")
        call = vocabulary.call(hint.operation, self.fill(hint, vocabulary))
        assert "fill" not in call
        if "tool" not in call:
            return None  # a command for a person
        result = self._server.result("tools/call", {"name": call["tool"], "arguments": call["arguments"]})
        text = result["content"][0]["text"]
        return text if result["isError"] and find_code(text) in MALFORMED else None

    def run_cli(self, hint: Hint) -> str | None:
        vocabulary = CliVocabulary(OPERATIONS, "atlas")
        command = vocabulary.call(hint.operation, self.fill(hint, vocabulary))
        assert "fill" not in command
        return self.run_command(command["command"])

    def run_command(self, command: str) -> str | None:
        """Run a command as a person in a shell, and return it if its usage is wrong."""
        _, *words = shlex.split(command)
        code = main([*words, "--db", self._engine.db, "--person", "ada", "--access", "open", "--json"])
        return command if code == Invalid.exit_code else None


def find_code(text: str) -> str:
    error = json.loads(text)["error"]
    return str(error.get("details", {}).get("reason", error["code"]))


def list_codes(family: type[GroundplanError]) -> Iterator[str]:
    yield family.code
    for below in family.__subclasses__():
        yield from list_codes(below)


MALFORMED = {*list_codes(Invalid), "missing_argument", "invalid_argument", "unknown_argument", "invalid_value"}


@pytest.fixture
def _discarded_writes() -> Iterator[None]:
    with discard_writes():
        yield


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["rest", "mcp", "cli"])
def test_every_hint_can_be_run(
    engine: Engine, surface: str, subtests: pytest.Subtests, request: pytest.FixtureRequest
) -> None:
    hints = list_hints()
    assert len(hints) >= HINTS_MIN
    tokens = fill_once(engine, populate)
    request.getfixturevalue("_discarded_writes")
    with closing(Runner(engine, tokens[ADA], find_names(engine, ADA, "local"))) as runner:
        for hint, place in hints.items():
            with subtests.test(place, hint=hint):
                assert getattr(runner, f"run_{surface}")(hint) is None


@pytest.mark.slow
def test_a_person_can_run_every_command_that_a_refused_agent_is_given(
    engine: Engine, subtests: pytest.Subtests, request: pytest.FixtureRequest
) -> None:
    tokens = fill_once(engine, populate)
    request.getfixturevalue("_discarded_writes")
    bot = authenticate_token(engine.store, tokens[Caller("bot", "local")])
    names = find_names(engine, ADA, "local")
    agent = engine.session(replace(bot, role_max=None, sponsor=None))
    commands = {}
    for name, row in ROWS.items():
        try:
            agent.call(row.requested.name, **example(name, names))
        except GroundplanError as refusal:
            if refusal.code == "agent_not_allowed":
                commands[name] = refusal.details.get("command")
    # Its document is too long for a line.
    assert commands.pop("purpose.import as purpose.import_waivers") == "groundplan op purpose.import -"
    with closing(Runner(engine, tokens[ADA], names)) as runner:
        for name, command in commands.items():
            with subtests.test(name):
                assert command is not None
                assert runner.run_command(command) is None
    assert len(commands) > 10
