"""In any state of a plan, the quick reading of `next` prints what the operation prints, or leaves it to the operation.

An ordinary run is short and always the same. `make proof` runs more examples.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from groundplan.catalog import build_schema
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.open_store import open_store
from groundplan.session import Session
from tests.proof import VARIABLE, scaled
from tests.surfaces.cli.short.compared_next import Screen, answers_quickly

pytestmark = [pytest.mark.proof]

# Read here, because every test gets an environment without such variables.
EXAMPLES, STEPS, IS_PROOF = scaled(8, 100), scaled(12, 40), VARIABLE in os.environ
ACTORS = ("ada", "ben")
FILES = ("src/a.py", "src", "docs/*.md")
# Minutes by which the clock of a writer is wrong.
CLOCKS = (0, 0, 0, 3, -3, 90, -90, -2_000)
CHARACTERS = st.characters(exclude_categories=("Cc", "Cs"))
TEXTS = st.text(CHARACTERS, min_size=1, max_size=30) | st.sampled_from(
    ("word " * 40, "日本語 " * 20, "e\u0301 👩‍💻", "a\n\n  b\tc", "x" * 300)
)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.lists(st.integers() | TEXTS, max_size=3)
    | st.just({"nested": [1]})
)
PROPERTIES = st.dictionaries(
    st.sampled_from(("priority", "description", "summary", "note_1", "größe")) | TEXTS, VALUES, max_size=3
)
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "overlap": st.sampled_from(("off", "warn", "avoid")),
        "inherit_dependencies": st.booleans(),
        "agents": st.sampled_from(("viewer", "owner")),
        "claims": st.just("enforced"),
    },
)
SCREENS = st.builds(
    Screen,
    is_terminal=st.booleans(),
    columns=st.sampled_from((1, 20, 40, 80, 300)),
    lines=st.sampled_from((10, 500)),
    colours=st.booleans(),
    encoding=st.sampled_from(("utf-8", "utf-8", "ascii", "latin-1")),
)
NUMBERS = st.integers(0, 50)


class NextMachine(RuleBasedStateMachine):
    """Writers change a plan, and after every change both readings of `next` are compared."""

    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.TemporaryDirectory(prefix="next-")
        self.folder = Path(self.home.name, "plan")
        self.folder.mkdir()
        self.db = self.folder / "plan.db"
        self.nodes: list[str] = []
        self.kept_open: Session | None = None
        self.variables = {name: os.environ.get(name) for name in ("XDG_STATE_HOME",)}
        os.environ["XDG_STATE_HOME"] = str(Path(self.home.name, "state"))

    def teardown(self) -> None:
        if self.kept_open is not None:
            self.kept_open.close()
        for name, value in self.variables.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        self.home.cleanup()

    @contextmanager
    def write(self, actor: str, minutes: int = 0) -> Iterator[Session]:
        """Yield a session whose clock is wrong by so many minutes. What is refused does not matter."""
        clock = (lambda: datetime.now(UTC) + timedelta(minutes=minutes)) if minutes else None
        store = open_store(str(self.db), build_schema, clock=clock)
        try:
            with Session(store, local_actor(actor, kind=ActorKind.PERSON)) as session:
                session.warn = lambda _: None
                yield session
        except (GroundplanError, UnicodeEncodeError):
            pass

    def pick(self, number: int) -> str:
        return self.nodes[number % len(self.nodes)] if self.nodes else "none"

    @initialize()
    def begin(self) -> None:
        with self.write("ada") as session:
            session.call("project.create", name="atlas")
            nodes = [{"ref": str(n), "summary": f"Task {n}"} for n in range(4)]
            self.nodes += [one.id for one in session.call("work.plan", project="atlas", nodes=nodes).created]

    @rule(
        summary=TEXTS,
        properties=PROPERTIES,
        links=st.lists(st.sampled_from(FILES) | TEXTS, max_size=2),
        above=NUMBERS,
        before=st.lists(NUMBERS, max_size=2),
        minutes=st.sampled_from(CLOCKS),
    )
    def plan(
        self, summary: str, properties: Any, links: list[str], above: int, before: list[int], minutes: int
    ) -> None:
        node: dict[str, Any] = {"ref": "new", "summary": summary, "properties": properties, "context_links": links}
        if self.nodes and above % 2:
            node["parent_ref"] = self.pick(above)
        if self.nodes:
            node["depends_on"] = [self.pick(number) for number in before]
        with self.write("ada", minutes) as session:
            self.nodes.append(session.call("work.plan", project="atlas", nodes=[node]).created[0].id)

    @rule(number=NUMBERS, actor=st.sampled_from(ACTORS), minutes=st.sampled_from(CLOCKS))
    def claim(self, number: int, actor: str, minutes: int) -> None:
        with self.write(actor, minutes) as session:
            session.call("work.claim", node_id=self.pick(number))

    @rule(number=NUMBERS, actor=st.sampled_from(ACTORS), change=st.sampled_from(("hold", "release", "renew")))
    def change_claim(self, number: int, actor: str, change: str) -> None:
        with self.write(actor) as session:
            session.call("work.update", updates=[{"node_id": self.pick(number), change: True}])

    @rule(number=NUMBERS, refs=st.lists(TEXTS, max_size=2), resolved=st.booleans())
    def resolve(self, number: int, refs: list[str], resolved: bool) -> None:
        evidence = [{"type": "note", "ref": ref} for ref in refs]
        change = {"node_id": self.pick(number), "add_evidence": evidence, **({"resolved": True} if resolved else {})}
        with self.write("ben") as session:
            session.call("work.update", updates=[change])

    @rule(number=NUMBERS, above=NUMBERS, is_feature=st.booleans())
    def create_container(self, number: int, above: int, is_feature: bool) -> None:
        kind = (
            {"containerType": "feature", "name": "A feature"}
            if is_feature
            else {"containerType": "task", "title": "A task"}
        )
        place = {"featureId": self.pick(above)} if above % 2 and not is_feature else {"projectId": "atlas"}
        with self.write("ada") as session:
            made = session.call("container.create", **kind, **place, description="text", priority="high")
            self.nodes.append((made.feature if is_feature else made.task).id)

    @rule(number=NUMBERS, reason=TEXTS)
    def hold(self, number: int, reason: str) -> None:
        with self.write("ada") as session:
            node = session.call("container.get", containerType="task", id=self.pick(number)).task
            session.call(
                "container.block",
                containerType="task",
                id=node.id,
                version=node.version,
                blockedBy="NO_OP",
                blockedReason=reason,
            )

    @rule(number=NUMBERS, content=st.sampled_from(("- src/a.py", "nothing")))
    def add_section(self, number: int, content: str) -> None:
        with self.write("ada") as session:
            session.call(
                "section.add", entityType="TASK", entityId=self.pick(number), title="Context Files", content=content
            )

    @rule(policies=POLICIES)
    def set_policies(self, policies: dict[str, Any]) -> None:
        with self.write("ada") as session:
            session.call("work.open", project="atlas", policies=policies)

    @rule(name=st.sampled_from(("second", "atlas")), archived=st.booleans())
    def change_projects(self, name: str, archived: bool) -> None:
        with self.write("ada") as session:
            if name == "second" and not archived:
                session.call("project.create", name=name)
            session.call("project.archive" if archived else "project.restore", project=name)

    @rule(number=NUMBERS, text=st.sampled_from(("\x1b[31m", "\x07bell", "\u202eleft", "\x85", "\ud7ff\ue000")))
    def store_odd_text(self, number: int, text: str) -> None:
        """Store what no request may contain, as a file that another program changed has it."""
        with closing(sqlite3.connect(self.db, isolation_level=None)) as connection:
            connection.execute("UPDATE work_nodes SET summary = ? WHERE id = ?", (text, self.pick(number)))

    @rule()
    def keep_open(self) -> None:
        """Let another program have the file open, so that there is a log, or close it."""
        if self.kept_open is None:
            self.kept_open = Session(open_store(str(self.db), build_schema), local_actor("cleo", kind=ActorKind.AGENT))
        else:
            self.kept_open.close()
            self.kept_open = None

    @rule(screen=SCREENS, actor=st.sampled_from(ACTORS), is_named=st.booleans())
    def compare_on_screen(self, screen: Screen, actor: str, is_named: bool) -> None:
        self.compare(actor, *(["-P", "atlas"] if is_named else []), screen=screen)

    @invariant()
    def both_readings_agree(self) -> None:
        if self.db.exists():
            for actor in ACTORS:
                self.compare(actor, "-P", "atlas")

    def compare(self, actor: str, *options: str, screen: Screen = Screen()) -> None:  # noqa: B008 - an immutable value
        argv = ("--db", str(self.db), "--agent", actor, *options)
        COUNTS[answers_quickly(*argv, folder=self.folder, state=Path(self.home.name, "state"), screen=screen)] += 1


COUNTS = {True: 0, False: 0}  # of readings that were quick, and that were not


def test_in_every_state_the_quick_reading_answers_as_the_operation_or_not_at_all() -> None:
    run_state_machine_as_test(
        NextMachine,
        settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS, derandomize=not IS_PROOF, deadline=None),
    )
    assert COUNTS[True] > sum(COUNTS.values()) / 4, COUNTS
