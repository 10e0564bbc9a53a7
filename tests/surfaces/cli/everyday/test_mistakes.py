"""Provoked mistakes at the terminal: each is answered with what is wrong and what to write instead."""

from __future__ import annotations

import shlex
from io import BytesIO, TextIOWrapper

import pytest

from tests.surfaces.cli.everyday.conftest import ShortWords


@pytest.fixture
def plan(pl: ShortWords) -> ShortWords:
    """Return the short words in a plan with tasks that have similar titles, and a finished one."""
    for title in ("Alpha", "Alpha two", "Beta", "Gone"):
        pl.add(title)
    assert pl("done Gone").code == 0
    return pl


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
        ("add ''", (2, "invalid_argument"), "TITLE is empty"),
        ("add X --tag ''", (2, "usage"), "--tag is empty"),
        ("add X --under ''", (2, "usage"), "--under is empty"),
        ("add 'bad \udcff'", (2, "invalid_text"), "TITLE is not UTF-8"),
        ("add X -m 'bad \udcff'", (2, "invalid_text"), "--message is not UTF-8"),
        ("note Beta 'bad \udcff'", (2, "invalid_text"), "TEXT is not UTF-8"),
        ("show ''", (2, "usage"), "ID is empty"),
        ("find ''", (2, "invalid_argument"), "WORDS is empty"),
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
    "line", ["knowledge create K --type atom --knowledge x --path a --task Beta", "purpose ask Q? --about Beta"]
)
def test_where_only_an_id_is_taken_a_title_is_answered_with_its_id(plan: ShortWords, line: str) -> None:
    beta = next(one.split()[1] for one in plan.lines("ls") if one.endswith("Beta"))

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
