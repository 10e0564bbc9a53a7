"""Confirming records the commit of a review, and later checks start from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import Forbidden, Invalid, NotFound
from groundplan.repository.check import AmbiguousAtom, Confirmation, confirm
from groundplan.repository.git import NoCommit
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.repository.working_copy import NOBODY_S_SETTINGS, PlanOfCopy, WorkingCopy

pytestmark = pytest.mark.slow  # every test starts git


@pytest.fixture(autouse=True)
def _clean_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def repository_template(tmp_path_factory: pytest.TempPathFactory) -> WorkingCopy:
    copy = WorkingCopy(tmp_path_factory.mktemp("pattern") / "copy")
    copy.commit({"src/app.ts": "1", "docs/a.md": "1"})
    copy.commit({"src/app.ts": "2"})
    return copy


@pytest.fixture
def plan(engine: Engine, tmp_path: Path, repository_template: WorkingCopy) -> PlanOfCopy:
    """Ada's project beside a repository with two commits, and two unconfirmed atoms."""
    fill_once(engine, fill)
    return PlanOfCopy(ada_session(engine), repository_template.copy_to(tmp_path / "copy"))


def fill(engine: Engine) -> None:
    nowhere = cast(WorkingCopy, None)  # nothing is compared yet
    plan = PlanOfCopy.create(ada_session(engine), nowhere)
    plan.atom("app", "src/**")
    plan.atom("the docs", "docs/**")


def ada_session(engine: Engine) -> Session:
    return Session(engine.store, local_actor("ada", kind=ActorKind.PERSON))


def confirm_atoms(plan: PlanOfCopy, *refs: str, **options: Any) -> Confirmation:
    return confirm(plan.session, plan.project, plan.copy.folder, refs, **options)


def commits(plan: PlanOfCopy) -> dict[str, str | None]:
    """Return the commit of each atom's confirmation."""
    return {name: atom.confirmed or None for name, atom in plan.list_atoms().items()}


def test_what_was_confirmed_at_head_is_fresh(plan: PlanOfCopy) -> None:
    done = confirm_atoms(plan, "app")

    assert [(atom.name, atom.version) for atom in done.confirmed] == [("app", 2)]
    assert commits(plan) == {"app": plan.copy.head, "the docs": None}
    assert plan.states() == {"app": "fresh", "the docs": "unanchored"}


@pytest.mark.parametrize("spelled", [str, str.upper, lambda id_: id_.replace("-", "")], ids=["id", "upper", "undashed"])
def test_an_atom_is_named_by_its_id_however_it_is_spelled(plan: PlanOfCopy, spelled: Any) -> None:
    done = confirm_atoms(plan, spelled(plan.list_atoms()["app"].id))

    assert [atom.name for atom in done.confirmed] == ["app"]


def test_several_may_be_named_and_twice_is_once(plan: PlanOfCopy) -> None:
    done = confirm_atoms(plan, "the docs", "app", "app", plan.list_atoms()["app"].id)

    assert [atom.name for atom in done.confirmed] == ["the docs", "app"]


def test_all_means_every_atom(plan: PlanOfCopy) -> None:
    confirm_atoms(plan, every=True)

    assert set(commits(plan).values()) == {plan.copy.head}


def test_a_revision_is_kept_as_the_whole_id_of_its_commit(plan: PlanOfCopy) -> None:
    first = plan.copy.git("rev-parse", "HEAD~1")

    assert confirm_atoms(plan, "app", revision=first[:8]).commit == first
    assert commits(plan)["app"] == first
    assert plan.states()["app"] == "changed"


def test_what_was_confirmed_there_before_is_left_alone(plan: PlanOfCopy) -> None:
    confirm_atoms(plan, "app")

    done = confirm_atoms(plan, every=True)

    assert [atom.name for atom in done.confirmed] == ["the docs"]
    assert [(atom.name, atom.version) for atom in done.unchanged] == [("app", 2)]
    assert plan.list_atoms()["app"].version == 2


def test_the_task_in_which_somebody_looked_is_remembered(plan: PlanOfCopy) -> None:
    task = plan.task("Look at the app")

    done = confirm_atoms(plan, "app", task=task)

    atom = plan.session.call("knowledge.get", entityType="atom", id=done.confirmed[0].id).atom
    assert atom.last_task_id == task


def test_where_one_is_not_found_none_is_touched(plan: PlanOfCopy) -> None:
    for wrong in ("the doc", "00000000-0000-4000-8000-000000000000"):
        with pytest.raises(NotFound):
            confirm_atoms(plan, "app", wrong)
    with pytest.raises(NotFound):
        confirm_atoms(plan, "app", revision="missing")

    assert commits(plan) == {"app": None, "the docs": None}


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(plan: PlanOfCopy) -> None:
    with pytest.raises(NotFound) as refused:
        confirm_atoms(plan, "the doc")

    assert refused.value.details["near"] == ["the docs"]


def test_a_name_that_two_atoms_have_names_none_of_them(plan: PlanOfCopy) -> None:
    other = plan.atom("app", "lib/**")

    with pytest.raises(AmbiguousAtom) as refused:
        confirm_atoms(plan, "app")

    assert other in refused.value.details["ids"]
    assert [atom.id for atom in confirm_atoms(plan, other).confirmed] == [other]


def test_no_atom_is_not_every_atom(plan: PlanOfCopy) -> None:
    with pytest.raises(Invalid) as refused:
        confirm_atoms(plan)

    assert refused.value.code == "no_atoms"
    assert set(commits(plan).values()) == {None}


def test_a_viewer_may_not_confirm(plan: PlanOfCopy) -> None:
    with pytest.raises(Forbidden):
        confirm_atoms(plan.by("cleo", "viewer"), "app")


def test_without_a_commit_there_is_nothing_to_confirm_at(plan: PlanOfCopy, tmp_path: Path) -> None:
    with pytest.raises(NoCommit):
        confirm(plan.session, plan.project, WorkingCopy(tmp_path / "empty").folder, ["app"])


class InterruptedSession(Session):
    """A session in which another actor writes just before each of the first updates."""

    def __init__(self, session: Session, times: int) -> None:
        super().__init__(session.store, session.actor)
        self._times = times

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "knowledge.update" and self._times:
            self._times -= 1
            other = {"entityType": "atom", "id": arguments["id"], "version": arguments["version"]}
            super().call("knowledge.update", **other, knowledge=f"what Ben found {self._times}")
        return super().call(operation, **arguments)


def test_an_atom_that_somebody_changes_meanwhile_is_not_confirmed_for_nobody_has_seen_what_it_says_now(
    plan: PlanOfCopy,
) -> None:
    disturbed = PlanOfCopy(InterruptedSession(plan.session, times=1), plan.copy)

    done = confirm_atoms(disturbed, "app", "the docs")

    assert ([atom.name for atom in done.changed], [atom.name for atom in done.confirmed]) == (["app"], ["the docs"])
    atom = plan.session.call("knowledge.get", entityType="atom", id=done.changed[0].id).atom
    assert (atom.version, atom.knowledge) == (2, "what Ben found 0")
    assert commits(plan) == {"app": None, "the docs": plan.copy.head}


def test_an_id_tells_the_project_by_itself_and_a_name_does_not(plan: PlanOfCopy) -> None:
    listed = plan.session.call("knowledge.list", projectId=plan.project).atoms
    app = next(atom.id for atom in listed if atom.name == "app")

    done = confirm(plan.session, None, plan.copy.folder, [app, "the docs"])

    assert [atom.name for atom in done.confirmed] == ["app", "the docs"]
    for refs in ([], ["app"]):
        with pytest.raises(Invalid) as refused:
            confirm(plan.session, None, plan.copy.folder, refs, every=True)
        assert refused.value.code == "no_project"
