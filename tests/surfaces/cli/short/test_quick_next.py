"""The quick reading of `next` prints what the operation prints, to the byte, or leaves it to the operation."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import groundplan
from groundplan import setting_values
from groundplan.__main__ import QUICK_WORDS
from groundplan.kernel.actors import LOCAL_ORGANIZATION
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.migrations import count_migrations
from groundplan.session import Session
from groundplan.setting_sources import is_plain_name, is_plain_path
from groundplan.surfaces.cli.failures import EXIT_PIPE_CLOSED
from groundplan.surfaces.cli.short import quick_next
from groundplan.surfaces.cli.short.words.arguments import parse_line
from groundplan.surfaces.cli.short.words.table import find_word
from groundplan.work.graph import best_task
from tests.surfaces.cli.conftest import Run
from tests.surfaces.cli.short.compared_next import PIPE, Screen, answers_quickly, read_files

WEIRD = (
    "\x1b[31mred\x1b[0m",
    "a\tb\nc",
    "\u202eright to left",
    "日本語 のタイトル " * 12,
    "e\u0301 👩‍💻 \u200b",
    "word " * 60,
)
SCREENS = (
    PIPE,
    Screen(encoding="ascii"),
    *(Screen(is_terminal=True, columns=columns) for columns in (20, 33, 80, 200)),
    Screen(is_terminal=True, colours=False),
    Screen(is_terminal=True, encoding="latin-1"),
)


class Repository:
    """A repository with a plan, in which `next` runs."""

    def __init__(self, root: Path, state: Path) -> None:
        self.root, self.state = root, state
        self.folder = root / ".groundplan"
        self.db = self.folder / "plan.db"

    def open(self, actor: str = "ada") -> Session:
        return groundplan.open(str(self.db), actor=actor)

    def plan(self, summary: str, **fields: Any) -> str:
        """Add a task and return its id."""
        with self.open() as session:
            return plan(session, summary, **fields)

    def update(self, node_id: str, actor: str = "ada", **changes: Any) -> None:
        with self.open(actor) as session:
            session.call("work.update", updates=[{"node_id": node_id, **changes}])

    def configure(self, **policies: Any) -> None:
        with self.open() as session:
            session.call("work.open", project="repo", policies=policies)

    def answers(self, *argv: str, screen: Screen = PIPE) -> bool:
        """Return whether the quick reading answers as the operation does."""
        return answers_quickly(*argv, folder=self.folder, state=self.state, screen=screen)

    def store(self, node_id: str, **fields: str) -> None:
        """Store texts that no request may contain."""
        with closing(sqlite3.connect(self.db, isolation_level=None)) as connection:
            for name, value in fields.items():
                connection.execute(f"UPDATE work_nodes SET {name} = ? WHERE id = ?", (value, node_id))


def plan(session: Session, summary: str, project: str = "repo", **fields: Any) -> str:
    node = {"ref": "new", "summary": summary, **fields}
    planned = session.call("work.plan", project=project, nodes=[node])
    return str(planned.created[0].id)


@pytest.fixture
def repository(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Repository:
    monkeypatch.delenv("GROUNDPLAN_DB")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    assert run("init").code == 0
    return Repository(root, tmp_path / "state")


# --- What is quick --------------------------------------------------------------------------------------------------


def test_every_day_the_best_task_is_read_quickly(repository: Repository) -> None:
    repository.plan("First")
    repository.plan("Second", properties={"priority": 2})

    assert repository.answers()
    assert repository.answers("--agent", "ben")
    assert repository.answers("--agent=ben", "--project", "repo")
    assert repository.answers("-P", "repo", "--db", ".groundplan/plan.db")


def test_what_it_prints_is_remembered_for_the_next_word(repository: Repository, run: Run) -> None:
    first = repository.plan("First")

    assert quick_next.run([]) == 0
    assert first in run("show", "-").out


def test_tasks_of_every_kind_are_read_quickly(repository: Repository) -> None:
    goal = repository.plan("A goal")
    properties = {
        "priority": 1.5,
        "size": 3,
        "done": False,
        "owner": None,
        "files": ["a", 1, 2.5, True],
        "description": "\n".join(WEIRD[1:]),
    }
    before = repository.plan("Before", parent_ref=goal)
    task = repository.plan(
        "A task",
        parent_ref=goal,
        depends_on=[before],
        properties=properties,
        context_links=["src/a.py", "https://example.org"],
    )
    repository.update(
        before, resolved=True, add_evidence=[{"type": "git", "ref": "9f2ab1\nmore"}, {"type": "note", "ref": "x"}]
    )
    repository.update(task, add_evidence=[{"type": "note", "ref": WEIRD[3]}, {"type": "test", "ref": "green"}])

    assert all(repository.answers(screen=screen) for screen in SCREENS)


@pytest.mark.parametrize("text", WEIRD)
def test_titles_and_names_with_odd_characters_are_read_quickly(repository: Repository, text: str) -> None:
    above = repository.plan("above")
    task = repository.plan("task", parent_ref=above)
    repository.store(above, summary=f"above {text}")
    properties = json.dumps({text[:40]: text, "_x_y": text, "note": text})
    repository.store(task, summary=text, properties=properties, context_links=json.dumps([text]))

    assert all(repository.answers(screen=screen) for screen in SCREENS)


def test_claims_are_read_quickly(repository: Repository) -> None:
    mine, _, other = repository.plan("Mine"), repository.plan("Free"), repository.plan("Other")
    with repository.open() as session:
        session.call("work.claim", node_id=mine)
    with repository.open("ben") as session:
        session.call("work.claim", node_id=other)
        session.call("work.update", updates=[{"node_id": other, "hold": True}])

    assert repository.answers()
    assert repository.answers("--agent", "ben")
    assert repository.answers("--agent", "cleo")


def test_deep_and_wide_plans_are_read_quickly(repository: Repository) -> None:
    with repository.open() as session:
        before = [plan(session, f"before {n}") for n in range(23)]
        session.call("work.update", updates=[{"node_id": one, "resolved": True} for one in before])
        parent: str | None = None
        for depth in range(60):
            parent = plan(session, f"level {depth}", **({"parent_ref": parent} if parent else {}))
        plan(session, "deepest", parent_ref=parent, depends_on=before)

    assert repository.answers()


def test_features_and_policies_are_read_quickly(repository: Repository) -> None:
    with repository.open() as session:
        feature = session.call("container.create", containerType="feature", name="A feature", projectId="repo")
        session.call(
            "container.create",
            containerType="task",
            title="A task",
            description="text",
            priority="high",
            featureId=feature.feature.id,
        )
    assert repository.answers()
    repository.configure(
        overlap="off",
        evidence="require",
        claims="enforced",
        inherit_dependencies=True,
        agents="viewer",
        claim_ttl_minutes=5,
    )
    assert repository.answers()


def test_the_only_project_of_a_plan_needs_no_name(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.plan("A task")
    for config in repository.folder.glob("*.yaml"):
        config.unlink()
    monkeypatch.setenv("GROUNDPLAN_DB", str(repository.db))
    assert repository.answers()

    with repository.open() as session:
        session.call("project.create", name="other")
    assert not repository.answers()
    monkeypatch.setenv("GROUNDPLAN_PROJECT", "repo")
    assert repository.answers()
    with repository.open() as session:
        session.call("project.archive", project="other")
    monkeypatch.delenv("GROUNDPLAN_PROJECT")
    assert repository.answers()


def test_an_archived_project_is_read_quickly_by_name(repository: Repository) -> None:
    repository.plan("A task")
    with repository.open() as session:
        session.call("project.archive", project="repo")
    assert repository.answers("-P", "repo")


def test_a_plan_is_found_from_below_and_from_a_worktree(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.plan("A task")
    below = repository.root / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert repository.answers()

    worktree, git = repository.root.parent / "worktree", repository.root / ".git" / "worktrees" / "one"
    git.mkdir(parents=True)
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {git}\n", encoding="utf-8")
    (git / "commondir").write_text("../..\n", encoding="utf-8")
    monkeypatch.chdir(worktree)
    assert repository.answers()


@pytest.mark.parametrize("name", ["groundplan.yaml", "graph.config.yaml"])
def test_the_settings_that_init_writes_are_usual_and_others_are_not(repository: Repository, name: str) -> None:
    repository.plan("A task")
    for config in repository.folder.glob("*.yaml"):
        config.unlink()
    config = repository.folder / name

    def answers(text: str) -> bool:
        config.write_text(text, encoding="utf-8")
        return repository.answers()

    assert answers("db_path: plan.db\nproject: 'repo'\nagent_identity: ben\nshort_name: gp\n")
    for line in (
        "access: members",
        "org: other",
        "lean: true",
        "tools: [work]",
        "short_name: '1'",
        "nonsense: x",
        "project: ''",
    ):
        assert not answers(f"db_path: plan.db\nproject: repo\n{line}\n")
    assert not answers("db_path: plan.db\nproject: 'r\u00e9po'\n")
    assert not answers("db_path: postgresql://nobody@localhost/plan\n")


def test_a_program_that_has_the_file_open_does_not_matter(repository: Repository) -> None:
    with repository.open() as session:
        plan(session, "In the log")
        assert (repository.folder / "plan.db-wal").stat().st_size
        assert repository.answers()
        plan(session, "More", properties={"priority": 3})
        assert repository.answers()


@pytest.mark.slow
def test_a_log_that_a_dead_writer_left_is_read_quickly_and_written_to_the_file(repository: Repository) -> None:
    program = (
        "import os, sys, groundplan\n"
        "session = groundplan.open(sys.argv[1], actor='ada')\n"
        "session.call('work.plan', project='repo', nodes=[{'ref': 'a', 'summary': 'Saved'}])\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(repository.db)], check=True)
    assert (repository.folder / "plan.db-wal").stat().st_size

    assert repository.answers()
    assert not (repository.folder / "plan.db-wal").exists()


# --- What is not ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        *(
            "--json",
            "-n 1",
            "-n1",
            "--limit=1",
            "-u x",
            "--watch",
            "--help",
            "--no-pager",
            "x",
            "--",
            "--db",
            "-P=repo",
            "-Prepo",
        ),
        *(
            "--access members",
            "--org other",
            "--config .groundplan/groundplan.yaml",
            "--nonsense",
            "-P nobody",
            "--db x",
        ),
    ],
)
def test_other_options_are_left_to_the_operation(repository: Repository, line: str) -> None:
    repository.plan("A task")
    assert not repository.answers(*line.split())


def test_options_are_read_as_the_parser_of_the_words_reads_them() -> None:
    word = find_word("next")
    assert word is not None
    for line in (["--db", "a", "--db=b"], ["-P", "--json"], ["--project=", "--agent", "x=y"], ["--db=a=b", "-P", "-P"]):
        parsed = parse_line(word, line)
        assert quick_next._parse_options(line) == {name: parsed.first(name) for name in parsed.given}


def test_nothing_to_offer_is_left_to_the_operation(repository: Repository) -> None:
    assert not repository.answers()
    task = repository.plan("A task")
    with repository.open("ben") as session:
        session.call("work.claim", node_id=task)
    assert not repository.answers()
    repository.update(task, resolved=True)
    assert not repository.answers()


def test_a_value_that_is_encoded_is_left_to_the_operation(repository: Repository) -> None:
    task = repository.plan("A task")
    values: tuple[Any, ...] = ({"a": 1}, [[1]], [None], [{}])
    for value in values:
        repository.update(task, properties={"odd": value})
        assert not repository.answers()
    repository.store(task, properties='{"_claimed_at": 5}')
    assert not repository.answers()


def test_files_that_others_work_on_are_left_to_the_operation(repository: Repository) -> None:
    taken = repository.plan("Taken", context_links=["src/a.py"])
    with repository.open("ben") as session:
        session.call("work.claim", node_id=taken)
    free = repository.plan("Free")
    assert repository.answers()  # it names no files

    repository.update(free, add_context_links=["src/a.py"])
    assert not repository.answers()
    repository.configure(overlap="off")
    assert repository.answers()
    repository.configure(overlap="avoid")
    assert not repository.answers()


def test_files_in_sections_that_others_may_work_on_are_left_to_the_operation(repository: Repository) -> None:
    taken, free = repository.plan("Taken", context_links=["src/a.py"]), repository.plan("Free")
    with repository.open("ben") as session:
        session.call("work.claim", node_id=taken)
        session.call("section.add", entityType="TASK", entityId=free, title="Context Files", content="- src/a.py")
    assert not repository.answers()


def test_output_longer_than_the_terminal_is_left_to_the_pager(repository: Repository) -> None:
    repository.plan("A task", properties={"description": "line\n" * 60})
    assert repository.answers()
    assert not repository.answers(screen=Screen(is_terminal=True, lines=24))


@pytest.mark.parametrize("variable", ["GROUNDPLAN_ORG", "GROUNDPLAN_ACCESS", "GROUNDPLAN_LEAN", "GROUNDPLAN_TOOLS"])
def test_unusual_variables_are_left_to_the_operation(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    repository.plan("A task")
    monkeypatch.setenv(variable, "open")
    assert not repository.answers()


def test_a_name_that_is_not_plain_is_left_to_the_operation(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.plan("A task")
    for name in ("Zoë", " ada ", "a\tb", "x" * 64):
        monkeypatch.setenv("GROUNDPLAN_AGENT", name)
        assert not repository.answers()
    monkeypatch.delenv("GROUNDPLAN_AGENT")
    monkeypatch.setenv("LOGNAME", "cleo")
    assert repository.answers()


@pytest.mark.parametrize("version", [1, count_migrations() - 1, count_migrations() + 1])
def test_another_schema_is_left_to_the_store(repository: Repository, version: int) -> None:
    repository.plan("A task")
    connection = sqlite3.connect(repository.db)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    assert not repository.answers()


@pytest.mark.parametrize("pragma", ["application_id = 7", "journal_mode = DELETE"])
def test_a_file_that_is_not_as_we_make_it_is_left_to_the_store(repository: Repository, pragma: str) -> None:
    repository.plan("A task")
    connection = sqlite3.connect(repository.db)
    connection.execute(f"PRAGMA {pragma}")
    connection.close()
    assert not repository.answers()


@pytest.mark.parametrize("content", [None, b"", b"no database", b"SQLite format 3\0" + bytes(200)])
def test_a_missing_or_broken_file_is_left_to_the_store(repository: Repository, content: bytes | None) -> None:
    repository.db.unlink()
    if content is not None:
        repository.db.write_bytes(content)
    assert not repository.answers()


def test_what_is_no_file_is_left_to_the_store(repository: Repository) -> None:
    repository.db.unlink()
    repository.db.mkdir()
    assert not repository.answers()
    repository.db.rmdir()
    os.mkfifo(repository.db)
    assert quick_next.run([]) is None


def test_a_file_that_may_not_be_written_to_is_left_to_the_store(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.plan("A task")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may always
    assert not repository.answers()


def test_a_locked_file_is_left_to_the_store_which_waits(repository: Repository) -> None:
    repository.plan("A task")
    with repository.open():  # keeps the log
        other = sqlite3.connect(repository.db, isolation_level=None)
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    assert quick_next.run([]) is None
    other.close()


@pytest.fixture
def foreign_log(repository: Repository, tmp_path: Path) -> Iterator[bytes]:
    """A log of another database."""
    path = tmp_path / "other.db"
    with groundplan.open(str(path), actor="ada") as session:
        session.call("project.create", name="repo")
        plan(session, "Of another file")
        yield Path(f"{path}-wal").read_bytes()


def test_a_log_of_another_file_is_left_to_the_store(repository: Repository, foreign_log: bytes) -> None:
    repository.plan("A task")
    (repository.folder / "plan.db-wal").write_bytes(foreign_log)
    assert not repository.answers()


def test_a_replaced_file_is_left_to_the_store(repository: Repository, tmp_path: Path) -> None:
    repository.plan("A task")
    backup = tmp_path / "backup.db"
    shutil.copy(repository.db, backup)
    with repository.open() as session:
        plan(session, "In the log")
        kept = read_files(repository.folder)
    shutil.copy(backup, repository.folder / "new.db")
    (repository.folder / "new.db").replace(repository.db)
    (repository.folder / "plan.db-wal").write_bytes(kept["plan.db-wal"])
    assert not repository.answers()


def test_a_removed_log_is_left_to_the_store(repository: Repository) -> None:
    repository.plan("A task")
    (repository.folder / "plan.db-shm").write_bytes(b"\0" * 32_768)
    assert not repository.answers()


def test_a_file_that_is_replaced_during_the_read_is_left_to_the_store(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.plan("A task")
    read = best_task.read_best_task

    def replace_and_read(tx: Any) -> Any:
        shutil.copy(repository.db, repository.folder / "new.db")
        (repository.folder / "new.db").replace(repository.db)
        return read(tx)

    monkeypatch.setattr(best_task, "read_best_task", replace_and_read)
    assert quick_next.run([]) is None


def test_an_answer_that_cannot_be_written_is_reported_as_the_operation_reports_it(
    repository: Repository, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.plan("A task")
    ends = []
    for argv in ([], ["-n1"]):
        with Path("/dev/full").open("w", encoding="utf-8") as full, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", full)
            ended = run("next", *argv)
            ends.append((ended.code, ended.err))
    assert ends[0] == ends[1]
    assert ends[0][0] == Unavailable.exit_code


@pytest.mark.slow
def test_a_closed_pipe_ends_the_quick_reading_as_it_ends_the_operation(repository: Repository) -> None:
    repository.plan("A task", properties={"description": "line\n" * 5_000})
    codes = set()
    for option in ("--project=repo", "--no-pager"):
        command = [sys.executable, "-m", "groundplan", "next", option]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.close()
            codes.add(process.wait())
    assert codes == {EXIT_PIPE_CLOSED}


def test_a_difference_between_both_readings_is_noticed(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, _ = repository.plan("Mine"), repository.plan("Free", properties={"priority": 1})
    with repository.open() as session:
        session.call("work.claim", node_id=mine)
    assert repository.answers()

    monkeypatch.setattr(best_task, "rank", lambda row: row.n)
    with pytest.raises(AssertionError):
        repository.answers()


# --- The rules that are written twice -------------------------------------------------------------------------------


def test_the_quick_words_are_those_of_the_table() -> None:
    word = find_word("next")
    assert word is not None
    assert set(QUICK_WORDS) == {word.name, *word.synonyms}
    assert quick_next.ORGANIZATION == LOCAL_ORGANIZATION


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_stored_json_is_decoded_as_everywhere(value: Any) -> None:
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # an unpaired surrogate, which no request may contain
        return
    assert repr(best_task._decode(text)) == repr(msgspec.json.decode(text))
    assert json.loads(text) == best_task._decode(text)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "1 2", "", "{", '"\x01"'])
def test_what_is_no_stored_json_is_refused(text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - the caller takes any error for unusual
        best_task._decode(text)


@given(st.text(max_size=70) | st.text("ab.:/~ ", max_size=12))
def test_plain_settings_are_used_as_they_are(text: str) -> None:
    if is_plain_name(text):
        validate_value(text)
        assert apply_marker(NormalizedName(), text, ()) == text
    if is_plain_path(text):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(setting_values, "is_plain_path", lambda _: False)
            assert setting_values.check_db(text) == text
