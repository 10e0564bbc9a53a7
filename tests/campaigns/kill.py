"""Kill writers at any moment, and look whether an acknowledged write is lost or a write is half applied."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from groundplan.kernel.answers import encode
from groundplan.session import Session
from tests.campaigns.ledger import Attempt, read_attempts
from tests.campaigns.writer import PROJECT
from tests.engines import Engine
from tests.standby import Forked, Standby

WRITERS = 3
ALL_EVERY = 5  # in every fifth round all writers are killed at once
ACKNOWLEDGED_MAX = 6  # a writer is killed after up to so many further acknowledged writes
PATIENCE_S = 60.0
STDERR = 2

# Each returns what is wrong: a revision without events, counters that a fresh count contradicts.
HALF_APPLIED = {
    "a revision without events": "SELECT rev FROM projects AS p WHERE rev <> (SELECT count(DISTINCT rev) FROM events "
    "AS e WHERE e.project_id = p.id)",
    "half a plan": "SELECT count(*) FROM work_nodes WHERE parent_n IS NOT NULL HAVING count(*) % 2 <> 0",
    "a wrong number of open dependencies": "SELECT id FROM work_nodes AS c WHERE open_deps <> (SELECT count(*) "
    "FROM work_edges AS e JOIN work_nodes AS d ON d.project_id = e.project_id AND d.n = e.to_n "
    "WHERE e.project_id = c.project_id AND e.from_n = c.n AND e.type = 'depends_on' AND NOT d.resolved)",
    "a wrong number of open children": "SELECT id FROM work_nodes AS c WHERE open_children <> (SELECT count(*) "
    "FROM work_nodes AS d WHERE d.project_id = c.project_id AND d.parent_n = c.n AND NOT d.resolved)",
    "wrong totals": "SELECT project_id FROM work_projects AS w WHERE (total, resolved) <> (SELECT count(*), "
    "count(CASE WHEN c.resolved THEN 1 END) FROM work_nodes AS c WHERE c.project_id = w.project_id)",
    "a resolved node without its evidence": "SELECT id FROM work_nodes AS c WHERE resolved AND NOT EXISTS (SELECT 1 "
    "FROM work_evidence AS e WHERE e.project_id = c.project_id AND e.node_n = c.n)",
}


@dataclass
class KillResult:
    """What a campaign found."""

    kills: int = 0
    acknowledged: int = 0
    violations: list[str] = field(default_factory=list)
    usable_after_s: list[float] = field(default_factory=list)  # from the start of the next writer to its first answer

    @property
    def usable_p99_s(self) -> float:
        ordered = sorted(self.usable_after_s)
        return ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


class KillCampaign:
    """Writers on one database, which are killed and started again."""

    def __init__(self, engine: Engine, program: Standby, folder: Path, *, seed: int, mode: str = "") -> None:
        self._engine = engine
        self._program = program
        self._folder = folder
        self._chance = random.Random(seed)  # noqa: S311 - the same kills in every run
        self._mode = mode
        self._writers: dict[str, Forked] = {}
        self._starts = 0
        self.result = KillResult()
        engine.session("ada").call("project.create", name=PROJECT)

    def run(self, kills: int) -> KillResult:
        """Kill so many writers, with a check after each round."""
        try:
            for number in range(WRITERS):
                self._start(f"w{number}")
            rounds = 0
            while self.result.kills < kills:
                rounds += 1
                names = list(self._writers) if rounds % ALL_EVERY == 0 else [self._chance.choice(list(self._writers))]
                self._wait_for_answers(names[0])
                ended = [self._kill(name) for name in names]
                for path in ended:
                    self._check(path)
                for name in names:
                    self._start(name)
        finally:
            paths = [self._kill(name) for name in list(self._writers)]
        for path in paths:
            self._check(path)
        self.result.violations += find_half_applied(self._engine)
        self.result.acknowledged = sum(
            attempt.answer is not None for path in self._folder.glob("*.ledger") for attempt in read_attempts(path)
        )
        return self.result

    def _start(self, name: str) -> None:
        self._starts += 1
        path = self._folder / f"{name}.{self._starts}.ledger"
        begun = time.monotonic()
        with Path(os.devnull).open("r+b") as nothing:
            files = (nothing.fileno(), nothing.fileno(), STDERR)
            arguments = (self._engine.db, str(path), name, str(self._starts), *([self._mode] if self._mode else []))
            self._writers[name] = self._program.start(*arguments, files=files, module="tests.campaigns.writer")
        self._wait_for(lambda: _count_answers(path) > 0)
        self.result.usable_after_s.append(time.monotonic() - begun)

    def _kill(self, name: str) -> Path:
        writer = self._writers.pop(name)
        os.kill(writer.pid, signal.SIGKILL)
        writer.stop()
        self.result.kills += 1
        return self._newest_ledger(name)

    def _wait_for_answers(self, name: str) -> None:
        path = self._newest_ledger(name)
        wanted = _count_answers(path) + self._chance.randint(0, ACKNOWLEDGED_MAX)
        self._wait_for(lambda: _count_answers(path) >= wanted)
        time.sleep(self._chance.random() * 0.003)  # any moment of a write, not only the one after an answer

    def _newest_ledger(self, name: str) -> Path:
        return max(self._folder.glob(f"{name}.*.ledger"), key=lambda path: int(path.name.split(".")[1]))

    @staticmethod
    def _wait_for(condition: object) -> None:
        assert callable(condition)
        give_up_at = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < give_up_at, "the writer does not write"
            time.sleep(0.002)

    def _check(self, ledger: Path) -> None:
        """Compare the ledger of a killed writer with the database, and send its last writes again."""
        attempts = read_attempts(ledger)
        name = ledger.name.split(".")[0]
        stored = {op_id for (op_id,) in self._engine.as_owner(f"SELECT op_id FROM answers WHERE actor_id = '{name}'")}
        lost = [attempt.op_id for attempt in attempts if attempt.answer is not None and attempt.op_id not in stored]
        self.result.violations += [f"{op_id} was acknowledged and is lost" for op_id in lost]
        session = self._engine.session(name)
        for attempt in attempts[-2:]:
            if attempt.op_id not in lost:
                self.result.violations += self._send_again(session, attempt)

    def _send_again(self, session: Session, attempt: Attempt) -> list[str]:
        first, second = (
            encode(session.call(attempt.operation, **attempt.arguments, op_id=attempt.op_id)).decode() for _ in range(2)
        )
        if first != second or attempt.answer not in (None, first):
            return [f"{attempt.op_id} was sent again and has another answer"]
        return []


def find_half_applied(engine: Engine) -> list[str]:
    """Return what a write left behind that was applied in part."""
    return [f"{what}: {rows[:3]}" for what, query in HALF_APPLIED.items() if (rows := engine.as_owner(query))]


def _count_answers(path: Path) -> int:
    return path.read_bytes().count(b'"answer"') if path.exists() else 0
