"""Files of beads: every trap of the format, and the same work is ready here as there."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.exchange.beads import read_beads
from groundplan.exchange.import_source import TargetTool, write_items
from groundplan.exchange.items import BadLineFound, UnreadableSource
from groundplan.work.importing.items import digest_item
from tests.engines import Engine, SqliteEngine
from tests.exchange.beads_files import EARLIER, LATER, NOW, find_ready, issue, write_issues
from tests.exchange.imports import Switch, details
from tests.proof import scaled

EVIDENCE = [{"type": "note", "ref": "done"}]
TRAPS = [
    issue("isle-epic", issue_type="epic", labels=[" coast ", "", "a:b", "coast"], priority=0),
    issue("isle-epic.1", description="one\\ntwo\x1b[0m", title="A title with a break\n"),  # dotted, without an edge
    issue("isle-epic.1.1", parents=["isle-epic.1"], blocks=["isle-b"]),
    issue("isle-epic.2", parents=["isle-b", "isle-epic"]),  # two parents, one of them dotted
    issue("isle-x.1", parents=["isle-b"]),  # dotted, and the edge names another
    issue("isle-two", parents=["isle-b", "isle-epic"]),
    issue("isle-b", "in_progress", assignee="ben", external_ref="gh-9", comments=[{"author": "cleo", "text": "soon"}]),
    issue("isle-gone", "tombstone", delete_reason="not needed", deleted_at="2026-02-01T00:00:00Z"),
    issue("isle-was", "closed", deleted_at="2026-02-01T00:00:00Z", close_reason="done by hand"),
    issue("isle-free", blocks=["isle-gone", "isle-nowhere", "isle-was", "isle-pin"]),
    issue("isle-waits", blocks=["isle-b"]),
    issue("isle-pin", "pinned"),
    issue("isle-odd", "simmering"),
    issue("isle-gate", issue_type="gate"),
    issue("isle-gate-part", parents=["isle-gate"]),
    issue("isle-wisp", ephemeral=True),
    issue("isle-late", defer_until=LATER),
    issue("isle-late-part", parents=["isle-later"]),
    issue("isle-later", defer_until=LATER),
    issue("isle-early", defer_until=EARLIER),
    issue("isle-below", parents=["isle-was"]),
    issue(
        "isle-Up-r", "cancelled", close_reason="too dear", others=[("discovered-from", "isle-b"), ("related", "isle-b")]
    ),
    issue("isle-7", "blocked"),
    issue("isle-l1", blocks=["isle-l2"]),
    issue("isle-l2", blocks=["isle-l1"]),
    issue("isle-self", blocks=["isle-self"]),
]


@pytest.fixture
def switch(engine: Engine) -> Switch:
    return Switch(engine, "beads")


@pytest.fixture(autouse=True)
def _fixed_now(monkeypatch: pytest.MonkeyPatch) -> None:
    from groundplan.exchange import beads as module

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return NOW

    monkeypatch.setattr(module, "datetime", Clock)


def test_a_file_with_every_trap_is_ready_here_as_there(switch: Switch, tmp_path: Path) -> None:
    report = switch.run(write_issues(tmp_path / ".beads", TRAPS))

    assert switch.ready() == find_ready(TRAPS)
    assert report["counts"]["created"] == len(TRAPS) - 1
    assert report["left_out"] == {"tombstones": 1}
    assert details(report, "lost", "blocks") == {"isle-free": "isle-nowhere is not in the file"}
    assert {*details(report, "placed", "loop")} == {"isle-l2", "isle-self"}
    assert {*details(report, "placed", "title")} == {"isle-epic.1"}
    assert details(report, "placed", "description") == {"isle-epic.1": "control characters were replaced"}
    assert {"isle-pin", "isle-odd", "isle-7"} <= {*details(report, "placed", "status")}
    assert details(report, "placed", "parent")["isle-below"].startswith("its parent isle-was is finished")


def test_the_parts_of_an_issue_come_over(switch: Switch, tmp_path: Path) -> None:
    switch.run(write_issues(tmp_path, TRAPS))

    parents = {name: [up.summary for up in switch.node(name).ancestors][1:] for name in ("isle-epic.2", "isle-x.1")}
    assert parents == {"isle-epic.2": ["Issue isle-epic"], "isle-x.1": ["Issue isle-b"]}
    assert [up.summary for up in switch.node("isle-epic.1").ancestors][1:] == ["Issue isle-epic"]
    task = switch.session.call("container.get", containerType="task", id="isle-epic")
    assert task.task.tags == ["a:b", "coast", "epic"]
    node = switch.node("isle-b").node
    assert (node.state, node.context_links, node.properties["assignee"]) == ("in_progress", ["gh-9"], "ben")
    assert [(one.type, one.ref) for one in node.evidence] == [("comment", "cleo: soon")]
    assert switch.node("isle-epic").node.properties["priority"] == 4
    dropped = switch.node("isle-Up-r")
    assert [(one.type, one.ref) for one in dropped.node.evidence] == [("dropped", "too dear")]
    assert {one.type for one in dropped.related} == {"discovered-from", "relates_to"}
    assert "isle-gone" not in {item.sources["beads"] for item in switch.export()}


def test_a_deferred_issue_does_not_hold_what_is_open_below_its_finished_parts(switch: Switch, tmp_path: Path) -> None:
    issues = [
        issue("a", defer_until=LATER),
        issue("b", "closed", parents=["a"]),
        issue("c", "closed", parents=["b"]),
        issue("d", parents=["c"]),
    ]
    report = switch.run(write_issues(tmp_path, issues))

    assert switch.ready() == find_ready(issues) == {"d"}
    assert "its unfinished parts are ready in beads" in details(report, "placed", "hold")["a"]


def test_the_later_update_of_the_same_id_counts(switch: Switch, tmp_path: Path) -> None:
    lines = [
        issue("a", title="new", updated_at="2026-03-01T00:00:00Z"),
        issue("a", title="old", updated_at="2026-02-28T23:00:00-03:00"),
        issue("b"),
        issue("a", title="older", updated_at="2026-01-01T00:00:00Z"),
    ]
    report = switch.run(write_issues(tmp_path, lines))

    assert {node.summary for node in switch.query(is_leaf=True)} == {"old", "Issue b"}
    assert {*details(report, "placed", "twice")} == {"a"}


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ('{"id": "a", "title": "t", "status": "open"}\n<<<<<<< HEAD\n', 2, "conflict marker"),
        ('{"id": "a", "title": "t", "status": "open"}\n=======\n', 2, "conflict marker"),
        ('{"id": "a", "title": "t", "status": "open"}\n{"id": \n', 2, "not JSON"),
        ('{"id": "a", "title": "t", "status": "open"}\n[1]\n', 2, "not a JSON object"),
        ('\n\n{"id": "a", "status": "open"}\n', 3, "no title"),
        ('{"id": "a", "title": "' + "x" * 5000 + '", "status": "open"}\n', 1, "more than 4096 bytes"),
        ('{"id": "a\\u0000", "title": "t", "status": "open"}\n', 1, "characters"),
    ],
)
def test_a_bad_line_refuses_the_file_with_its_number_or_is_skipped(
    switch: Switch, tmp_path: Path, content: str, line: int, reason: str
) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_text(content + '{"id": "z", "title": "fine", "status": "open"}\n', encoding="utf-8")

    with pytest.raises(BadLineFound) as caught:
        switch.run(path)
    assert (caught.value.details["line"], caught.value.exit_code) == (line, 2)
    assert reason in caught.value.problem
    assert switch.session.call("project.list").projects == []

    report = switch.run(path, skip_bad=True)
    assert [(one["line"], reason in one["reason"]) for one in report["skipped"]] == [(line, True)]
    assert "fine" in {node.summary for node in switch.query(is_leaf=True)}


@pytest.mark.parametrize(
    "content",
    ["../other.jsonl", '{"name": "a", "value": 1}\n', "", "\ufeff\n"],
    ids=["the target of a link as text", "another tool", "empty", "only a mark"],
)
def test_what_is_no_file_of_beads_makes_nothing(switch: Switch, tmp_path: Path, content: str) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_text(content, encoding="utf-8")
    if content.strip("\ufeff\n"):
        with pytest.raises((UnreadableSource, BadLineFound)):
            switch.run(path)
    else:
        assert "no items" in switch.run(path)["warnings"][0]
    assert switch.session.call("project.list").projects == []


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_bytes((json.dumps(issue("a", title="Küste"), ensure_ascii=False) + "\r\n").encode(encoding))
    assert [item.title for item in read_beads(path, skip_bad=False).items] == ["Küste"]


def test_a_file_of_50_megabytes_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    with pytest.raises(UnreadableSource, match="larger than 50 MB"):
        read_beads(path, skip_bad=False)


def test_deletions_of_older_versions_drop_their_nodes(switch: Switch, tmp_path: Path) -> None:
    path = write_issues(tmp_path, [issue("a"), issue("b")], "beads.jsonl")
    switch.run(tmp_path)
    write_issues(tmp_path, [issue("b")], "beads.jsonl")
    (tmp_path / "deletions.jsonl").write_text('{"id": "a", "ts": "2026-01-01", "by": "ben", "reason": "old"}\n')

    switch.run(path)

    assert [(one.type, one.ref) for one in switch.node("a").node.evidence] == [("dropped", "old")]
    assert switch.ready() == {"b"}


def test_a_backup_joins_its_tables_and_counts_rows_of_others(switch: Switch, tmp_path: Path) -> None:
    folder = tmp_path / ".beads" / "backup"
    columns: dict[str, Any] = {"pinned": 0, "ephemeral": 0, "metadata": '{"k": 1}', "description": ""}
    write_issues(folder, [issue("a", **columns), issue("b", **{**columns, "ephemeral": 1}), issue("c", **columns)])
    rows = [
        {"issue_id": "c", "depends_on_id": "a", "type": "blocks"},
        *({"issue_id": f"other-{n}", "depends_on_id": "a", "type": "blocks"} for n in range(5)),
    ]
    write_issues(folder, rows, "dependencies.jsonl")
    write_issues(folder, [{"issue_id": "a", "label": "sea"}], "labels.jsonl")
    write_issues(folder, [{"issue_id": "a", "author": "ben", "text": "hm"}], "comments.jsonl")

    report = switch.run(folder)

    assert switch.ready() == {"a"}
    assert report["left_out"] == {"dependencies of issues that are not in the backup": 5}
    assert switch.node("a").node.properties["metadata"] == {"k": 1}


def test_an_export_leads_back_to_the_same_issues(switch: Switch, engine: Engine, tmp_path: Path) -> None:
    switch.run(write_issues(tmp_path, TRAPS))
    switch.session.call("work.plan", project="isle", nodes=[{"ref": "x", "summary": "made here"}])
    written = write_items(TargetTool.BEADS, switch.export())
    path = tmp_path / "back.jsonl"
    path.write_text(written.files[""], encoding="utf-8")

    lines = [json.loads(line) for line in written.files[""].splitlines()]
    by_id = {one["id"]: one for one in lines}
    assert [one["id"] for one in lines] == sorted(by_id)
    # Held because of a loop; the loop is there again, and so is the status.
    assert {by_id[name]["status"] for name in ("isle-l2", "isle-self")} == {"open"}
    assert [one["depends_on_id"] for one in by_id["isle-self"]["dependencies"]] == ["isle-self"]
    for one in TRAPS:
        if one["status"] != "tombstone" and one["id"] not in ("isle-l2", "isle-self"):
            back = by_id[one["id"]]
            assert (back["status"], back["priority"], back["issue_type"]) == (
                one["status"],
                one["priority"],
                one["issue_type"],
            )
    assert [one["title"] for one in lines if one["id"].startswith("gp-")] == ["made here"]
    written_again = {one.source_id: digest_item(one) for one in read_beads(path, skip_bad=False).items}
    before = {one.source_id: digest_item(one) for one in read_beads(tmp_path / "issues.jsonl", skip_bad=False).items}
    assert {name: written_again[name] for name in before} == before
    here = switch.run(path)
    assert (here["counts"]["created"], here["counts"]["updated"], here["conflicts"]) == (0, 0, [])
    again = Switch(engine, "beads", "again")
    again.run(path)
    mine = next(one["id"] for one in lines if one["id"].startswith("gp-"))
    assert again.ready() == find_ready(TRAPS) | {mine}


def hold(switch: Switch, name: str, operation: str) -> None:
    """Hold a task by hand, or release its hold."""
    node = switch.node(name).node
    given = {"blockedReason": "the harbour is closed"} if operation == "block" else {}
    task = {"containerType": "task", "id": node.id, "version": node.rev}
    switch.session.call(f"container.{operation}", **task, blockedBy="NO_OP", **given)


def export_statuses(switch: Switch, path: Path) -> dict[str, str]:
    """Export to a file, and return the status of each issue in it."""
    path.write_text(write_items(TargetTool.BEADS, switch.export()).files[""], encoding="utf-8")
    return {line["id"]: line["status"] for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def test_an_export_keeps_each_status_until_somebody_changes_its_item(switch: Switch, tmp_path: Path) -> None:
    words = {"p": "hooked", "q": "deferred", "r": "pinned", "s": "simmering"}
    parents = [issue(name, word) for name, word in words.items()]
    parts = [issue(f"{name}.1", parents=[name]) for name in words]
    switch.run(write_issues(tmp_path, [*parents, *parts]))

    assert export_statuses(switch, tmp_path / "back.jsonl") == words | {f"{name}.1": "open" for name in words}
    assert switch.run(tmp_path / "back.jsonl")["counts"]["updated"] == 0

    for name in ("p.1", "q.1", "q"):
        switch.session.call("work.update", updates=[{"node_id": name, "resolved": True, "add_evidence": EVIDENCE}])
    changed = export_statuses(switch, tmp_path / "changed.jsonl")
    # Without unfinished parts, `hooked` would hold what is open here.
    assert changed == {**words, "p": "open", "q": "closed"} | {
        "p.1": "closed",
        "q.1": "closed",
        "r.1": "open",
        "s.1": "open",
    }
    assert switch.run(tmp_path / "changed.jsonl")["conflicts"] == []


def test_a_status_that_holds_an_issue_goes_when_the_hold_is_released(switch: Switch, tmp_path: Path) -> None:
    switch.run(write_issues(tmp_path, [issue("p", "hooked"), issue("q", "open", pinned=True)]))
    assert export_statuses(switch, tmp_path / "back.jsonl") == {"p": "hooked", "q": "open"}

    hold(switch, "p", "unblock")

    assert export_statuses(switch, tmp_path / "back.jsonl") == {"p": "open", "q": "open"}
    hold(switch, "p", "block")
    assert export_statuses(switch, tmp_path / "back.jsonl") == {"p": "hooked", "q": "open"}


WORDS = ["open", "open", "in_progress", "closed", "cancelled", "deferred", "hooked", "pinned", "tombstone", "odd"]
IDS = [f"z-{letter}" for letter in "abcdef"] + ["z-a.1", "z-a.2"]


@st.composite
def issue_files(draw: st.DrawFn) -> list[dict[str, Any]]:
    made = []
    for at, id_ in enumerate(IDS):
        earlier = IDS[:at]
        given: dict[str, Any] = {
            "issue_type": draw(st.sampled_from(["task", "task", "task", "epic", "gate", "agent"])),
            "blocks": draw(st.lists(st.sampled_from([*IDS, "nowhere"]), max_size=2, unique=True)),
            "parents": draw(st.lists(st.sampled_from(earlier), max_size=1)) if earlier else [],
        }
        if draw(st.integers(0, 5)) == 0:
            given["defer_until"] = draw(st.sampled_from([LATER, EARLIER]))
        if draw(st.integers(0, 5)) == 0:
            given[draw(st.sampled_from(["ephemeral", "pinned", "is_template"]))] = True
        status = draw(st.sampled_from(WORDS))
        made.append(issue(id_, status, **given))
    return draw(st.permutations(made))


@given(issues=issue_files())
@settings(max_examples=scaled(30, 1000), suppress_health_check=[*HealthCheck])
def test_what_was_ready_there_is_ready_here(
    tmp_path_factory: pytest.TempPathFactory, issues: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("beads")
    engine = SqliteEngine(folder / "plan.db")
    try:
        switch = Switch(engine, "beads")
        switch.run(write_issues(folder, issues))
        assert switch.ready() == find_ready(issues)
        switch.run(write_issues(folder, issues))
        assert switch.ready() == find_ready(issues)
        statuses = {line["id"]: line["status"] for line in issues if line["status"] != "tombstone"}
        assert export_statuses(switch, folder / "back.jsonl") == statuses
        counts = switch.run(folder / "back.jsonl")["counts"]
        assert (counts["created"], counts["updated"], counts["conflicts"]) == (0, 0, 0)
    finally:
        engine.close()
