"""The machine finds a fault with any one guard of the purpose switched off."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from msgspec.structs import replace

from groundplan.kernel.store import store
from groundplan.kernel.store.queries import Queries, Query, to_json_array
from groundplan.purpose import check
from groundplan.purpose.content import read_content, reserve_keys
from groundplan.purpose.editing import edit, items
from groundplan.purpose.exchange import export, import_document, incoming_keys
from groundplan.purpose.gates import gates, run
from groundplan.purpose.gates.run import read_gate_inputs
from groundplan.purpose.observing import read
from groundplan.purpose.observing.record import Recorder
from groundplan.purpose.observing.record import sql as recording
from groundplan.purpose.tables import Op
from groundplan.purpose.versions import drafts, publish
from groundplan.purpose.versions.drafts import clone
from groundplan.purpose.versions.versions import load_draft, read_versions
from tests.engines import SqliteEngine
from tests.machines.budget import NOTICED, fixed_settings
from tests.machines.purpose_driver import run_machine
from tests.machines.test_purpose_files_machine import PurposeFilesMachine
from tests.machines.test_purpose_machine import PurposeMachine

pytestmark = pytest.mark.slow

STEPS_MAX = 24_000  # most are missed within a tenth of them

Sabotage = Callable[[pytest.MonkeyPatch, SqliteEngine], None]


def do_nothing(*_: Any, **__: Any) -> None:
    """A switched-off guard."""


def replace_attribute(target: Any, name: str, replacement: Any = do_nothing) -> Sabotage:
    return lambda monkeypatch, _: monkeypatch.setattr(target, name, replacement)


def change_query(queries: Queries, name: str, pattern: str, replacement: str = "") -> Sabotage:
    """Change a statement."""

    def put(monkeypatch: pytest.MonkeyPatch, _: SqliteEngine) -> None:
        before: Query = getattr(queries, name)
        changed = re.sub(pattern, replacement, before.sqlite)
        assert changed != before.sqlite
        monkeypatch.setattr(queries, name, Query(name, changed))

    return put


def drop_triggers(*names: str) -> Sabotage:
    """Drop triggers; each name stands for all that begin with it."""

    def put(_: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        there = [name for (name,) in engine.as_owner("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        gone = [name for name in there if name.startswith(names)]
        assert gone
        engine.as_owner(*(f"DROP TRIGGER {name}" for name in gone))

    return put


def combine(*sabotages: Sabotage) -> Sabotage:
    def put(monkeypatch: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        for one in sabotages:
            one(monkeypatch, engine)

    return put


def last_version(tx: Any, *, expected_rev: int | None = None) -> Any:
    """Return the last version, draft or not."""
    versions = read_versions(tx)
    return versions[-1] if versions else load_draft(tx)


def at_any_rev(tx: Any, *, expected_rev: int | None = None) -> Any:
    """Return the draft at any revision."""
    return load_draft(tx)


run_gate, judge = run.run_gate, run._judge


def judge_refs_only(code: str, severity: Any, found: Any, waivers: Any) -> Any:
    """A check for which waivers of its refs are enough."""
    return judge(code, severity, found._replace(needs_whole_waiver=False), waivers)


def pass_gate(*given: Any, **named: Any) -> Any:
    """Return a gate result that passes everything."""
    found = run_gate(*given, **named)
    return found._replace(result=replace(found.result, passed=True))


def copy_without_texts(tx: Any, content: Any, version_id: str) -> None:
    """Copy a version without the texts of nodes."""
    nodes = {key: replace(node, narrative=None) for key, node in content.nodes.items()}
    clone(tx, content._replace(nodes=nodes), version_id)


def read_subject_of_today(tx: Any, row: Any, *given: Any, **named: Any) -> Any:
    """Return the gate subject of a version; for a published one with later observations too."""
    return read_gate_inputs(tx, row._replace(published_rev=2**53) if row.published_rev else row, *given, **named)


def reuse_keys(tx: Any, prefix: str, count: int) -> list[str]:
    """Return keys that may have been used before."""
    reserve_keys(tx, prefix, count)
    content = read_content(tx, read_versions(tx)[-1].id)
    there = [*content.nodes, *content.assumptions, *content.indicators]
    taken = [int(key.removeprefix(prefix)) for key in there if key.rstrip("0123456789") == prefix]
    return [f"{prefix}{max(taken, default=0) + n}" for n in range(1, count + 1)]


def record_unchecked_waivers(tx: Any, waivers: Any, _path: Any) -> None:
    """Record waivers without checking them."""
    made = Recorder(tx)
    for one in waivers:
        row = {
            "code": one.code,
            "refs": to_json_array(one.refs),
            "reason": one.reason,
            "owner": one.owner,
            "due": one.due,
        }
        made.add(recording.add_waiver, Op.WAIVED, one.code, **row)


SABOTAGE: dict[str, Sabotage] = {
    "what is published can be edited": combine(
        replace_attribute(edit, "load_draft", last_version), drop_triggers("guard_toc_")
    ),
    "what is published can be published": combine(
        replace_attribute(publish, "load_draft", last_version), drop_triggers("guard_toc_")
    ),
    "edges may point down": replace_attribute(items, "refuse_downward"),
    "a node may come to stand below its causes": replace_attribute(items, "_check_edges_at"),
    "edges may close a cycle": replace_attribute(items, "refuse_cycles"),
    "a gate lets everything pass": combine(
        replace_attribute(publish, "run_gate", pass_gate), replace_attribute(check, "run_gate", pass_gate)
    ),
    "a waiver counts for nothing": replace_attribute(gates, "select_active_waivers", lambda _waivers, _today: []),
    "gates look at what came later": replace_attribute(check, "read_gate_inputs", read_subject_of_today),
    "the first review decides": change_query(read.sql, "latest_reviews", r"l\.rev DESC, l\.n DESC", "l.rev, l.n"),
    "a copy lacks a text": replace_attribute(drafts, "clone", copy_without_texts),
    "a key is given again": replace_attribute(edit, "reserve_keys", reuse_keys),
    "anybody edits what they have not seen": replace_attribute(edit, "load_draft", at_any_rev),
    "a field is overwritten that was changed since it was read": replace_attribute(items, "_refuse_stale_fields"),
    "a version stands on no facts": replace_attribute(run, "read_context_facts"),
    "a draft may be lighter than the project allows": replace_attribute(drafts, "refuse_light_profile"),
    "what is lighter than the project allows is published": replace_attribute(publish, "refuse_light_profile"),
    "the same is published again": replace_attribute(publish, "find_latest_published"),
    "outcomes may be waived until nothing is measured": replace_attribute(run, "_judge", judge_refs_only),
    "a call that comes twice is done twice": replace_attribute(store, "find_stored_answer"),
}
OF_FILES: dict[str, Sabotage] = {
    "counting does not go on behind keys that came in": replace_attribute(incoming_keys, "reserve_up_to"),
    "waivers come in that nobody looks at": combine(
        replace_attribute(import_document, "refuse_unwaivable"),
        replace_attribute(import_document, "record_waivers", record_unchecked_waivers),
    ),
    "waivers that are in force come in again": replace_attribute(
        import_document, "select_waivers_about", lambda _content, _waivers: []
    ),
    "a theory is taken for another": replace_attribute(incoming_keys, "_find_renamed", lambda *_, **__: []),
    "a theory comes in beside a draft": replace_attribute(
        import_document, "load_versions_without_draft", read_versions
    ),
    "a file tells of waivers that are not its own": replace_attribute(
        export, "select_waivers_about", lambda _content, waivers: waivers
    ),
}


MACHINES = {PurposeMachine: SABOTAGE, PurposeFilesMachine: OF_FILES}
GUARDS = [pytest.param(machine, sabotage, id=sabotage) for machine, every in MACHINES.items() for sabotage in every]


@pytest.mark.teeth
@pytest.mark.parametrize(("machine", "sabotage"), GUARDS)
def test_a_guard_that_is_switched_off_is_missed(
    machine: type[PurposeMachine], sabotage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    MACHINES[machine][sabotage](monkeypatch, engine)
    # No shrinking and no further search: one finding is enough.
    until_found = settings(fixed_settings(STEPS_MAX), phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((*NOTICED, *engine.refusals)):
        run_machine(machine, engine, until_found)
    engine.close()
