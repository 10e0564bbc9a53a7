"""`purpose import` on the command line: a file becomes a draft or nothing, and the report about it."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from groundplan.kernel.errors import Unavailable
from groundplan.purpose.exchange.formats import FORMATS, FileFormat
from groundplan.session import Session
from tests.surfaces.cli.conftest import Run
from tests.surfaces.cli.theory_files import CANVAS, THEORY, WAIVER, FileCommands, plan_without_theory, write_file


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plan_without_theory(tmp_path_factory.mktemp("plan"))


@pytest.fixture
def files(run: Run, plan: Path) -> FileCommands:
    return FileCommands(run, plan)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Put text on standard input."""
    return lambda raw: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_a_theory_taken_into_another_project_is_the_same_file_there(files: FileCommands, run: Run) -> None:
    files.begin(waivers=[WAIVER])
    files("export", "--out", "theory.json")
    run("project", "create", "borea")

    taken = run("purpose", "import", "theory.json", "--project", "borea", "--json").answer

    assert taken["version"]["number"] == 1
    assert taken["counts"] == {
        "nodes": 4,
        "edges": 3,
        "assumptions": 1,
        "indicators": 1,
        "waivers": 1,
        "measurements": 0,
    }
    assert (taken["keys"], taken["skipped"], taken["gate"]) == ([], [], {"passed": True, "failing": []})
    assert files.run("purpose", "export", "--project", "borea", "--out", "again.json").code == 0
    assert Path("again.json").read_bytes() == Path("theory.json").read_bytes()


def test_a_theory_that_came_in_is_told_of_and_the_next_command_works(files: FileCommands, run: Run) -> None:
    told = files("import", write_file("theory.json", THEORY)).out

    assert told.splitlines()[:2] == [
        "Imported 4 nodes, 3 edges, 1 assumption, 1 indicator from 'theory.json'.",
        f"The draft of v1 is at rev {files.answer('open')['rev']}.",
    ]
    assert "Gate A would pass." in told
    (following,) = re.findall(r"^Next: groundplan (.*)$", told, re.MULTILINE)
    assert run(*shlex.split(following)).code == 0


def test_an_empty_theory_is_one_too(files: FileCommands) -> None:
    assert "Imported nothing from 'empty.json'." in files("import", write_file("empty.json", {"nodes": []})).out


def test_names_of_others_become_keys_and_what_did_not_come_in_is_explained(files: FileCommands, run: Run) -> None:
    write_file("drawn.canvas", CANVAS)

    shown = files("import", "drawn.canvas").out
    files.call("purpose.discard")
    told = files.answer("import", "drawn.canvas")

    assert len(told["keys"]) == 7
    assert "  card 2 -> AC1\n" in shown
    assert "and 2 more" in shown
    assert {"what": "edge", "why": "it leads from a node to itself", "count": 1, "examples": ["card 1 -> card 1"]} in (
        told["skipped"]
    )
    assert "edge: it leads from a node to itself (card 1 -> card 1)" in shown
    assert not told["gate"]["passed"]
    assert "GA_ORPHANS" in told["gate"]["failing"]
    assert re.findall(r"^  (GA_\w+), block: ", shown, re.MULTILINE) == told["gate"]["failing"]
    assert shown.endswith("Next: groundplan purpose check A --project atlas\n")
    assert run("purpose", "check", "A", "--project", "atlas").code == 0


def test_names_are_drawn_as_text_on_one_line(files: FileCommands) -> None:
    drawn = deepcopy(CANVAS)
    drawn["nodes"][2]["id"] = "[red]\u202e\nnext"

    shown = files("import", write_file("drawn.canvas", drawn)).out

    assert "[red]\\u202e next -> AC1" in shown
    assert "\u202e" not in shown


def test_the_sheets_of_csv_may_be_several_files_each_with_its_own_encoding_and_separator(
    files: FileCommands, pipe: Callable[[bytes], None]
) -> None:
    Path("factors.csv").write_bytes("\ufeffkey,type,title\r\nAC1,ACTIVITY,Dig\r\nG1,GOAL,Wéll".encode())
    Path("links.csv").write_bytes("source;target\nAC1;G1\n".encode("utf-16"))
    pipe(b"\xef\xbb\xbfsep=|\nkey|node|name\nIN1|G1|Litres, clean\n")

    taken = files.answer("import", "factors.csv", "links.csv", "-", "--format", "csv")

    assert (taken["counts"]["nodes"], taken["counts"]["edges"], taken["counts"]["indicators"]) == (2, 1, 1)
    assert taken["skipped"] == []
    assert {node["title"] for node in files.answer("open")["nodes"]} == {"Dig", "Wéll"}


def test_several_files_may_be_no_larger_together_than_one(files: FileCommands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.files.FILE_BYTES_MAX", 100)
    rows = write_file("rows.csv", "key,type,title\nG1,goal,Health and wells\n")
    more = write_file("more.csv", "key,type,title\nG2,goal,Wealth and more\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\n")

    assert files("import", rows, more, "--json").error == (2, "unreadable_file")
    assert "more than 100 bytes" in files("import", rows, rows, rows).err
    assert files("import", rows, "--json").answer["counts"]["nodes"] == 1


def test_standard_input_is_a_file_whose_format_must_be_said(files: FileCommands, pipe: Callable[[bytes], None]) -> None:
    pipe(json.dumps(THEORY).encode())
    assert files("import", "-", "--json").error == (2, "usage")

    told = files("import", "-", "--format", "json").out

    assert "from standard input." in told
    assert files.versions == [1]


def test_a_file_larger_than_a_request_comes_in(files: FileCommands) -> None:
    more = [
        {"key": f"AC{n}", "node_type": "ACTIVITY", "title": "Dig", "description": "x" * 16_000} for n in range(2, 80)
    ]

    taken = files.answer("import", write_file("large.json", {**THEORY, "nodes": [*THEORY["nodes"], *more]}))

    assert Path("large.json").stat().st_size > 1 << 20
    assert taken["counts"]["nodes"] == 82
    assert "GA_ORPHANS" in taken["gate"]["failing"]


def test_nothing_that_is_refused_leaves_a_draft(files: FileCommands) -> None:
    def changed(sort: str, *more: Any) -> dict[str, Any]:
        return {**THEORY, sort: [*THEORY[sort], *more]}

    Path("bytes.csv").write_bytes(b"key,type,title\nG1,GOAL,\xff\n")
    Path("broken.xmpz2").write_bytes(b"PK\x03\x04 and then nothing")
    refused = {
        words: files("import", *words, "--json").error
        for words in (
            (write_file("no.json", "{"),),
            (write_file("other.json", CANVAS),),
            (write_file("future.json", {**THEORY, "format": 2}),),
            (write_file("self.json", changed("edges", {"source": "G1", "target": "G1"})),),
            (write_file("nowhere.json", changed("edges", {"source": "G1", "target": "G9"})),),
            (write_file("same.json", changed("nodes", THEORY["nodes"][0])),),
            (write_file("day.json", changed("waivers", {**WAIVER, "due": "soon"})),),
            (write_file("ids.canvas", {"nodes": [*CANVAS["nodes"], *CANVAS["nodes"]]}),),
            (write_file("rows.csv", "a,b\n1,2\n"),),
            ("rows.csv", "bytes.csv"),
            ("bytes.csv",),
            ("broken.xmpz2",),
            ("no.json", "other.json"),
            ("rows.csv", "no.json"),
            ("-", "-", "--format", "csv"),
            ("none.json",),
            (write_file("theory.svg", "<svg/>"),),
        )
    }

    family = {words: code for words, (code, _) in refused.items()}
    assert family == {**dict.fromkeys(refused, 2), ("self.json",): 6, ("nowhere.json",): 3}
    assert refused["self.json",][1] == "self_edge"
    assert refused["no.json", "other.json"] == refused["rows.csv", "no.json"] == (2, "usage")
    assert files.versions == []
    assert files("import", write_file("theory.json", THEORY)).code == 0


def test_a_file_of_another_format_is_named_with_the_format_that_it_seems_to_have(files: FileCommands) -> None:
    native, canvas, rows = (
        write_file("n", THEORY),
        write_file("c", CANVAS),
        write_file("r", "key,type,title\nG1,GOAL,Health\n"),
    )
    Path("z").write_bytes(b"PK\x05\x06" + bytes(18))

    told = {
        (name, said): files("import", name, "--format", said, "--json")
        for name, said in (
            (native, "canvas"),
            (native, "csv"),
            (canvas, "json"),
            (rows, "json"),
            (rows, "xmpz2"),
            ("z", "json"),
            ("z", "xmpz2"),
        )
    }

    for (name, said), ended in told.items():
        body = json.loads(ended.err)["error"]
        assert (ended.code, body["details"]["file"]) == (2, name)
        assert body["message"].startswith(f"'{name}': ")
        assert "nothing was imported" in body["message"]
        seems = {native: "json", canvas: "canvas", "z": "xmpz2"}.get(name)
        if seems is None:
            assert f"if it is not {said}, use --format " in body["message"]
            assert "csv" in body["message"]
        else:
            assert (f"use --format {seems}" in body["message"]) == (seems != said)
    assert files.versions == []


def test_of_several_files_the_one_that_cannot_be_read_is_named(files: FileCommands) -> None:
    Path("bytes.csv").write_bytes(b"source,target\n\xff,G1\n")

    refused = files("import", write_file("rows.csv", "key,type,title\nG1,GOAL,Health\n"), "bytes.csv", "--json")

    assert refused.error == (2, "unreadable_file")
    assert json.loads(refused.err)["error"]["details"]["file"] == "bytes.csv"


def test_there_is_one_draft_at_a_time_and_it_stays_as_it_is(files: FileCommands) -> None:
    files.begin()
    before = files("export", "--format", "json").out

    assert files("import", write_file("drawn.canvas", CANVAS), "--json").error == (5, "draft_exists")
    assert files("export", "--format", "json").out == before


def test_only_an_owner_brings_waivers_and_others_leave_them_out(files: FileCommands, run: Run) -> None:
    run("member", "add", "ben", "--project", "atlas", "--role", "editor")
    write_file("theory.json", {**THEORY, "waivers": [WAIVER]})
    as_ben = ("theory.json", "--access", "members", "--person", "ben")

    refused = files("import", *as_ben, "--json")
    assert refused.error == (4, "forbidden")
    assert "--without-waivers" in refused.err
    assert files.versions == []
    taken = files.answer("import", *as_ben, "--without-waivers")

    assert taken["counts"]["waivers"] == 0
    assert [(one["what"], one["count"], one["examples"]) for one in taken["skipped"]] == [
        ("waiver", 1, ["GA_OUTCOME_COVERAGE"])
    ]


def test_a_viewer_takes_nothing_in(files: FileCommands, run: Run) -> None:
    run("member", "add", "cleo", "--project", "atlas", "--role", "viewer")

    refused = files("import", write_file("theory.json", THEORY), "--access", "members", "--person", "cleo", "--json")

    assert refused.error == (4, "forbidden")
    assert "--without-waivers" not in refused.err


def test_what_the_reader_and_what_the_plan_left_out_is_told_together(files: FileCommands) -> None:
    past = {**WAIVER, "due": "2000-01-01"}

    taken = files.answer("import", write_file("theory.json", {**THEORY, "waivers": [past, WAIVER]}))

    assert (taken["counts"]["waivers"], [one["why"] for one in taken["skipped"]]) == (1, ["expired"])


def test_the_same_request_twice_is_one_draft_even_when_it_is_gone(files: FileCommands) -> None:
    write_file("theory.json", THEORY)
    first, second = (files("import", "theory.json", "--op-id", "once", "--json").answer for _ in range(2))

    assert first == second
    assert files.versions == [1]
    files.call("purpose.discard")
    assert files.answer("import", "theory.json", "--op-id", "once") == {**first, "gate": None}
    assert "The draft of v1 no longer exists." in files("import", "theory.json", "--op-id", "once").out


def test_a_request_that_is_sent_again_tells_nothing_of_a_draft_that_is_another_one(files: FileCommands) -> None:
    again = ("import", write_file("theory.json", THEORY), "--op-id", "once")
    first = files.answer(*again)
    files.call("purpose.edit", operations=[{"op": "add_node", "node_type": "ACTIVITY", "title": "Alone"}])
    assert files.answer(*again) == {**first, "gate": None}
    files.call("purpose.discard")
    files("import", write_file("drawn.canvas", CANVAS))

    assert files.answer(*again) == {**first, "gate": None}
    told = files(*again).out
    assert f"v1 has changed since the import; it is at rev {files.answer('open')['rev']}." in told
    assert "Gate A" not in told


def test_a_gate_that_cannot_be_asked_does_not_hide_that_a_theory_came_in(
    files: FileCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(session: Session, name: str, **arguments: Any) -> Any:
        if name == "purpose.check":
            raise Unavailable("the store did not answer")
        return session.run(session.operations[name], arguments)

    monkeypatch.setattr(Session, "call", call)
    taken = files.answer("import", write_file("theory.json", THEORY))

    assert (taken["counts"]["nodes"], taken["gate"]) == (4, None)
    files.call("purpose.discard")
    ended = files("import", "theory.json")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "Gate A could not be checked: the store did not answer")


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("a.canvas", CANVAS, "Not included in a canvas: confidence, indicators, owners, "),
        ("a.csv", "key,type,title\nG1,goal,Health\n", "Not included in CSV sheets: waivers, profile.\n"),
        ("a.json", THEORY, ""),
    ],
)
def test_what_no_file_of_a_format_can_bring_is_said(files: FileCommands, file: str, content: Any, told: str) -> None:
    shown = files("import", write_file(file, content)).out
    files.call("purpose.discard")

    taken = files.answer("import", file)

    assert told in shown
    assert ("Not in" in shown) == bool(told)
    assert taken["not_carried"] == [*FORMATS[FileFormat(file[2:])].not_carried]


def test_keys_of_another_theory_are_asked_about_and_can_be_made_new(files: FileCommands) -> None:
    files.begin()
    files.call("purpose.publish")
    nodes = [{**node, "title": f"Another {node['key']}"} for node in THEORY["nodes"]]
    write_file("other.json", {**THEORY, "nodes": nodes})

    assert files("import", "other.json", "--json").error == (5, "keys_of_another_theory")
    assert files.versions == [1]
    assert {"name": "G1", "key": "G2"} in files.answer("import", "other.json", "--keys", "new")["keys"]
    files.call("purpose.discard")
    assert files.answer("import", "other.json", "--keys", "same")["keys"] == []


def test_a_wrong_name_of_a_database_makes_none(files: FileCommands) -> None:
    write_file("theory.json", THEORY)

    assert files("import", "theory.json", "--db", "no.db", "--json").error == (7, "store_missing")
    assert not Path("no.db").exists()
