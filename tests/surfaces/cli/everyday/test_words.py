"""The short words do in few characters what the operations do, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from groundplan.commands import COMMANDS, EVERY_DAY, TOPICS
from groundplan.surfaces.cli.program import build_command
from tests.surfaces.cli.conftest import Run
from tests.surfaces.cli.everyday.conftest import ShortWords

WORDS = [build_command(entry, with_help=True) for entry in COMMANDS if entry.in_project]


def test_no_option_of_a_command_has_two_meanings() -> None:
    for entry in COMMANDS:
        command = build_command(entry)
        options = [
            name for option in (*command.options, *command.common) for name in (*option.names, option.off) if name
        ]
        assert len(options) == len(set(options)), entry.name


def test_the_first_screen_shows_a_dozen_words_and_fits_a_small_terminal(run: Run) -> None:
    page = run().out
    section = page.partition("Every day\n")[2].partition("\n\n")[0]

    assert [line.split()[0] for line in section.splitlines()] == list(EVERY_DAY)
    assert len(EVERY_DAY) <= 12
    assert len(page.splitlines()) < 24  # and the prompt
    assert max(map(len, page.splitlines())) <= 80
    assert run("-h").out == run("--help").out == page


def test_help_lists_at_most_25_words_and_the_topics_all(run: Run) -> None:
    page = run("help").out
    listed = [word for topic in TOPICS.values() for word in topic.listed]

    assert len(listed) <= 25
    assert all(f"\n  {word} " in page for word in listed)
    for name, topic in TOPICS.items():
        assert f"help {name} " in page
        shown = run("help", name).out
        assert all(f"\n  {word} " in shown for word in (*topic.listed, *topic.others))


def test_help_explains_a_command_as_its_own_option_does(run: Run) -> None:
    assert run("help", "purpose", "measure").out == run("purpose", "measure", "--help").out
    assert run("help", "org", "member").out == run("org", "member").out
    assert run("help", "nothing", "--json").error == (2, "usage")


# The lines of the bar, in the order in which they are typed, and the most characters that each may have.
BARS = (
    ('pl add "Fix the login"', 22),
    ("pl next", 8),
    ("pl t {login}", 10),
    ("pl take -", 10),
    ("pl done - -e commit:9f2ab1", 27),
    ("pl d {login} -e commit:9f2ab1", 27),
    ("pl block - --on {other}", 20),
    ("pl b {login} --on {other}", 20),
    ("pl ls", 6),
    ("pl show {other}", 12),
    ("pl find login", 15),
)


def test_every_day_takes_few_characters(pl: ShortWords) -> None:
    other, third = pl.add("Write the docs"), pl.add("Print them")
    pl(f"drop {third} -m", "not yet")
    known = {"other": other[:3]}
    for line, most in BARS:
        if "{login}" in line:
            known["login"] = json.loads(pl("find login --json").out)["hits"][0]["ref"][:3]
        typed = line.format(**known)
        words = [word.strip('"') for word in typed.removeprefix("pl ").split('"')[:2]]
        ended = pl(*words) if '"' in typed else pl(typed.removeprefix("pl "))

        assert len(typed) <= most, typed
        assert ended.code == 0, (typed, ended.err)


def test_adding_sets_parent_dependencies_priority_and_tags_at_once(pl: ShortWords) -> None:
    parent, first = pl.add("Release"), pl.add("Test it")
    added = pl.add("Ship it", "-u", parent[:3], "-a", "Test it", "-p", "3", "-t", "web", "--tag", "urgent")

    shown = pl("show --json", added).answer
    assert shown["ancestors"][-1]["id"] == parent
    assert [one["node"]["id"] for one in shown["depends_on"]] == [first]
    assert shown["node"]["properties"]["priority"] == 3
    assert [line.split()[1] for line in pl.lines("ls all --tag urgent")] == [added]
    assert "web, urgent" in pl("show -").out or "urgent, web" in pl("show -").out


def test_a_title_needs_no_quotation_marks(pl: ShortWords) -> None:
    assert pl("add Fix the login page").code == 0
    assert "Fix the login page" in pl("ls").out


def test_the_last_task_is_a_dash_for_this_person_and_database(pl: ShortWords, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pl.add("First")
    pl("take -")
    assert "First" in pl("show -").out

    monkeypatch.setenv("LOGNAME", "ben")
    assert pl("show - --json").error == (2, "usage")
    monkeypatch.setenv("LOGNAME", "ada")
    assert pl("done -").code == 0
    assert pl("ls done").out.split()[1] == first


def test_several_tasks_are_finished_in_one_transaction_or_none_is(pl: ShortWords) -> None:
    parent = pl.add("Parent")
    child, other = pl.add("Child", "-u", parent), pl.add("Other")

    refused = pl(f"done {other} {parent} --json")
    assert refused.error == (6, "unresolved_children")
    assert len(pl.lines("ls")) == 3

    assert pl(f"done {child} {parent} {other} -e test:green -m", "all of it").code == 0
    assert len(pl.lines("ls done")) == 3


def test_dropped_looks_different_from_done_without_any_colour(pl: ShortWords) -> None:
    done, dropped = pl.add("Done"), pl.add("Dropped")
    pl(f"done {done}")
    assert pl(f"drop {dropped} --json").error == (2, "usage")
    pl(f"drop {dropped} -m", "nobody needs it")

    marks = {line.split()[1]: line.split()[0] for line in pl.lines("ls all")}
    assert marks[done] != marks[dropped]
    assert pl.lines("ls dropped")[0].split()[1] == dropped
    assert [line.split()[1] for line in pl.lines("ls done")] == [done]
    board = pl("board").out
    assert board.index("Dropped") < board.index(dropped)


def test_a_blocked_task_is_finished_only_by_force_with_the_reason_in_its_history(pl: ShortWords) -> None:
    pump, tap, held = pl.add("Pump"), pl.add("Tap"), pl.add("Held")
    pl(f"block {tap} --on {pump}")
    pl(f"hold {held} -m", "no money")

    assert pl(f"take {tap} --json").error == pl(f"done {tap} --json").error == (5, "not_actionable")
    assert f"pl done {tap} --force -m WHY".replace("pl", "groundplan") in pl(f"done {tap}").err
    assert pl(f"done {held} --json").error == (5, "not_actionable")
    assert pl(f"done {tap} --force --json").error == (2, "usage")
    assert tap not in pl("ls done").out

    told = pl(f"done {tap} --force -m", "the old one still runs")
    assert (told.code, f"{tap}: resolved while its dependencies are open" in told.out) == (0, True)
    event = pl(f"log {tap} --json").answer["events"][0]
    assert (event["action"], event["decision"]) == ("resolved", "the old one still runs")
    assert pl(f"done {held} --force -m", "it was free").code == 0


def test_what_waits_only_for_what_is_finished_with_it_is_finished(pl: ShortWords) -> None:
    pump, tap = pl.add("Pump"), pl.add("Tap")
    pl(f"block {tap} --on {pump}")

    assert pl(f"done {tap} {pump}").code == 0


def test_an_agent_finishes_nothing_by_force(pl: ShortWords, monkeypatch: pytest.MonkeyPatch) -> None:
    pump, tap = pl.add("Pump"), pl.add("Tap")
    pl(f"block {tap} --on {pump}")
    monkeypatch.setenv("GROUNDPLAN_AGENT", "robin")

    assert pl(f"done {tap} --force --json -m", "now").error == (4, "force_needs_person")


def test_a_drop_names_who_waits_and_what_they_lost(pl: ShortWords) -> None:
    top, pump = pl.add("Water"), pl.add("Pump")
    top = pl.add("Water")
    pump, _ = pl.add("Pump", "--under", top), pl.add("Tank", "--under", top)
    tap = pl.add("Tap")
    pl(f"block {tap} --on {pump}")

    said = pl(f"drop {pump} -m", "too dear").out

    assert f"{pump}: dropped while others wait for it: {tap}" in said
    assert f"Tap (dropped: {pump})" in said
    assert next(line for line in pl.lines("tree") if top in line).rstrip().endswith("0/1")
    mark = next(line for line in pl.lines(f"show {tap}") if pump in line).split()[0]
    assert mark == pl.lines("ls dropped")[0].split()[0]


def test_a_finished_task_that_is_told_to_wait_is_shown_as_it_is_with_a_warning(pl: ShortWords) -> None:
    done, waiting = pl.add("Sign in"), pl.add("Write the docs")
    pl(f"done {done}")

    told = pl(f"block {done} --on {waiting}")

    assert told.code == 0
    assert told.out.startswith(f"✓ {done}")
    assert f"{done}: is resolved, so it waits for nothing; groundplan done {done} --off reopens it" in told.out


def test_what_waits_is_blocked_and_a_loop_is_refused_with_its_path(pl: ShortWords) -> None:
    login, docs = pl.add("Login"), pl.add("Docs")
    assert pl(f"block {docs} --on {login}").code == 0
    assert pl.lines("ls blocked")[0].split()[1] == docs

    refused = pl(f"block {login} {docs}")
    assert refused.code == 6
    assert f"{login} -> {docs} -> {login}" in refused.out

    assert pl(f"block {docs} --on {login} --off").code == 0
    assert pl.lines("ls blocked") == ["No such tasks. All: groundplan ls all"]


def test_a_hold_needs_a_reason_and_no_version(pl: ShortWords) -> None:
    login = pl.add("Login")
    assert pl(f"hold {login} --json").error == (2, "usage")
    assert pl(f"hold {login} -m", "the server is down").code == 0
    assert "on hold: the server is down" in pl(f"show {login}").out
    assert pl("next").out.startswith("Nothing to start")
    assert pl("hold - --off").code == 0
    assert "Login" in pl("next").out


def test_taking_and_giving_back(pl: ShortWords, monkeypatch: pytest.MonkeyPatch) -> None:
    login = pl.add("Login")
    pl("take")
    assert pl.lines("ls mine")[0].split()[1] == login
    assert pl.lines("ls taken")[0].split()[1] == login
    monkeypatch.setenv("LOGNAME", "ben")
    assert pl(f"take {login} --json").error == (5, "already_claimed")
    monkeypatch.setenv("LOGNAME", "ada")
    assert pl("take --off").code == 0
    assert pl.lines("ls ready")[0].split()[1] == login


def test_json_is_exactly_what_the_operation_answers(pl: ShortWords, run: Run) -> None:
    login = pl.add("Login")
    assert pl("next --json").answer == run("work", "next", "--json").answer
    assert pl(f"show {login} --json").answer == run("work", "context", login, "--json").answer
    assert pl(f"log {login} --json").answer == run("work", "history", login, "--json").answer
    assert pl("ls all --json").answer == run("work", "outline", "--filter", "{}", "--json").answer
    assert pl("find login --json").answer == run("search", "login", "--project", "repo", "--json").answer
    assert pl(f"why {login} --json").answer == run("throughline", login, "--json").answer
    assert len(pl("board --json").out.splitlines()) == 5  # one for each call


def test_evidence_without_a_type_gets_the_one_it_looks_like(pl: ShortWords) -> None:
    login = pl.add("Login")
    Path("report.txt").write_text("green", encoding="utf-8")
    given = ("9f2ab1c", "report.txt", "it works", "https://example.org/run/1", "test:unit")
    pl(f"done {login}", *(word for one in given for word in ("-e", one)))

    shown = pl(f"show {login} --json").answer["node"]["evidence"]
    assert [(one["type"], one["ref"]) for one in shown] == [
        ("commit", "9f2ab1c"),
        ("file", "report.txt"),
        ("note", "it works"),
        ("https", "https://example.org/run/1"),
        ("test", "unit"),
    ]


def test_undo_removes_a_task_that_was_added_and_says_so(pl: ShortWords) -> None:
    login = pl.add("Login")
    ended = pl("undo")

    assert re.fullmatch(rf"Undid \d+\.0: created {login}\.\n", ended.out)
    assert pl(f"show {login} --json").error == (3, "not_found")
    assert re.fullmatch(rf"Did again \d+\.0: created {login}\.\n", pl("undo --redo").out)
    assert pl(f"show {login}").code == 0
    assert pl("undo --redo --json").error == (5, "nothing_to_redo")


def test_a_note_is_taken_back_by_the_event_that_show_names(pl: ShortWords) -> None:
    login = pl.add("Login")
    pl(f"note {login} the key is in the safe")
    (note,) = pl(f"show {login} --json").answer["node"]["evidence"]
    assert f"event {note['event']}" in pl(f"show {login}").out

    pl(f"note {login} --retract {note['event']} ask Ben for the key")
    assert "safe" not in pl(f"show {login}").out
    assert "note: the key is in the safe -> none" in pl(f"log {login}").out
    assert pl(f"note {login} --retract {note['event']} --json").error == (5, "already_retracted")

    pl("undo")
    assert [one["ref"] for one in pl(f"show {login} --json").answer["node"]["evidence"]] == ["the key is in the safe"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("show zzz", (3, "not_found")),
        ("done", (2, "usage")),
        ("next --foo", (2, "usage")),
        ("ls everything", (2, "usage")),
        ("ls --limit many", (2, "usage")),
        ("add", (2, "usage")),
        ("add --priority high x", (2, "usage")),
        ("next --json=yes", (2, "usage")),
        ("rm x", (2, "usage")),
        ("undo 99.9", (3, "not_found")),
        ("show -", (2, "usage")),
        ("next --project nowhere", (3, "not_found")),
    ],
)
def test_a_wrong_line_says_what_is_wrong_and_changes_nothing(pl: ShortWords, line: str, code: tuple[int, str]) -> None:
    assert pl(f"{line} --json").error == code
    assert len(pl.lines("log")) > 0


def test_synonyms_work_and_words_of_other_tools_name_the_right_one(pl: ShortWords) -> None:
    login = pl.add("Login")
    assert pl("list").out == pl("ls").out
    assert pl("ready").out == pl("next").out
    assert pl(f"close {login}").code == 0
    assert "drop ID" in pl("delete x").err


def test_outside_of_a_plan_a_sentence_names_init(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDPLAN_DB")
    ended = run("next")

    assert (ended.code, ended.out) == (7, "")
    assert "groundplan init" in ended.err
    assert list(Path().iterdir()) == []


def test_a_title_cannot_send_escape_sequences_to_the_terminal(pl: ShortWords) -> None:
    pl.add("evil \u202e title")
    for line in ("ls", "next", "board", "tree", "find evil", "log"):
        assert "\u202e" not in pl(line).out


def test_what_a_long_view_of_a_task_leaves_out_is_shown_by_the_command_that_it_prints(pl: ShortWords) -> None:
    phase = pl.add("Phase")
    nodes = [{"ref": str(n), "summary": f"step {n} {'x' * 120}", "parent_ref": phase} for n in range(700)]
    assert pl("work plan --nodes", json.dumps(nodes)).code == 0

    shown = pl(f"show {phase}").out.splitlines()
    rest = pl(shown[-1].removeprefix("groundplan "))

    steps = sum("step " in line for line in shown)
    assert 300 < steps < 700
    assert f"Not shown: {700 - steps} children" in shown
    assert rest.code == 0
    assert f"step {steps} " in rest.out
    assert "step 699 " in rest.out


def test_evidence_of_a_finish_that_was_taken_back_is_shown_as_undone(pl: ShortWords) -> None:
    task = pl.add("Sign in")
    pl(f"done {task} -e test:green")
    pl("undo")

    shown, line = pl(f"show {task}").out, pl(f"why {task}").out

    assert "test: green undone" in shown
    assert "test: green undone" in line


def test_undo_takes_the_last_change_back(pl: ShortWords) -> None:
    login = pl.add("Login")
    pl(f"done {login}")
    assert pl("undo --dry-run").code == 0
    assert pl("undo").code == 0
    assert pl.lines("ls")[0].split()[1] == login


def test_options_may_stand_before_the_word(pl: ShortWords, run: Run) -> None:
    pl.add("Login")
    assert run("--person", "ben", "--json", "next").answer == pl("next --json").answer
    assert run("--project", "nowhere", "next").code == 3


def test_every_word_explains_itself(pl: ShortWords) -> None:
    for word in WORDS:
        page = " ".join(pl(f"{word.words[0]} --help").out.split())
        assert word.summary in page
        assert all(option.names[0] in page for option in word.options)


def test_a_plain_configuration_is_read_as_yaml_reads_it() -> None:
    import yaml

    from groundplan.configuration import read_plain_entries

    plain = "# a comment\ndb_path: plan.db\nproject: 'water plan'\n\naccess: open\n"
    entries = read_plain_entries(plain)
    assert entries is not None
    assert {key: value for key, value, _ in entries} == yaml.safe_load(plain)
    assert [line for *_, line in entries] == [2, 3, 5]
    for other in ("a: [1]", "a: 1", "a: yes", "a:", "a: b # c", "a: 'it''s'", "- a", "a: b: c", " a: b", 'a: "b"'):
        assert read_plain_entries(other) is None or read_plain_entries(other) == [
            (key, value, 1) for key, value in yaml.safe_load(other).items()
        ]
