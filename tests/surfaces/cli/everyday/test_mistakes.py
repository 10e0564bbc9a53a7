"""Provoked mistakes at the terminal: each is answered with what is wrong and what to write instead."""

from __future__ import annotations

import shlex

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


def test_a_synonym_that_help_names_finishes_the_task(plan: ShortWords) -> None:
    assert plan("complete Beta").out.startswith("✓")
    assert "Beta" not in plan("ls").out
