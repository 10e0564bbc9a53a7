"""Commands that are generated from the operations of the registry."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from groundplan import Session
from groundplan.catalog import OPERATIONS
from groundplan.commands import COMMANDS, GROUPS, NOT_COMMANDS, TOPICS, Entry, list_names
from groundplan.kernel.input_gate.types import describe_type
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.surfaces.cli.help import OPTION_HELP, summarize
from groundplan.surfaces.cli.operation_commands import choose_item
from groundplan.surfaces.cli.program import build_command, load_command
from groundplan.surfaces.cli.renderers import format_usage
from tests.surfaces.cli.conftest import Run

CALLS = [(OPERATIONS[entry.operation], entry) for entry in COMMANDS if not entry.run]
READS = [one for one in CALLS if one[0].effect is Effect.READ and one[0].when_project_missing is None]


def for_each_command(commands: list[tuple[Operation[Any, Any], Entry]]) -> pytest.MarkDecorator:
    """Parametrize a test over commands, with their words as ids."""
    cases = [pytest.param(operation, command, id=" ".join(command.words)) for operation, command in commands]
    return pytest.mark.parametrize(("operation", "command"), cases)


def list_fields(operation: Operation[Any, Any], command: Entry) -> list[msgspec.structs.FieldInfo]:
    """Return the fields of the input, or of the item that the command takes, with those that it shares."""
    fields = {field.name: field for field in msgspec.structs.fields(operation.input)}
    if not command.item_of:
        return list(fields.values())
    item = choose_item(describe_type(fields[command.item_of].type))
    shared = [fields["project"], fields["op_id"]]
    return [*msgspec.structs.fields(item.type), *shared]


@for_each_command(CALLS)
def test_a_command_has_an_option_for_every_field_that_its_words_do_not_say_already(
    run: Run, operation: Operation[Any, Any], command: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")

    shown = run(*command.words, "--help")

    assert shown.code == 0
    said = {*command.fixed, *command.without}
    for field in list_fields(operation, command):
        name = command.get_option_name(field.name)
        option = name.upper() if field.name in command.arguments else f"--{name}"
        assert bool(re.search(rf"{option}\b(?!-)", shown.out)) == (field.name not in said), option
    assert "--json" in shown.out
    assert "--db" in shown.out


@for_each_command(CALLS)
def test_what_a_command_says_or_leaves_out_is_a_field_of_its_operation(
    operation: Operation[Any, Any], command: Entry
) -> None:
    fields = {field.name: field for field in list_fields(operation, command)}
    named = {*command.arguments, *command.names, *command.texts, *command.fixed, *command.without}
    assert named <= fields.keys()
    assert not [name for name in command.without if fields[name].required]
    for name, value in command.fixed.items():
        msgspec.convert(value, fields[name].type)


def test_every_option_says_what_it_means() -> None:
    silent = [
        f"{entry.name} {parameter.key}"
        for entry in COMMANDS
        for parameter in build_command(entry, with_help=True).parameters
        if not parameter.help.strip()
    ]
    assert not silent, "add it to the table of its slice in argument_descriptions.py"


def test_only_help_has_texts_of_options() -> None:
    texts = {
        with_help: [
            bool(one.help)
            for one in load_command(("work", "next"), with_help=with_help).parameters
            if one.key == "scope"
        ]
        for with_help in (False, True)
    }
    assert texts == {False: [False], True: [True]}


def test_every_text_that_only_the_command_line_has_is_that_of_an_option() -> None:
    options = {
        f"{start} {parameter.key}"
        for entry in COMMANDS
        for parameter in build_command(entry).parameters
        for start in (entry.name, entry.words[0])
    }
    assert OPTION_HELP.keys() <= options


def test_every_group_of_commands_says_what_it_is_about() -> None:
    groups = {entry.words[:at] for entry in COMMANDS for at in range(1, len(entry.words))}
    assert {" ".join(words) for words in groups} == GROUPS.keys()


def test_every_first_word_stands_in_one_topic_and_says_what_it_does() -> None:
    words = [word for topic in TOPICS.values() for word in (*topic.listed, *topic.others)]

    assert len(words) == len(set(words))
    assert set(words) == set(list_names(()))
    assert all(summarize(word) for word in words)


def test_no_word_of_another_tool_is_a_command() -> None:
    names = {name for entry in COMMANDS for name in (entry.name, *entry.synonyms)}
    assert not names & NOT_COMMANDS.keys()


def test_a_default_is_told_only_where_there_is_something_to_tell(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")

    shown = run("section", "add", "--help").out

    assert "Default: MARKDOWN." in shown
    assert "Default: ." not in shown


def test_json_is_exactly_the_answer_of_the_operation(run: Run) -> None:
    made = run("project", "create", "atlas", "--goal", "Find it", "--json")

    assert list(made.answer) == ["project"]
    assert made.answer["project"]["goal"] == "Find it"
    assert made.err == ""
    assert run("project", "list", "--json").answer == {"projects": [made.answer["project"]]}


def test_a_list_is_drawn_as_a_table_with_the_columns_the_command_names(run: Run) -> None:
    run("project", "create", "atlas", "--goal", "Find it")

    drawn = run("project", "list").out.splitlines()

    assert drawn[0].split() == ["name", "id", "role", "archived", "at", "goal"]
    assert "atlas" in drawn[2]
    assert "Find it" in drawn[2]


def test_one_thing_is_drawn_as_names_and_values(run: Run) -> None:
    drawn = dict(line.split(maxsplit=1) for line in run("project", "create", "atlas").out.splitlines())

    assert drawn["name"].strip() == "atlas"
    assert drawn["role"].strip() == "owner"
    assert drawn["goal"].strip() == "-"


def test_beside_a_table_nothing_is_said_about_what_is_not_there(run: Run) -> None:
    run("project", "create", "atlas")

    titles, _, *rows = run("member", "list", "--project", "atlas").out.splitlines()

    assert "role" in titles
    assert [row.split()[:2] for row in rows] == [["ada", "owner"]]


def test_times_are_drawn_up_to_the_minute_and_kept_whole_in_json(run: Run) -> None:
    run("project", "create", "atlas")
    archived = run("project", "archive", "atlas", "--json").answer["archived_at"]

    drawn = run("project", "list", "--archived").out

    assert archived[:16].replace("T", " ") in drawn
    assert archived not in drawn


def test_an_empty_list_says_how_to_begin(run: Run) -> None:
    run("init")

    assert run("project", "list").out == "No projects here. Next: groundplan project create NAME\n"
    assert run("project", "list", "--json").answer == {"projects": []}


@for_each_command(READS)
def test_a_command_that_only_reads_makes_no_file(run: Run, operation: Operation[Any, Any], command: Entry) -> None:
    meant = {
        "PROJECT": "atlas",
        "TYPE": "TASK" if command.words[0] == "section" else "atom",
        "GATE": "A",
        "WHAT": "unlocks",
        "OPERATION": '{"kind": "read"}',
    }
    required = [meant.get(word, word) for word in format_usage(operation, command).split()[1:]]

    refused = run(*required, "--db", "nope.db", "--json")

    assert refused.error == (7, "store_missing")
    assert "groundplan init --db nope.db" in refused.err
    assert list(Path().iterdir()) == []


def test_the_advice_about_a_missing_file_works(run: Run) -> None:
    advice = run("project", "list", "--db", "my plan.db").err.partition("with groundplan ")[2].partition(", or name")[0]

    assert run(*shlex.split(advice)).code == 0
    assert run("project", "list", "--db", "my plan.db").code == 0


def test_a_command_that_writes_makes_the_file_and_says_so_once_and_to_people_only(run: Run) -> None:
    assert run("project", "create", "atlas", "--db", "plan.db").err == "created plan.db\n"
    assert run("project", "create", "borea", "--db", "plan.db").err == ""
    assert run("project", "create", "atlas", "--db", "other.db", "--json").err == ""
    assert Path("other.db").exists()


def test_a_project_goes_through_its_life_from_the_command_line(run: Run) -> None:
    run("project", "create", "atlas")
    added = run("member", "add", "ben", "--project", "atlas", "--role", "editor", "--kind", "agent", "--json")
    assert added.answer["member"]["role"] == "editor"
    assert [one["userId"] for one in run("member", "list", "--project", "atlas", "--json").answer["members"]] == [
        "ada",
        "ben",
    ]
    assert run("member", "remove", "ben", "--project", "atlas", "--json").answer == {"removed": "ben"}
    assert run("member", "remove", "ben", "--project", "atlas").code == 3
    assert run("project", "archive", "atlas", "--json").answer["archived_at"]
    assert run("project", "list", "--json").answer == {"projects": []}
    assert len(run("project", "list", "--archived", "--json").answer["projects"]) == 1
    assert run("project", "restore", "atlas", "--json").answer["archived_at"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("--db", "there.db", "--json", "project", "list"),
        ("project", "--db", "there.db", "--json", "list"),
        ("project", "list", "--db", "there.db", "--json"),
        ("--json", "project", "list", "--db=there.db"),
    ],
)
def test_common_options_may_stand_before_between_and_after_the_words(run: Run, arguments: tuple[str, ...]) -> None:
    run("project", "create", "atlas", "--db", "there.db")

    assert [project["name"] for project in run(*arguments).answer["projects"]] == ["atlas"]


def test_a_common_option_that_is_given_twice_is_refused(run: Run) -> None:
    twice = ("--db", "elsewhere.db", "--json", "project", "list", "--db", "there.db")

    assert run(*twice).error == (2, "usage")
    assert list(Path().iterdir()) == []


def test_the_actor_is_the_one_named_for_the_command(run: Run) -> None:
    made = run("project", "create", "atlas", "--person", "cleo", "--json")

    assert made.answer["project"]["created_by"] == "cleo"


def test_stored_text_is_drawn_as_it_is_and_commands_no_terminal(run: Run) -> None:
    goal = "[bold red]:smile: \u202egnp.exe"
    run("project", "create", "atlas", "--goal", goal)

    drawn = run("project", "list").out

    assert "[bold red]:smile: \\u202egnp.exe" in drawn
    assert "\x1b" not in drawn
    assert run("project", "list", "--json").answer["projects"][0]["goal"] == goal


def test_a_text_that_looks_like_an_option_can_be_given_after_two_dashes(run: Run) -> None:
    assert run("project", "create", "--json", "--", "--json").answer["project"]["name"] == "--json"


def test_a_table_in_a_pipe_is_never_folded(run: Run) -> None:
    goal = "very " * 100 + "long"
    run("project", "create", "atlas", "--goal", goal)

    assert goal in run("project", "list").out


def test_the_command_line_and_python_share_one_store(run: Run) -> None:
    import groundplan

    run("project", "create", "atlas", "--db", "plan.db")

    session: Session
    with groundplan.open("plan.db", actor="ada") as session:
        assert [project.name for project in session.call("project.list").projects] == ["atlas"]


def test_files_are_given_one_by_one_or_with_commas_between_them(run: Run) -> None:
    run("project", "create", "atlas")

    def unmatched(*paths: str) -> list[str]:
        found = run("knowledge", "context", *paths, "--project", "atlas", "--json").answer
        return list(found["data"]["unmatchedPaths"])

    assert unmatched("b.ts", "a.ts") == unmatched("b.ts,a.ts") == ["b.ts", "a.ts"]
    assert unmatched("a,b.ts", "c.ts") == ["a,b.ts", "c.ts"]


def test_a_long_text_is_read_from_a_file_and_one_that_begins_with_an_at_is_written_with_two(run: Run) -> None:
    run("project", "create", "atlas")
    planned = run("work", "plan", "--project", "atlas", "--nodes", '[{"ref": "a", "summary": "A"}]', "--json").answer
    task = planned["created"][0]["id"]
    Path("notes.md").write_text("Tides matter\n", encoding="utf-8")

    def knowledge(given: str) -> str:
        made = ("knowledge", "create", "Coast", "--type", "atom", "--project", "atlas", "--task", task)
        return str(run(*made, "--path", "a/**", "--knowledge", given, "--json").answer["data"]["atom"]["knowledge"])

    assert knowledge("@notes.md") == "Tides matter"
    assert knowledge("@@ada knows") == "@ada knows"
    refused = run("knowledge", "update", "x", "--type", "atom", "--version", "1", "--knowledge", "@ada knows")
    assert refused.code == 2
    assert "@@" in refused.err


def test_a_command_that_comes_next_names_the_project_of_the_request(run: Run) -> None:
    run("project", "create", "safe water")
    nodes = '[{"ref": "a", "summary": "Drill"}]'
    planned = run("work", "plan", "--project", "safe water", "--nodes", nodes, "--json").answer
    task = planned["created"][0]["id"]

    coverage = run("coverage", "--project", "safe water").out
    line = run("throughline", task, "--project", "safe water").out

    assert f"groundplan throughline {task} --project 'safe water'\n" in coverage
    assert "Next: groundplan coverage --project 'safe water'\n" in line
    assert "--project PROJECT" not in coverage + line
