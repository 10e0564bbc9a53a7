"""The machine has teeth: with any one guard of the purpose switched off, it finds a run that goes wrong."""

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
from groundplan.purpose import check, gate_inputs
from groundplan.purpose.content import read_content
from groundplan.purpose.editing import edges, edit, nodes
from groundplan.purpose.events import Op
from groundplan.purpose.exchange import export, import_document, incoming_keys
from groundplan.purpose.gate_inputs import read_gate_inputs
from groundplan.purpose.gates import active_waivers
from groundplan.purpose.gates import run as gates
from groundplan.purpose.keys import fresh_keys
from groundplan.purpose.observing import read_observations
from groundplan.purpose.observing.record import _Recorder
from groundplan.purpose.observing.record import sql as recording
from groundplan.purpose.version import draft_row, read_versions
from groundplan.purpose.versions import draft, publish, required_profile
from groundplan.purpose.versions.cloning import clone
from tests.engines import SqliteEngine
from tests.machines.budget import NOTICED, always
from tests.machines.purpose_driver import run_machine
from tests.machines.test_purpose_files_machine import PurposeFilesMachine
from tests.machines.test_purpose_machine import PurposeMachine

pytestmark = pytest.mark.slow

STEPS_MAX = 2_400

Sabotage = Callable[[pytest.MonkeyPatch, SqliteEngine], None]


def nothing(*_: Any, **__: Any) -> None:
    """What a guard does that was switched off."""


def instead(target: Any, name: str, replacement: Any = nothing) -> Sabotage:
    return lambda monkeypatch, _: monkeypatch.setattr(target, name, replacement)


def asked(queries: Queries, name: str, pattern: str, replacement: str = "") -> Sabotage:
    """A statement that says something else, or lacks something."""

    def put(monkeypatch: pytest.MonkeyPatch, _: SqliteEngine) -> None:
        before: Query = getattr(queries, name)
        changed = re.sub(pattern, replacement, before.sqlite)
        assert changed != before.sqlite
        monkeypatch.setitem(queries._queries, name, Query(name, changed))

    return put


def dropped(*names: str) -> Sabotage:
    """Triggers that are not there; each name stands for all that begin with it."""

    def put(_: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        there = [name for (name,) in engine.as_owner("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        gone = [name for name in there if name.startswith(names)]
        assert gone
        engine.as_owner(*(f"DROP TRIGGER {name}" for name in gone))

    return put


def all_of(*sabotages: Sabotage) -> Sabotage:
    def put(monkeypatch: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        for one in sabotages:
            one(monkeypatch, engine)

    return put


def last_version(tx: Any, *, expected_rev: int | None = None) -> Any:
    """The last version, whether it is a draft or not."""
    return read_versions(tx)[-1]


def at_any_rev(tx: Any, *, expected_rev: int | None = None) -> Any:
    """The draft, whatever it was when the caller saw it."""
    return draft_row(tx)


run_gate, judge = gates.run_gate, gates._judge


def judge_refs_only(code: str, severity: Any, found: Any, waivers: Any) -> Any:
    """A check for which waivers of its refs are enough."""
    return judge(code, severity, found._replace(needs_whole_waiver=False), waivers)


def passed(*given: Any, **named: Any) -> Any:
    """What a gate says that lets everything pass."""
    found = run_gate(*given, **named)
    return found._replace(result=replace(found.result, passed=True))


def forgetful(tx: Any, content: Any, version_id: str) -> None:
    """A copy in which the texts of nodes are lost."""
    nodes = {key: replace(node, narrative=None) for key, node in content.nodes.items()}
    clone(tx, content._replace(nodes=nodes), version_id)


def of_today(tx: Any, row: Any, *given: Any, **named: Any) -> Any:
    """What a gate is told about a version: of a published one as well what was observed since."""
    return read_gate_inputs(tx, row._replace(published_rev=2**53) if row.published_rev else row, *given, **named)


def given_before(tx: Any, prefix: str, count: int) -> list[str]:
    """Keys that may have been given to something that is gone."""
    fresh_keys(tx, prefix, count)
    content = read_content(tx, read_versions(tx)[-1].id)
    there = [*content.nodes, *content.assumptions, *content.indicators]
    taken = [int(key.removeprefix(prefix)) for key in there if key.rstrip("0123456789") == prefix]
    return [f"{prefix}{max(taken, default=0) + n}" for n in range(1, count + 1)]


def unlooked_at(tx: Any, waivers: Any, _path: Any) -> None:
    """Record waivers of whatever check for whatever there is or is not."""
    made = _Recorder(tx)
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
    "what is published can be edited": all_of(instead(edit, "draft_row", last_version), dropped("guard_toc_")),
    "what is published can be published": all_of(instead(publish, "draft_row", last_version), dropped("guard_toc_")),
    "edges may point down": instead(edges, "refuse_downward"),
    "a node may come to stand below its causes": instead(nodes, "refuse_downward"),
    "edges may close a cycle": instead(edges, "refuse_cycles"),
    "a gate lets everything pass": instead(gates, "run_gate", passed),
    "a waiver counts for ever": instead(active_waivers, "waivers_in_force", lambda waivers, _today: list(waivers)),
    "gates look at what came later": instead(check, "read_gate_inputs", of_today),
    "the first review decides": asked(read_observations.sql, "latest_reviews", r"l\.rev DESC, l\.n DESC", "l.rev, l.n"),
    "a copy lacks a text": instead(draft, "clone", forgetful),
    "a key is given again": instead(edit, "fresh_keys", given_before),
    "anybody edits what they have not seen": instead(edit, "draft_row", at_any_rev),
    "a version stands on no facts": instead(gate_inputs, "context_facts"),
    "a draft may be lighter than the project allows": instead(required_profile, "refuse_light_profile"),
    "what is lighter than the project allows is published": instead(publish, "refuse_light_profile"),
    "the same is published again": instead(publish, "latest_published"),
    "outcomes may be waived until nothing is measured": instead(gates, "_judge", judge_refs_only),
    "a call that comes twice is done twice": instead(store, "find_stored_answer"),
}
OF_FILES: dict[str, Sabotage] = {
    "counting does not go on behind keys that came in": instead(incoming_keys, "reach"),
    "waivers come in that nobody looks at": all_of(
        instead(import_document, "refuse_unwaivable"), instead(import_document, "record_waivers", unlooked_at)
    ),
    "waivers that are in force come in again": instead(import_document, "waivers_about", lambda _content, _waivers: []),
    "a theory is taken for another": instead(incoming_keys, "_renamed", lambda *_, **__: []),
    "a theory comes in beside a draft": instead(import_document, "rows_without_draft", read_versions),
    "a file tells of waivers that are not its own": instead(export, "waivers_about", lambda _content, waivers: waivers),
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
    # No shrinking and no looking for more: that it is found will do.
    until_found = settings(always(STEPS_MAX), phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((*NOTICED, *engine.refusals)):
        run_machine(machine, engine, until_found)
    engine.close()
