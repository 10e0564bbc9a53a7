"""Evidence that names a commit or a file is looked up when it is written, and marked; nothing is refused for it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from groundplan.__main__ import main
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.preferences import Preferences
from groundplan.repository import git
from groundplan.repository.git import WorkingCopy as KnownCopy
from groundplan.session import Session
from groundplan.surfaces.web.words import describe_value
from tests.answers import to_json
from tests.engines import Engine
from tests.repository.working_copy import NOBODY_S_SETTINGS, PlanOfCopy, WorkingCopy
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_pages import open_page

pytestmark = pytest.mark.slow  # every test starts git

PATIENCE_S = 60.0  # a busy machine may take longer than an answer waits
ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture(autouse=True)
def _clean_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def plan(engine: Engine, tmp_path: Path) -> PlanOfCopy:
    """Ada's project beside a repository with a file."""
    copy = WorkingCopy(tmp_path / "copy")
    copy.commit({"src/app.ts": "1"})
    return PlanOfCopy.create(beside(engine, tmp_path / "copy"), copy)


def beside(engine: Engine, folder: Path, *, limit_s: float = PATIENCE_S) -> Session:
    """Return a session of Ada's that knows the repository of a folder."""
    copy = KnownCopy(str(folder), starts_at_root=True, limit_s=limit_s)
    return Session(engine.store, ADA, preferences=Preferences(working_copy=copy))


def add(session: Session, task: str, *evidence: tuple[str, str]) -> Any:
    entries = [{"type": type_, "ref": ref} for type_, ref in evidence]
    return session.call("work.update", updates=[{"node_id": task, "add_evidence": entries}])


def read_checks(session: Session, task: str) -> dict[str, str | None]:
    """Return the mark of each evidence of a task by its ref."""
    node = session.call("work.context", node_id=task).node
    return {entry["ref"]: entry.get("checked") for entry in to_json(node)["evidence"]}


def test_commits_and_files_are_looked_up_when_they_are_written(plan: PlanOfCopy) -> None:
    task, head = plan.task(), plan.copy.head
    plan.copy.write({"src/new.ts": "1"})

    answer = add(
        plan.session,
        task,
        ("commit", head),
        ("git", head[:8]),
        ("commit", "deadbeef"),
        ("commit", "the one of yesterday"),
        ("file", "src/app.ts"),
        ("file", "./src/app.ts:12"),
        ("file", "src/new.ts#L1-L2"),
        ("file", "src"),
        ("file", "src/gone.ts"),
        ("file", "/etc/passwd"),
        ("file", "../elsewhere.ts"),
        ("note", "deadbeef"),
    )

    assert read_checks(plan.session, task) == {
        head: "ok",
        head[:8]: "ok",
        "deadbeef": None,  # of the note, which comes last
        "the one of yesterday": "not_checked",
        "src/app.ts": "ok",
        "./src/app.ts:12": "ok",
        "src/new.ts#L1-L2": "ok",
        "src": "ok",
        "src/gone.ts": "missing",
        "/etc/passwd": "not_checked",
        "../elsewhere.ts": "not_checked",
    }
    (warning,) = answer.warnings
    assert "deadbeef" in warning
    assert "src/gone.ts" in warning


def test_a_warning_of_missing_evidence_names_the_node_that_got_it(plan: PlanOfCopy) -> None:
    nodes = [{"ref": "first", "summary": "first"}, {"ref": "second", "summary": "second"}]
    first, second = plan.session.call("work.plan", project=plan.project, nodes=nodes).created
    evidence = [{"type": "file", "ref": "src/none.ts"}]

    answer = plan.session.call(
        "work.update",
        updates=[{"node_id": first.id, "state": "begun"}, {"node_id": second.id, "add_evidence": evidence}],
    )

    (warning,) = answer.warnings
    assert warning.startswith(f"{second.id}: ")


def test_what_the_repository_has_brings_no_warning(plan: PlanOfCopy) -> None:
    answer = add(plan.session, plan.task(), ("commit", plan.copy.head), ("note", "deadbeef"))

    assert not answer.warnings


def test_without_a_repository_nothing_is_looked_up(engine: Engine, plan: PlanOfCopy) -> None:
    task = plan.task()

    answer = add(Session(engine.store, ADA), task, ("commit", plan.copy.head), ("file", "src/app.ts"), ("link", "x"))

    assert read_checks(plan.session, task) == {plan.copy.head: "not_checked", "src/app.ts": "not_checked", "x": None}
    assert not answer.warnings


def test_git_that_does_not_answer_in_time_leaves_a_commit_not_checked(engine: Engine, plan: PlanOfCopy) -> None:
    task = plan.task()

    add(beside(engine, plan.copy.folder, limit_s=0.0), task, ("commit", "deadbeef"), ("commit", plan.copy.head))

    assert set(read_checks(plan.session, task).values()) == {"not_checked"}


def test_commits_and_files_share_one_limit_of_time(engine: Engine, plan: PlanOfCopy) -> None:
    task = plan.task()

    add(beside(engine, plan.copy.folder, limit_s=0.0), task, ("file", "src/app.ts"), ("file", "src/gone.ts"))

    assert set(read_checks(plan.session, task).values()) == {"not_checked"}


def test_a_commit_of_another_repository_is_missing(plan: PlanOfCopy, tmp_path: Path) -> None:
    foreign = WorkingCopy(tmp_path / "other").commit({"a.ts": "1"})
    task = plan.task()

    (warning,) = add(plan.session, task, ("commit", foreign)).warnings

    assert foreign in warning
    assert read_checks(plan.session, task) == {foreign: "missing"}


@pytest.mark.parametrize("trouble", ["gone", "broken"])
def test_a_repository_in_trouble_refuses_no_evidence(engine: Engine, plan: PlanOfCopy, trouble: str) -> None:
    task, head = plan.task(), plan.copy.head
    session = beside(engine, plan.copy.folder)
    add(session, task, ("commit", head))
    shutil.rmtree(plan.copy.folder if trouble == "gone" else plan.copy.folder / ".git" / "objects")

    answer = add(session, task, ("git", head))

    node = to_json(session.call("work.context", node_id=task).node)
    assert [entry["checked"] for entry in node["evidence"]] == ["ok", "not_checked"]
    assert not answer.warnings


def test_the_history_has_the_marks(plan: PlanOfCopy) -> None:
    source, target = plan.task("Draw the coast"), plan.task("Draw the map")
    add(plan.session, source, ("commit", "deadbeef"), ("note", "x"))
    plan.session.call("work.restructure", operations=[{"op": "merge", "source": source, "target": target}])

    events = to_json(plan.session.call("work.history", node_id=target))["events"]
    entries = [change["after"] for event in events for change in event["changes"] if change["field"] == "evidence"]

    assert entries
    for added in entries:
        assert [entry.get("checked") for entry in added] == ["missing", None]


def test_a_shallow_clone_says_nothing_about_a_commit_that_it_lacks(
    engine: Engine, plan: PlanOfCopy, tmp_path: Path
) -> None:
    task, first = plan.task(), plan.copy.head
    second = plan.copy.commit({"src/app.ts": "2"})
    plan.copy.git("clone", "--quiet", "--depth=1", f"file://{plan.copy.folder}", str(tmp_path / "shallow"))

    add(beside(engine, tmp_path / "shallow"), task, ("commit", first), ("commit", second))

    assert read_checks(plan.session, task) == {first: "not_checked", second: "ok"}


def test_git_is_asked_before_the_transaction_and_only_about_commits(
    engine: Engine, plan: PlanOfCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = plan.task()
    order: list[str] = []
    resolve, write = git.Repository.resolve_commit_ids, type(engine.store).write

    def note_resolve(*arguments: Any) -> Any:
        order.append("git")
        return resolve(*arguments)

    def note_write(*arguments: Any, **options: Any) -> Any:
        order.append("write")
        return write(*arguments, **options)

    monkeypatch.setattr(git.Repository, "resolve_commit_ids", note_resolve)
    monkeypatch.setattr(type(engine.store), "write", note_write)
    add(plan.session, task, ("commit", plan.copy.head))
    add(plan.session, task, ("file", "src/app.ts"))

    assert order == ["git", "write", "write"]


def test_a_merge_keeps_the_marks_and_every_answer_has_them(plan: PlanOfCopy) -> None:
    source, target = plan.task("Draw the coast"), plan.task("Draw the map")
    add(plan.session, source, ("commit", "deadbeef"), ("commit", plan.copy.head))

    plan.session.call("work.restructure", operations=[{"op": "merge", "source": source, "target": target}])

    assert read_checks(plan.session, target) == {"deadbeef": "missing", plan.copy.head: "ok"}
    chain = to_json(plan.session.call("briefing.throughline", **{"project": "atlas", "from": target}))
    (step,) = [step for step in chain["chain"] if step["ref"] == target]
    assert [entry["checked"] for entry in step["evidence"]] == ["missing", "ok"]


def test_people_see_the_marks_on_the_page_and_in_the_terminal(
    engine: Engine, plan: PlanOfCopy, capsys: pytest.CaptureFixture[str]
) -> None:
    task = plan.task()
    add(plan.session, task, ("commit", plan.copy.head), ("commit", "deadbeef"), ("commit", "yesterday"), ("note", "x"))

    with Browser(engine.store) as browser:
        browser.log_in()
        page = open_page(browser, f"/p/atlas/work?node={task}").text
    printed = []
    for words in (["work", "context", task], ["show", task], ["next"], ["work", "history", task]):
        assert main([*words, "--db", engine.db, "--access", "open", "--person", "ada"]) == 0
        printed.append(capsys.readouterr().out)

    for text in (page, *printed):
        shown = {ref: text[text.index(ref) + len(ref) :] for ref in (plan.copy.head, "deadbeef", "yesterday")}
        marks = {ref: " ".join(after.split())[:9] for ref, after in shown.items()}
        assert marks[plan.copy.head].startswith("\N{CHECK MARK}")
        assert marks["deadbeef"] == "? missing"
        assert marks["yesterday"][0] == "?"
        assert marks["yesterday"] != "? missing"
    assert describe_value({"type": "commit", "ref": "deadbeef", "checked": "missing"}) == "commit: deadbeef ? missing"


def test_a_finished_dependency_shows_its_marks_also_in_a_lean_answer(plan: PlanOfCopy) -> None:
    first, second = plan.task("Draw the coast"), plan.task("Draw the map")
    plan.session.call("work.connect", edges=[{"from": second, "to": first, "type": "depends_on"}])
    evidence = [{"type": "commit", "ref": "deadbeef"}]
    plan.session.call("work.update", updates=[{"node_id": first, "resolved": True, "add_evidence": evidence}])

    (offer,) = to_json(plan.session.call("work.next", project="atlas", count=1, lean=True))["nodes"]

    assert offer["resolved_deps"][0]["evidence"] == [{"type": "commit", "ref": "deadbeef", "checked": "missing"}]
