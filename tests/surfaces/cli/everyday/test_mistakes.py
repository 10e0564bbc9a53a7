"""Provoked mistakes at the terminal: each is answered with what is wrong and what to write instead."""

from __future__ import annotations

import shlex
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import Run
from tests.surfaces.cli.everyday.conftest import ShortWords


@pytest.fixture
def plan(pl: ShortWords) -> ShortWords:
    """Return the short words in a plan with tasks that have similar titles, and a finished one."""
    for title in ("Alpha", "Alpha two", "Beta", "Gone"):
        pl.add(title)
    assert pl("done Gone").code == 0
    return pl


def find_id(plan: ShortWords, title: str) -> str:
    return next(line.split()[1] for line in plan.lines("ls") if line.endswith(title))


Mistake = tuple[str, tuple[int, str], str]  # the line, exit status and code, and words that the answer must have


def check(plan: ShortWords, mistake: Mistake) -> None:
    line, expected, words = mistake
    before = plan("log --json").out

    refused = plan("", *shlex.split(line))

    code = refused.err.rpartition("(")[2].rstrip(")\n")
    assert (refused.code, code) == expected, refused
    assert words in refused.err
    assert plan("log --json").out == before


@pytest.mark.parametrize(
    "mistake",
    [
        ("help plan extra", (2, "usage"), "see groundplan help plan"),
        ("help tsaks", (2, "usage"), "did you mean tasks?"),
        ("task list", (2, "usage"), "; ls lists tasks"),
        ("issues", (2, "usage"), "; ls lists tasks"),
        ("knowledge add text --path a", (2, "usage"), "did you mean knowledge create?"),
        ("project rm x", (2, "usage"), "did you mean project archive?"),
        ("org member create x", (2, "usage"), "did you mean org member add?"),
        ("work conect", (2, "usage"), "did you mean connect?"),
        ("rename Beta Bet", (2, "usage"), "; edit ID"),
        ("connect claude", (2, "usage"), "; init --client claude"),
        ("Alpha show", (2, "usage"), "did you mean show Alpha?"),
        ("move Beta --under Alpha", (2, "usage"), '"op": "move"'),
        ("mv Beta Alpha", (2, "usage"), '"op": "move"'),
        ("web", (2, "usage"), "; serve shows"),
        ("ui", (2, "usage"), "; serve shows"),
        ("login", (2, "usage"), "; serve prints the link"),
        ("version", (2, "usage"), "; --version"),
        ("whoami", (2, "usage"), "; where"),
        ("config", (2, "usage"), "; where"),
        ("stop Beta", (2, "usage"), "; take ID --off"),
        ("assign Beta ben", (2, "usage"), "; take ID"),
        ("info Beta", (2, "usage"), "; show ID"),
        ("h", (2, "usage"), "; help"),
        ("backup", (2, "usage"), ".backup COPY"),
        ("snapshot x", (2, "usage"), ".backup COPY"),
    ],
    ids=lambda mistake: mistake[0],
)
def test_a_word_that_is_no_command_leads_to_the_one_that_was_meant(plan: ShortWords, mistake: Mistake) -> None:
    check(plan, mistake)


@pytest.mark.parametrize(
    "mistake",
    [
        ("add ' '", (2, "usage"), "TITLE is empty"),
        ("add X -m ''", (2, "usage"), "--message is empty"),
        ("note Beta ''", (2, "usage"), "TEXT is empty"),
        ("drop Beta -m ' '", (2, "usage"), "--message is empty"),
        ("done Beta -e ''", (2, "usage"), "--evidence is empty"),
        ("log --cursor x", (2, "invalid_cursor"), "--cursor does not belong"),
        ("add X --serves nope", (3, "unknown_key"), "--serves: no purpose key"),
        ("add X --tag ''", (2, "usage"), "--tag is empty"),
        ("add X --under ''", (2, "usage"), "--under is empty"),
        ("add 'bad \udcff'", (2, "invalid_text"), "TITLE is not UTF-8"),
        ("add X -m 'bad \udcff'", (2, "invalid_text"), "--message is not UTF-8"),
        ("note Beta 'bad \udcff'", (2, "invalid_text"), "TEXT is not UTF-8"),
        ("show ''", (2, "usage"), "ID is empty"),
        ("find ''", (2, "usage"), "WORDS is empty"),
        ("next -n -1", (2, "invalid_argument"), "--limit must be a whole number, at least 1 and at most 50"),
        ("next -n 0", (2, "invalid_argument"), "--limit must be a whole number, at least 1 and at most 50"),
        ("log -n 0", (2, "invalid_argument"), "--limit must be a whole number, at least 1 and at most 200"),
        ("board -n 0", (2, "invalid_argument"), "--limit must be a whole number, at least 1"),
        ("task create", (2, "missing_argument"), "TITLE is missing"),
        ("token create", (2, "invalid_argument"), "--name is missing"),
        ("add X --priority 1e999", (2, "usage"), "--priority must be a number"),
        ("work plan --nodes '[{}]'", (2, "missing_argument"), "--nodes[0].ref is missing"),
        ("add Foo --project p9", (3, "not_found"), "project list lists the projects"),
        ("undo 999.0", (3, "not_found"), "groundplan log lists the changes"),
    ],
    ids=lambda mistake: mistake[0],
)
def test_a_refusal_of_an_operation_names_the_argument_of_the_command(plan: ShortWords, mistake: Mistake) -> None:
    check(plan, mistake)


@pytest.mark.parametrize(
    "mistake",
    [
        ("add Foo --prio 3", (2, "usage"), "did you mean --priority?"),
        ("add --title x", (2, "usage"), "did you mean TITLE?"),
        ("ls --all", (2, "usage"), "did you mean all?"),
        ("watch", (2, "usage"), "with --watch"),
        ("section add X", (2, "usage"), "--type is missing: PROJECT,"),
        ("org rename", (2, "usage"), "NAME is missing"),
        ("export --to markdown --out nope/a.md", (2, "usage"), "No such file or directory"),
        ("export --to backlog --out nope/a", (2, "usage"), "No such file or directory"),
        ("context set size 42", (2, "usage"), "did you mean /size?"),
        ("context set size", (2, "usage"), "did you mean /size?"),
        ("context set /q/x", (2, "usage"), "give a VALUE"),
        ("context set /q/x --kind number abc", (2, "usage"), "must be a number"),
        ("context set q", (2, "usage"), "did you mean /q?"),
        ("context set /q/x --rationale why", (2, "usage"), "give a VALUE"),
        ("show a", (2, "ambiguous_title"), "needs its first 3 characters"),
        ("show zz", (3, "not_found"), "the first 3 characters"),
        ("show zz-alpha", (3, "not_found"), "finds nodes by text"),
        ("add Foo \N{EN DASH}p 3", (2, "usage"), "did you mean -p?"),
        ("add Foo \N{EM DASH}tag=x", (2, "usage"), "did you mean --tag?"),
        ("done Beta -e :x", (2, "usage"), "lacks a type"),
        ("done Beta -e commit:", (2, "usage"), "lacks a reference"),
        ("take Gone --off", (5, "stale_claim"), "--off reopens it"),
        ("op work.frobnicate", (2, "usage"), "work.next"),
        ("op foo.bar", (2, "usage"), "briefing.…"),
        ("context set", (2, "usage"), "POINTER is missing: the JSON Pointer"),
        ("import todo.md", (2, "usage"), "--from is missing: beads,"),
        ("context view /n", (2, "usage"), "--pointer TEXT"),
        ("init --db /proc/plan.db", (7, "store_cannot_open"), "beside 'plan.db'"),
    ],
    ids=lambda mistake: mistake[0],
)
def test_a_place_or_a_value_that_cannot_be_meant_is_refused_with_what_can(plan: ShortWords, mistake: Mistake) -> None:
    check(plan, mistake)
    assert not Path("nope").exists()
    assert plan("context list").out.startswith("No ")


def test_a_task_is_found_however_people_write_its_id(plan: ShortWords) -> None:
    beta = find_id(plan, "Beta")
    for written in (beta.upper(), f"#{beta}", f"plan-{beta}", f"Repo-Plan-{beta.upper()}", f"#{beta[:3]}"):
        assert plan("show", written).out.split()[1] == beta


def test_what_changed_less_than_was_meant_is_told(plan: ShortWords) -> None:
    assert "did not wait for" in plan("block Beta --on Alpha --off").out
    assert "Kept as a note" in plan("done Beta -e green").out
    assert "Kept as a note" not in plan("done Beta -e note:green -e test:unit -m green").out
    assert plan("ls --tag nope").out.startswith("No such tasks.")
    assert "is the file of the database" in plan("init myproject").err


def test_dropping_what_is_done_says_that_nothing_changed(plan: ShortWords) -> None:
    before = plan("show Gone").out

    dropped = plan("drop Gone -m why")

    assert (dropped.code, dropped.out[0]) == (0, "✓")
    assert "nothing changed" in dropped.out
    assert plan("show Gone").out == before


@pytest.mark.parametrize("command", ["ls", "doctor", "project list"])
def test_an_empty_file_is_named_and_stays_empty(plan: ShortWords, command: str) -> None:
    file = Path(".groundplan/plan.db")
    for companion in Path(".groundplan").glob("plan.db-*"):
        companion.unlink()
    file.write_bytes(b"")

    refused = plan(command)

    assert refused.code == 7
    assert "is empty" in refused.out + refused.err
    assert file.stat().st_size == 0
    assert plan("init").code == 0
    assert plan("ls").code == 0


def test_a_configuration_without_a_plan_is_named_with_the_plan_that_it_hides(
    plan: ShortWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("part").mkdir()
    Path("part/groundplan.yaml").touch()
    monkeypatch.chdir("part")

    refused = plan("ls")

    assert refused.code == 7
    assert "'groundplan.yaml' names no db_path" in refused.err
    assert "/repo/.groundplan/groundplan.yaml is not used" in refused.err


def test_where_names_no_file_that_does_not_exist(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GROUNDPLAN_DB")

    assert run("where", "--json").answer["database"] == {"value": None, "source": "no plan here or above"}


@pytest.mark.parametrize(
    "line", ["knowledge create K --type atom --knowledge x --path a --task Beta", "purpose ask Q? --about Beta"]
)
def test_where_only_an_id_is_taken_a_title_is_answered_with_its_id(plan: ShortWords, line: str) -> None:
    beta = find_id(plan, "Beta")

    refused = plan("", *shlex.split(line))

    assert refused.code == 3
    assert f"{beta} has this title" in refused.err


@pytest.mark.parametrize("line", ["note Beta -", "edit Beta -f -"])
def test_a_dash_reads_the_text_from_standard_input(
    plan: ShortWords, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    text = "---\ntitle: Beta\n---\nIt works as ünchanged.\n"
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode()), encoding="ascii"))
    assert plan(line).code == 0
    assert "It works as ünchanged." in plan("show Beta").out

    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b" " * 2_000_000)))
    refused = plan(line, "--json")
    assert (*refused.error, "more than 1048576 bytes" in refused.err) == (2, "too_large", True)


def test_a_synonym_that_help_names_finishes_the_task(plan: ShortWords) -> None:
    assert plan("complete Beta").out.startswith("✓")
    assert "Beta" not in plan("ls").out
