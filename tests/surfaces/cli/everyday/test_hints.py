"""Hints to people who use the short words use short words, under the name that they typed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from groundplan.__main__ import main
from groundplan.catalog import OPERATIONS
from groundplan.commands import find_command
from groundplan.surfaces.cli.everyday.hints import HINTS, HINTS_OF_EFFECTS, WordVocabulary
from groundplan.surfaces.cli.program_name import get_program_name
from tests.house.test_vocabulary import steps_in_sources
from tests.surfaces.cli.everyday.conftest import ShortWords


@pytest.fixture
def typed_as_pl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/usr/bin/pl"])


@pytest.mark.usefixtures("typed_as_pl")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("show zzzzzz", "pl find WORDS finds nodes by text"),
        ("show", "see pl show --help"),
        ("ls --nothing", "see pl ls --help"),
    ],
)
def test_an_error_after_a_short_word_names_short_words(pl: ShortWords, line: str, expected: str) -> None:
    ended = pl(line)

    assert ended.code != 0
    assert expected in ended.err
    assert "groundplan" not in ended.err


@pytest.mark.usefixtures("typed_as_pl")
def test_a_task_without_required_evidence_says_how_done_adds_it(pl: ShortWords) -> None:
    task = pl.add("Draw the map")
    pl("work open repo --policies", '{"evidence": "require"}')

    assert "pl done ID -e TYPE:REF adds it" in pl(f"done {task}").err
    assert pl(f"done {task} -e commit:9f2ab1").code == 0


@pytest.mark.usefixtures("typed_as_pl")
def test_an_empty_list_says_how_to_add_a_task(pl: ShortWords) -> None:
    assert 'pl add "what is to be done"' in pl("ls").out
    assert 'pl add "what is to be done"' in pl("next").out


def test_a_long_command_still_gets_long_commands(pl: ShortWords) -> None:
    assert "groundplan work query finds nodes by text" in pl("work context zzzzzz").err


def test_a_misspelled_word_is_answered_with_the_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nxt"]) == 2
    assert "did you mean next?" in capsys.readouterr().err


def test_the_name_is_the_one_that_was_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "groundplan").touch()
    (tmp_path / "p").symlink_to(tmp_path / "groundplan")
    names = {"/usr/bin/pl": "pl", str(tmp_path / "p"): "p", "/x/__main__.py": "groundplan", "-c": "groundplan"}
    for started, expected in names.items():
        monkeypatch.setattr("sys.argv", [started])
        assert get_program_name() == expected


def test_every_hint_is_a_word_and_of_an_operation() -> None:
    for operation, hint in [*HINTS.items(), *((name, hint) for (name, _), hint in HINTS_OF_EFFECTS.items())]:
        assert operation in OPERATIONS or operation == "work.claim"
        assert find_command(hint.line.split()[0]), hint.line


def test_every_effect_with_its_own_hint_is_one_of_a_step() -> None:
    steps = set()
    for _, call in steps_in_sources():
        texts = [one.value for one in call.args[:2] if isinstance(one, ast.Constant)]
        steps.add(tuple(texts))
    assert HINTS_OF_EFFECTS.keys() <= steps


def test_an_operation_without_a_word_is_named_by_its_command() -> None:
    assert WordVocabulary().spell("purpose.draft", {"project": "atlas"}) == "groundplan purpose draft --project atlas"
