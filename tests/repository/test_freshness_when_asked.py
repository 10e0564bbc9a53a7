"""Where a repository is known, atoms are compared with git when they are read; nobody has to check first."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.preferences import Preferences
from groundplan.knowledge import freshness
from groundplan.repository import git
from groundplan.repository.git import WorkingCopy as KnownCopy
from groundplan.session import Session
from tests.answers import to_json
from tests.engines import Engine
from tests.repository.working_copy import NOBODY_S_SETTINGS, PlanOfCopy, WorkingCopy

pytestmark = pytest.mark.slow  # every test starts git

PATIENCE_S = 60.0  # a busy machine may take longer than an answer waits
ADA = local_actor("ada", kind=ActorKind.PERSON)
ELSEWHERE = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _clean_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def repository_template(tmp_path_factory: pytest.TempPathFactory) -> WorkingCopy:
    copy = WorkingCopy(tmp_path_factory.mktemp("pattern") / "copy")
    copy.commit({"src/app.ts": "1", "src/pages/home.ts": "1", "docs/a.md": "1"})
    return copy


@pytest.fixture
def plan(engine: Engine, tmp_path: Path, repository_template: WorkingCopy) -> PlanOfCopy:
    """Ada's project, read beside a repository with three files."""
    return PlanOfCopy.create(beside(engine, tmp_path / "copy"), repository_template.copy_to(tmp_path / "copy"))


def beside(engine: Engine, folder: Path, *, limit_s: float = PATIENCE_S) -> Session:
    """Return a session of Ada's that knows the repository of a folder."""
    copy = KnownCopy(str(folder), starts_at_root=True, is_chosen=True, limit_s=limit_s)
    return Session(engine.store, ADA, preferences=Preferences(working_copy=copy))


def get_freshness(session: Session, atom_id: str) -> Any:
    atom = session.call("knowledge.get", entityType="atom", id=atom_id, includeChangelog=False).atom
    return to_json(atom).get("freshness")


def ask_context(session: Session, *paths: str) -> dict[str, Any]:
    known = session.call("knowledge.context", projectId="atlas", paths=list(paths), includeChangelog=False)
    return {atom.name: to_json(atom).get("freshness") for atom in known.orphan_atoms}


def test_a_changed_file_is_told_with_the_commits_that_changed_it(plan: PlanOfCopy) -> None:
    first = plan.copy.head
    atom = plan.atom("app", "src/*.ts", at=first)
    second = plan.copy.commit({"src/app.ts": "2"})
    plan.copy.commit({"docs/a.md": "2"})
    third = plan.copy.commit({"src/app.ts": "3", "docs/a.md": "3"})

    told = get_freshness(plan.session, atom)

    assert told.pop("checkedAt")
    assert told == {
        "state": "changed",
        "commit": first,
        "files": ["src/app.ts"],
        "behind": 2,
        "commits": [third, second],
    }
    assert ask_context(plan.session, "src/app.ts")["app"]["behind"] == 2


def test_each_atom_has_its_own_state_in_one_answer(plan: PlanOfCopy) -> None:
    first = plan.copy.head
    plan.atom("fresh", "docs/**", at=first)
    plan.atom("never", "src/pages/**")
    plan.atom("gone", "legacy/**", at=first)
    plan.atom("changed", "src/app.ts", at=first)
    plan.atom("foreign", "src/app.ts", at=ELSEWHERE)
    second = plan.copy.commit({"src/app.ts": "2"})
    plan.atom("confirmed since", "src/**", at=second)

    states = {name: told["state"] for name, told in ask_context(plan.session, ".").items()}

    assert states == {
        "fresh": "fresh",
        "never": "unanchored",
        "gone": "orphaned",
        "changed": "changed",
        "foreign": "unanchored",
        "confirmed since": "fresh",
    }


def test_a_reading_agrees_with_a_check(plan: PlanOfCopy) -> None:
    first = plan.copy.head
    for number, (pattern, at) in enumerate(
        [("src/**", first), ("**/*.md", first), ("docs/[ab].md", None), ("src/app.ts", first), ("nothing/*", first)]
    ):
        plan.atom(str(number), pattern, at=at)
    plan.copy.commit({"src/pages/home.ts": None, "src/pages/shop.ts": "1"})
    second = plan.copy.commit({"docs/a.md": "2"})
    plan.atom("later", "docs/**", at=second)
    plan.copy.commit({"docs/a.md": "1"})

    read = {name: told["state"] for name, told in ask_context(plan.session, ".").items()}

    assert read == plan.states()


def test_the_atoms_of_a_molecule_and_a_briefing_are_compared_too(plan: PlanOfCopy) -> None:
    atom = plan.atom("app", "src/app.ts", at=plan.copy.head)
    task = plan.task("Change the app")
    molecule = plan.session.call(
        "knowledge.create", entityType="molecule", projectId="atlas", name="all", createdByTaskId=task
    ).molecule
    plan.session.call("knowledge.update", entityType="atom", id=atom, version=2, moleculeId=molecule.id)
    plan.session.call("work.update", updates=[{"node_id": task, "add_context_links": ["src/app.ts"]}])
    plan.copy.commit({"src/app.ts": "2"})

    (member,) = plan.session.call("knowledge.get", entityType="molecule", id=molecule.id).atoms
    (note,) = plan.session.call("work.context", node_id=task, budget=800).briefing.knowledge

    assert member.freshness.state == note.freshness.state == "changed"
    assert note.freshness.behind == 1


def test_a_stored_check_is_shown_where_no_repository_is_known(engine: Engine, plan: PlanOfCopy) -> None:
    atom = plan.atom("app", "src/app.ts", at=plan.copy.head)
    plan.check()
    plan.copy.commit({"src/app.ts": "2"})
    elsewhere = Session(engine.store, ADA)

    assert get_freshness(elsewhere, atom)["state"] == "fresh"
    assert get_freshness(plan.session, atom)["state"] == "changed"


def test_a_write_starts_no_git_but_to_resolve_head(plan: PlanOfCopy, monkeypatch: pytest.MonkeyPatch) -> None:
    atom = plan.atom("app", "src/app.ts", at=plan.copy.head)

    def refuse(*_: object) -> None:
        raise AssertionError("a write compared files")

    monkeypatch.setattr(git.Repository, "compare_with_head", refuse)
    plan.session.call("knowledge.update", entityType="atom", id=atom, version=2, knowledge="new")


def test_git_that_does_not_answer_in_time_leaves_atoms_not_checked(engine: Engine, plan: PlanOfCopy) -> None:
    first = plan.copy.head
    atom = plan.atom("app", "src/app.ts", at=first)
    plan.atom("never", "src/app.ts")
    plan.check()
    hasty = beside(engine, plan.copy.folder, limit_s=0.0)

    told = get_freshness(hasty, atom)

    assert (told["state"], told["commit"]) == ("not_checked", first)
    states = {name: told["state"] for name, told in ask_context(hasty, "src/app.ts").items()}
    assert states == {"app": "not_checked", "never": "unanchored"}


def test_very_many_files_leave_atoms_not_checked(plan: PlanOfCopy, monkeypatch: pytest.MonkeyPatch) -> None:
    atom = plan.atom("none of them", "src/**/*.py", at=plan.copy.head)
    monkeypatch.setattr(freshness, "FILES_COMPARED_MAX", 1)

    assert get_freshness(plan.session, atom)["state"] == "not_checked"


def test_very_many_commits_are_not_counted(plan: PlanOfCopy, monkeypatch: pytest.MonkeyPatch) -> None:
    atom = plan.atom("app", "src/app.ts", at=plan.copy.head)
    for text in ("2", "3"):
        plan.copy.commit({"src/app.ts": text})
    monkeypatch.setattr(git, "LATER_COMMITS_MAX", 1)

    told = get_freshness(plan.session, atom)

    assert told["state"] == "changed"
    assert {"behind", "commits"}.isdisjoint(told)


@pytest.mark.parametrize("trouble", ["gone", "without a commit", "broken"])
def test_a_repository_in_trouble_leaves_atoms_not_checked(engine: Engine, plan: PlanOfCopy, trouble: str) -> None:
    atom = plan.atom("app", "src/app.ts", at=plan.copy.head)
    session = beside(engine, plan.copy.folder)
    assert get_freshness(session, atom)["state"] == "fresh"
    if trouble == "gone":
        shutil.rmtree(plan.copy.folder)
    elif trouble == "without a commit":
        plan.copy.git("update-ref", "-d", "HEAD")
    else:
        shutil.rmtree(plan.copy.folder / ".git" / "objects")

    assert get_freshness(session, atom)["state"] == "not_checked"
    assert refusal(session, atom, "HEAD").code == "head_unknown"


def test_a_shallow_clone_knows_only_its_own_commits(engine: Engine, plan: PlanOfCopy, tmp_path: Path) -> None:
    first = plan.copy.head
    old = plan.atom("old", "src/app.ts", at=first)
    second = plan.copy.commit({"docs/a.md": "2"})
    new = plan.atom("new", "docs/**", at=second)
    plan.copy.git("clone", "--quiet", "--depth=1", f"file://{plan.copy.folder}", str(tmp_path / "shallow"))
    session = beside(engine, tmp_path / "shallow")

    assert get_freshness(session, old)["state"] == "unanchored"
    assert get_freshness(session, new)["state"] == "fresh"


def test_beside_another_repository_a_stored_check_is_shown(engine: Engine, plan: PlanOfCopy, tmp_path: Path) -> None:
    confirmed = plan.atom("confirmed", "src/app.ts", at=plan.copy.head)
    plan.atom("never", "docs/**")
    other = WorkingCopy(tmp_path / "other")
    other.commit({"readme.txt": "1"})
    session = beside(engine, other.folder)

    assert get_freshness(session, confirmed) is None
    plan.check()

    assert get_freshness(session, confirmed)["state"] == "fresh"
    assert {name: told["state"] for name, told in ask_context(session, "src/app.ts", "docs/a.md").items()} == {
        "confirmed": "fresh",
        "never": "unanchored",
    }


def test_a_name_in_the_plan_is_no_pattern_and_no_option_to_git(plan: PlanOfCopy) -> None:
    first = plan.copy.commit({"--all/a.ts": "1", ":(top)x.ts": "1"})
    ids = [plan.atom(name, name, at=first) for name in ("--all/a.ts", ":(top)x.ts", "--all/**")]
    plan.copy.commit({"--all/a.ts": "2", ":(top)x.ts": "2"})

    assert [get_freshness(plan.session, atom)["state"] for atom in ids] == ["changed"] * 3


def test_head_confirms_at_the_commit_that_is_checked_out(engine: Engine, plan: PlanOfCopy) -> None:
    atom = plan.atom("app", "src/app.ts")
    head = plan.copy.commit({"src/app.ts": "2"})

    confirmed = plan.session.call("knowledge.update", entityType="atom", id=atom, version=1, confirm="HEAD").atom

    assert confirmed.confirmed == head
    assert get_freshness(plan.session, atom)["state"] == "fresh"
    assert refusal(Session(engine.store, ADA), atom, "HEAD").code == "head_unknown"
    assert refusal(plan.session, atom, "HEAD~1").code == "invalid_argument"


def refusal(session: Session, atom: str, commit: str) -> GroundplanError:
    version = session.call("knowledge.get", entityType="atom", id=atom).atom.version
    confirm = partial(session.call, "knowledge.update", entityType="atom", id=atom, version=version, confirm=commit)
    with pytest.raises(Invalid) as refused:
        confirm()
    return refused.value
