"""Slices name operations, and each surface words them for its callers."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

import groundplan
from groundplan.catalog import OPERATIONS
from groundplan.commands import list_commands_of
from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.operations.registry import Group, Operation
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.surfaces.cli.program import run as run_program
from groundplan.surfaces.mcp.tools import RegistryTools
from groundplan.surfaces.vocabularies import CliVocabulary, HttpVocabulary, McpVocabulary
from reference.placeholders import fill_placeholders
from tests.access.examples import EXAMPLES, ROWS
from tests.access.test_matrix import MISSING
from tests.engines import Engine, SqliteEngine
from tests.surfaces.http.client import HttpClient

PACKAGE = Path(groundplan.__file__).parent
BELOW_SURFACES = ("kernel", "work", "knowledge", "context", "purpose", "briefing", "argument_descriptions")

# Tools such as `advance` are also plain words; the others have an underscore.
TOOLS = {operation.tool.name for operation in OPERATIONS if operation.tool and "_" in operation.tool.name}
TOOL = re.compile(rf"\b({'|'.join(sorted(TOOLS))})\b")
COMMAND = re.compile(r"(?<!')\bgroundplan [a-z]+( [a-z-]+)?")
# Only a file with one of these words can name a tool or a command; others need no parsing.
TELLING = re.compile(rf"{TOOL.pattern}|\bgroundplan ")
# Commands that are no operations: the reader runs them, whatever the surface of the call.
ADMINISTRATION = ("groundplan init", "groundplan doctor", "groundplan knowledge check")
WITHOUT_TOOL = {
    f"groundplan {entry.name}" for one in OPERATIONS if one.tool is None for entry in list_commands_of(one.name)
}
OPERATION = re.compile(rf"(?<![\w.])({'|'.join(re.escape(one.name) for one in OPERATIONS)})(?![\w.])")


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yield every text with a space in a module that is no docstring, with its line."""
    tree = ast.parse(source)
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or node in docstrings:
            continue
        if isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def names_command(text: str, *, allowed: Sequence[str] = ()) -> bool:
    """Return whether a text names a command other than those allowed."""
    return any(not match[0].startswith(tuple(allowed)) for match in COMMAND.finditer(text))


def test_nothing_below_the_surfaces_names_a_tool_or_a_command() -> None:
    found = []
    for folder in BELOW_SURFACES:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            for line, text in sentences(source) if TELLING.search(source) else ():
                if TOOL.search(text) or names_command(text, allowed=ADMINISTRATION):
                    found.append(f"{path.relative_to(PACKAGE)}:{line}: {text}")
    assert not found, "\n".join(found)


def steps_in_sources() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "NextStep(" in source else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "NextStep":
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


def test_every_next_step_is_an_operation_that_takes_its_arguments() -> None:
    wrong = []
    for where, call in steps_in_sources():
        if not isinstance(call.args[0], ast.Constant):
            continue  # from a table whose entries are checked where they are used
        name = str(call.args[0].value)
        if name not in OPERATIONS:
            wrong.append(f"{where}: no operation {name}")
            continue
        known = {field.encode_name for field in msgspec.structs.fields(OPERATIONS[name].input)}
        given = [one for one in call.args[2:] if isinstance(one, ast.Dict)]
        keys = {str(key.value) for one in given for key in one.keys if isinstance(key, ast.Constant)}
        wrong += [f"{where}: {name} does not take {key}" for key in sorted(keys - known)]
    assert not wrong, "\n".join(wrong)


def test_every_operation_is_named_by_its_tool_or_by_a_command() -> None:
    for operation in OPERATIONS:
        tool, command = McpVocabulary(OPERATIONS), CliVocabulary(OPERATIONS)
        assert command.spell(operation.name, {}).startswith("groundplan "), operation.name
        if operation.tool:
            assert tool.spell(operation.name, {}).startswith(operation.tool.name), operation.name
            assert tool.call(operation.name, {})["tool"] == operation.tool.name
        else:
            assert tool.call(operation.name, {}) == command.call(operation.name, {})


# --- Every error that a bad request can meet, on every surface -------------------------------------------------------


def bad_requests() -> Iterator[tuple[Operation[Any, Any], dict[str, Any]]]:
    """Yield for each operation: no arguments, unknown names, an unknown argument, and wrong types."""
    for name, row in ROWS.items():
        request: dict[str, Any] = fill_placeholders(EXAMPLES[name], MISSING)
        yield row.requested, {}
        yield row.requested, request
        yield row.requested, {**request, "unheard_of": 1}
        for argument in request:
            yield row.requested, {**request, argument: {"wrong": True}}
            yield row.requested, {**request, argument: "zzzz-not-there"}


@pytest.fixture(scope="module")
def session_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = SqliteEngine(tmp_path_factory.mktemp("vocabulary") / "plan.db")
    engine.session("ada").call("project.create", name="atlas")
    yield engine
    engine.close()


def errors_by_tool(session: Session) -> Iterator[tuple[str, str]]:
    tools = RegistryTools(OPERATIONS, frozenset(Group), session.execute)
    for operation, arguments in bad_requests():
        if operation.tool is not None:
            selected = {"operation": operation.tool.selector} if operation.tool.selector else {}
            answer = tools.call(operation.tool.name, {**selected, **arguments})
            if answer.is_error:
                yield operation.name, error_text(json.loads(answer.text))


def error_text(body: Mapping[str, Any]) -> str:
    """Return our words in an error: its message and next steps, without what the caller sent."""
    error = body["error"]
    return f"{error['message']} {json.dumps(error.get('details', {}).get('next', []))}"


def test_errors_over_mcp_name_tools_and_no_operation_or_command(session_files: Engine) -> None:
    preferences = Preferences(vocabulary=McpVocabulary(OPERATIONS))
    session = Session(session_files.store, session_files.session("ada").actor, preferences=preferences)

    foreign = [
        (name, text)
        for name, text in errors_by_tool(session)
        if OPERATION.search(text) or names_command(text, allowed=(*WITHOUT_TOOL, *ADMINISTRATION))
    ]

    assert not foreign


def test_errors_in_python_name_operations_and_no_tool_or_command(session_files: Engine) -> None:
    session = session_files.session("ada")
    foreign = []
    for operation, arguments in bad_requests():
        try:
            session.call(operation.name, **arguments)
        except GroundplanError as error:
            text = error_text({"error": error.to_dict()})
            if TOOL.search(text) or COMMAND.search(text):
                foreign.append((operation.name, text))

    assert not foreign


def test_errors_over_http_name_requests_and_no_operation_tool_or_command(session_files: Engine) -> None:
    foreign = []
    with HttpClient(session_files.store, local_actor) as http:
        for operation, arguments in bad_requests():
            reply = http.call(operation.name, arguments, project="atlas")
            if reply.status >= 400:
                text = f"{reply.json['detail']} {json.dumps(reply.json.get('details', {}).get('next', []))}"
                if TOOL.search(text) or OPERATION.search(text) or COMMAND.search(text):
                    foreign.append((operation.name, text))

    assert not foreign


def test_every_operation_is_named_by_its_route() -> None:
    vocabulary = HttpVocabulary(OPERATIONS)
    for operation in OPERATIONS:
        assert operation.http is not None
        assert vocabulary.spell(operation.name, {}).startswith(f"{operation.http.method} /v1/"), operation.name


@pytest.mark.slow
def test_errors_on_the_command_line_name_commands_and_no_tool_or_operation(
    session_files: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_DB", session_files.db)
    monkeypatch.setenv("LOGNAME", "ada")
    foreign = []
    # Errors below the command line read as in Python, so one error of each operation is enough.
    for name, row in ROWS.items():
        if list_commands_of(row.requested.name) and row.requested is row.handled:
            argv = command_line(row.requested, fill_placeholders(EXAMPLES[name], MISSING))
            err = StringIO()
            with redirect_stdout(StringIO()), redirect_stderr(err):
                run_program([*argv, "--json"])
            line = err.getvalue().strip().rpartition("\n")[2]
            text = error_text(json.loads(line)) if line.startswith('{"error"') else line
            if TOOL.search(text) or OPERATION.search(text):
                foreign.append((" ".join(argv), text))

    assert not foreign


def command_line(operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> list[str]:
    """Return a command with these arguments, as far as it has them."""
    command = list_commands_of(operation.name)[0]
    words, options = list(command.words), []
    for field in msgspec.structs.fields(operation.input):
        if field.encode_name not in arguments or field.name in command.fixed or field.name in command.without:
            continue
        value = arguments[field.encode_name]
        text = value if isinstance(value, str) else json.dumps(value)
        if field.name in command.arguments:
            words.append(text)
        elif value is not True and value is not False:
            options += [f"--{command.get_option_name(field.name)}", text]
    return [*words, *options]
