"""Confirming says at which commit somebody has looked, and a check goes on from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import Forbidden, Invalid, NotFound
from groundplan.repository.confirm import AmbiguousAtom, Confirmation, confirm
from groundplan.repository.git import NoCommit
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.repository.working_copy import NOBODY_S_SETTINGS, PlanBeside, WorkingCopy

pytestmark = pytest.mark.slow  # every test starts git


@pytest.fixture(autouse=True)
def _without_the_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> WorkingCopy:
    copy = WorkingCopy(tmp_path_factory.mktemp("pattern") / "copy")
    copy.commit({"src/app.ts": "1", "docs/a.md": "1"})
    copy.commit({"src/app.ts": "2"})
    return copy


@pytest.fixture
def plan(engine: Engine, tmp_path: Path, pattern: WorkingCopy) -> PlanBeside:
    """Ada's project beside a repository with two commits, and two atoms that nobody has confirmed."""
    fill_once(engine, fill)
    return PlanBeside(ada_at(engine), pattern.copied_to(tmp_path / "copy"))


def fill(engine: Engine) -> None:
    nowhere = cast(WorkingCopy, None)  # nothing is compared yet
    plan = PlanBeside.begun(ada_at(engine), nowhere)
    plan.atom("app", "src/**")
    plan.atom("the docs", "docs/**")


def ada_at(engine: Engine) -> Session:
    return Session(engine.store, local_actor("ada", kind=ActorKind.PERSON))


def confirmed(plan: PlanBeside, *refs: str, **options: Any) -> Confirmation:
    return confirm(plan.session, plan.project, plan.copy.folder, refs, **options)


def commits(plan: PlanBeside) -> dict[str, str | None]:
    """Where each atom was confirmed."""
    return {name: atom.confirmed or None for name, atom in plan.listed().items()}


def test_what_was_confirmed_at_head_is_fresh(plan: PlanBeside) -> None:
    done = confirmed(plan, "app")

    assert [(atom.name, atom.version) for atom in done.confirmed] == [("app", 2)]
    assert commits(plan) == {"app": plan.copy.head, "the docs": None}
    assert plan.states() == {"app": "fresh", "the docs": "unanchored"}


@pytest.mark.parametrize("spelled", [str, str.upper, lambda id_: id_.replace("-", "")], ids=["id", "upper", "undashed"])
def test_an_atom_is_named_by_its_id_however_it_is_spelled(plan: PlanBeside, spelled: Any) -> None:
    done = confirmed(plan, spelled(plan.listed()["app"].id))

    assert [atom.name for atom in done.confirmed] == ["app"]


def test_several_may_be_named_and_twice_is_once(plan: PlanBeside) -> None:
    done = confirmed(plan, "the docs", "app", "app", plan.listed()["app"].id)

    assert [atom.name for atom in done.confirmed] == ["the docs", "app"]


def test_all_means_every_atom(plan: PlanBeside) -> None:
    confirmed(plan, every=True)

    assert set(commits(plan).values()) == {plan.copy.head}


def test_a_revision_is_kept_as_the_whole_id_of_its_commit(plan: PlanBeside) -> None:
    first = plan.copy.git("rev-parse", "HEAD~1")

    assert confirmed(plan, "app", revision=first[:8]).commit == first
    assert commits(plan)["app"] == first
    assert plan.states()["app"] == "changed"


def test_what_was_confirmed_there_before_is_left_alone(plan: PlanBeside) -> None:
    confirmed(plan, "app")

    done = confirmed(plan, every=True)

    assert [atom.name for atom in done.confirmed] == ["the docs"]
    assert [(atom.name, atom.version) for atom in done.unchanged] == [("app", 2)]
    assert plan.listed()["app"].version == 2


def test_the_task_in_which_somebody_looked_is_remembered(plan: PlanBeside) -> None:
    task = plan.task("Look at the app")

    done = confirmed(plan, "app", task=task)

    atom = plan.session.call("knowledge.get", entityType="atom", id=done.confirmed[0].id).atom
    assert atom.last_task_id == task


def test_where_one_is_not_found_none_is_touched(plan: PlanBeside) -> None:
    for wrong in ("the doc", "00000000-0000-4000-8000-000000000000"):
        with pytest.raises(NotFound):
            confirmed(plan, "app", wrong)
    with pytest.raises(NotFound):
        confirmed(plan, "app", revision="missing")

    assert commits(plan) == {"app": None, "the docs": None}


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(plan: PlanBeside) -> None:
    with pytest.raises(NotFound) as refused:
        confirmed(plan, "the doc")

    assert refused.value.details["near"] == ["the docs"]


def test_a_name_that_two_atoms_have_names_none_of_them(plan: PlanBeside) -> None:
    other = plan.atom("app", "lib/**")

    with pytest.raises(AmbiguousAtom) as refused:
        confirmed(plan, "app")

    assert other in refused.value.details["ids"]
    assert [atom.id for atom in confirmed(plan, other).confirmed] == [other]


def test_no_atom_is_not_every_atom(plan: PlanBeside) -> None:
    with pytest.raises(Invalid) as refused:
        confirmed(plan)

    assert refused.value.code == "no_atoms"
    assert set(commits(plan).values()) == {None}


def test_a_viewer_may_not_confirm(plan: PlanBeside) -> None:
    with pytest.raises(Forbidden):
        confirmed(plan.by("cleo", "viewer"), "app")


def test_without_a_commit_there_is_nothing_to_confirm_at(plan: PlanBeside, tmp_path: Path) -> None:
    with pytest.raises(NoCommit):
        confirm(plan.session, plan.project, WorkingCopy(tmp_path / "empty").folder, ["app"])


class Interrupted(Session):
    """A session in which somebody else writes just before each of the first updates."""

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
    plan: PlanBeside,
) -> None:
    disturbed = PlanBeside(Interrupted(plan.session, times=1), plan.copy)

    done = confirmed(disturbed, "app", "the docs")

    assert ([atom.name for atom in done.changed], [atom.name for atom in done.confirmed]) == (["app"], ["the docs"])
    atom = plan.session.call("knowledge.get", entityType="atom", id=done.changed[0].id).atom
    assert (atom.version, atom.knowledge) == (2, "what Ben found 0")
    assert commits(plan) == {"app": None, "the docs": plan.copy.head}


def test_an_id_tells_the_project_by_itself_and_a_name_does_not(plan: PlanBeside) -> None:
    listed = plan.session.call("knowledge.list", projectId=plan.project).atoms
    app = next(atom.id for atom in listed if atom.name == "app")

    done = confirm(plan.session, None, plan.copy.folder, [app, "the docs"])

    assert [atom.name for atom in done.confirmed] == ["app", "the docs"]
    for refs in ([], ["app"]):
        with pytest.raises(Invalid) as refused:
            confirm(plan.session, None, plan.copy.folder, refs, every=True)
        assert refused.value.code == "no_project"
