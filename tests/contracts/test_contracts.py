"""What others rely on changes only on purpose: `make contracts` writes it down, a person reviews the difference."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import groundplan
from groundplan.__main__ import main
from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import local_actor
from groundplan.kernel.operations.registry import Group, Operation
from groundplan.session import Session
from groundplan.surfaces.mcp.tools import RegistryTools
from groundplan.verbs import to_python_name
from reference.examples import EXAMPLES, FIRST, FURTHER, MADE_AS, NODES, RUNS
from reference.files import REFERENCE, SCHEMA, build_files, diff_file, find_orphans
from reference.operation_pages import build_http_request, build_tool_call, group_by_page
from reference.placeholders import fill_placeholders
from tests.contracts.snapshots import FROZEN, TOKEN_BARS, database, frozen_changes, listed_tokens
from tests.surfaces.copied_schema import migrate_once
from tests.surfaces.http.client import HttpClient

PAGES = sorted(path.stem for path in REFERENCE.glob("*.md"))
WORD = re.compile(r"\w+")
PLANNED = re.compile(r"^(\w+) +(\w+) *$", re.MULTILINE)  # a ref, and the id that it got
MADE = re.compile(r"^id +([\w-]+) *$", re.MULTILINE)
TOKEN = re.compile(r"^gpt_(\w{10})", re.MULTILINE)  # the id at the beginning of a token
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_contracts_are_what_was_last_reviewed() -> None:
    differences = [found for path, text in build_files().items() if (found := diff_file(path, text))]
    assert not differences, "run `make contracts`, review the diff\n" + "\n".join(differences)


@pytest.mark.slow
def test_no_page_outlives_what_it_describes() -> None:
    assert find_orphans() == [], "run `make contracts`"


@pytest.mark.parametrize("groups", TOKEN_BARS)
def test_a_list_of_tools_costs_no_more_than_it_may(groups: str) -> None:
    switched_on, bar = TOKEN_BARS[groups]
    assert listed_tokens(switched_on) <= bar


# --- The schema -----------------------------------------------------------------------------------------------------


def test_the_schema_changes_only_by_a_new_migration() -> None:
    changed = frozen_changes(json.loads(SCHEMA.read_text(encoding="utf-8")), database())
    assert not changed, FROZEN.format(changed=", ".join(changed))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"migrations": {"sqlite 0001_a": "y"}}, ["sqlite 0001_a"]),
        ({"migrations": {}}, ["sqlite 0001_a"]),
        ({"generated": {"guards": "y"}}, ["guards"]),
        ({"generated": {"guards": "y"}, "latest": 2}, []),
        ({"migrations": {"sqlite 0001_a": "y"}, "latest": 2}, ["sqlite 0001_a"]),
    ],
)
def test_a_released_step_never_changes_and_generated_sql_only_with_a_new_one(
    change: dict[str, Any], found: list[str]
) -> None:
    recorded = {"latest": 1, "migrations": {"sqlite 0001_a": "x"}, "generated": {"guards": "x"}}
    assert frozen_changes(recorded, {**recorded, **change}) == found


# --- The examples on the pages --------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with nothing configured."""
    migrate_once(monkeypatch)
    monkeypatch.chdir(tmp_path)
    for variable in [name for name in os.environ if name.startswith("GROUNDPLAN_")]:
        monkeypatch.delenv(variable)
    return tmp_path


@pytest.fixture
def plan(here: Path) -> Iterator[Session]:
    with groundplan.open(str(here / "plan.db"), actor="ada") as plan:
        yield plan


class Learned(dict[str, str]):
    """The ids that refs got, once they got one, and those of what was made under a name that the words know.

    Runs have no name, and get those of the words one after the other.
    """

    def learn(self, answer: Any) -> None:
        created = getattr(answer, "created", ())
        if isinstance(created, list):  # a project that was opened says only whether it was created
            self.update({one.ref: one.id for one in created})
        self.learn_of_run(answer)
        inside = [
            getattr(answer, part, None) for part in ("atom", "task", "feature", "template", "token", "invitation")
        ]
        for thing in (answer, *inside):
            called = getattr(thing, "title", None) or getattr(thing, "name", None)
            if called in MADE_AS:
                self[MADE_AS[called]] = thing.id

    def learn_of_run(self, answer: Any) -> None:
        run = getattr(answer, "run", None)
        name = next((name for name in RUNS if name not in self), None)
        if run and name and run.id not in self.values():
            self[name] = run.id
        for waiting in chain(getattr(answer, "suggested", ()), getattr(answer, "suggestions", ()) or ()):
            self["suggestion"] = waiting.id

    def look(self, db: Path) -> None:
        """Learn of the runs in a store, and of what waits in them."""
        with groundplan.open(str(db), actor="ada") as plan:
            for run in reversed(plan.call("context.list", scopeId="atlas").runs):
                self.learn_of_run(plan.call("context.view", scopeId="atlas", runId=run.id))


def examples(page: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (operation.name, example)
        for operation in group_by_page()[page]
        for example in (EXAMPLES[operation.name], *(further for _, further in FURTHER.get(operation.name, ())))
    ]


def renamed(line: str, names: Mapping[str, str]) -> str:
    return WORD.sub(lambda word: names.get(word[0], word[0]), line)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_on_a_page_run(page: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    real: dict[str, str] = {}  # by the id on the page
    learned = Learned()
    for line in "".join(SHELL.findall(text)).splitlines():
        program, *arguments = shlex.split(renamed(line, real))
        assert program == "groundplan"
        code = main(arguments)
        printed = capsys.readouterr()
        assert code == 0, f"{line}\n{printed.err}"
        real |= {NODES[ref]: id_ for ref, id_ in PLANNED.findall(printed.out) if ref in NODES}
        if made := MADE.search(printed.out) or TOKEN.search(printed.out):
            real |= {NODES[name]: made[1] for called, name in MADE_AS.items() if called in arguments}
        if arguments[0] == "context":
            learned.look(here / "groundplan.db")
            real |= {NODES[name]: id_ for name, id_ in learned.items() if id_ in printed.out}
    assert not set(NODES.values()) & set(WORD.findall(text)) - real.keys(), "what was planned is not printed"


@pytest.mark.parametrize("page", group_by_page())
def test_the_calls_from_python_on_a_page_run(page: str, plan: Session) -> None:
    learned = Learned()
    for name, values in (*FIRST.get(page, ()), *examples(page)):
        group, _, verb = name.partition(".")
        run = getattr(getattr(plan, group), to_python_name(verb))
        learned.learn(run(**{to_python_name(one): value for one, value in fill_placeholders(values, learned).items()}))


@pytest.mark.parametrize("page", group_by_page())
def test_the_tool_calls_on_a_page_run(page: str, plan: Session) -> None:
    learned = Learned()

    def run(operation: Operation[Any, Any], arguments: Any, *_others: Any) -> Any:
        answered = plan.execute(operation, arguments)
        learned.learn(answered.answer)
        return answered

    tools = RegistryTools(OPERATIONS, frozenset(Group), run)
    for name, values in FIRST.get(page, ()):
        learned.learn(plan.call(name, **fill_placeholders(values, learned)))
    for name, values in examples(page):
        if OPERATIONS[name].tool is not None:
            call = build_tool_call(OPERATIONS[name], fill_placeholders(values, learned))
            answer = tools.call(call["name"], call["arguments"])
            assert not answer.is_error, answer.text


@pytest.mark.parametrize("page", group_by_page())
def test_the_http_requests_on_a_page_run(page: str, plan: Session) -> None:
    learned = Learned()
    with HttpClient(plan.store, local_actor) as http:
        for name, values in FIRST.get(page, ()):
            learned.learn(plan.call(name, **fill_placeholders(values, learned)))
        for name, values in examples(page):
            request = build_http_request(OPERATIONS[name], fill_placeholders(values, learned))
            line, _, body = request.partition("\n\n")
            method, path = line.split(" ", 1)
            reply = http.send(method, path, json.loads(body) if body else None)
            assert reply.status in (200, 201), f"{request}\n{reply.body.decode()}"
            learned.learn(json.loads(reply.body, object_hook=lambda found: SimpleNamespace(**{"ref": None, **found})))
