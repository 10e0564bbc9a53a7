"""Long work says how much of it is done: imports, migrations, checks and exports, if somebody watches."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from groundplan.catalog import build_schema
from groundplan.exchange import write_backlog
from groundplan.kernel.operations.progress import WorkCounter, count_progress, watch_progress
from groundplan.kernel.store.sqlite.file import migrate
from groundplan.work.importing.export import ExportedItem
from tests.engines import Engine
from tests.exchange.beads_files import issue, write_issues
from tests.exchange.imports import Switch


class Shares:
    """What a watcher is told."""

    def __init__(self) -> None:
        self.reported: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.reported.append((done, total))

    def check(self) -> None:
        """Check that the share rises to the whole, of a total that stays."""
        assert len({total for _, total in self.reported}) == 1
        assert self.reported == sorted(self.reported)
        assert self.reported[-1][0] == self.reported[-1][1] > 0


def test_an_import_counts_new_and_changed_items(engine: Engine, tmp_path: Path) -> None:
    switch, new, changed = Switch(engine, "beads"), Shares(), Shares()

    with watch_progress(new):
        switch.run(write_issues(tmp_path, [issue(f"isle-{number}") for number in range(30)]))
    with watch_progress(changed):
        switch.run(write_issues(tmp_path, [issue(f"isle-{number}", title="new") for number in range(30)]))

    new.check()
    assert len(new.reported) > 30  # not only at the end
    changed.check()


def test_a_migration_counts_its_steps() -> None:
    shares = Shares()
    connection = sqlite3.connect(":memory:", isolation_level=None)

    with watch_progress(shares):
        migrate(connection, build_schema())
    connection.close()

    shares.check()


def test_an_export_counts_its_items() -> None:
    shares = Shares()
    at = "2026-01-01T00:00:00.000Z"

    with watch_progress(shares):
        write_backlog.write_backlog(
            [ExportedItem(id=name, title=name, fate="open", created_at=at, updated_at=at) for name in "abc"]
        )

    shares.check()


def test_nobody_has_to_watch() -> None:
    assert list(count_progress("abc", 3)) == ["a", "b", "c"]
    WorkCounter(3).add(1)
