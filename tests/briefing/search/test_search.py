"""Search in all slices: what is found, in which order, and by whom."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once, person
from tests.errors import error_of

ADA = local_actor("ada", kind=ActorKind.PERSON)
POINTER = "/pciv/coast/length"


def fill_atlas(engine: Engine) -> dict[str, str]:
    """Fill two projects and return the ids of some rows."""
    ada = engine.session(ADA)
    ada.call("work.open", project="atlas", goal="a map of everything")
    planned = ada.call(
        "work.plan",
        project="atlas",
        nodes=[
            {"ref": "draw", "summary": "Draw the coast"},
            {"ref": "ask", "summary": "Ask the harbour master about the northern coast"},
            {"ref": "sea", "summary": "Das Ärgernis am ЖЮЛИ"},
            {"ref": "odd", "summary": 'Mark 50% of "a_b" (NEAR the * buoy)'},
        ],
    )
    ids = {one.ref: one.id for one in planned.created}
    ids["atom"] = ada.call(
        "knowledge.create",
        entityType="atom",
        projectId="atlas",
        name="Sheets",
        createdByTaskId=ids["draw"],
        paths=["sheets/**"],
        knowledge="Heights are above low tide. " * 20 + "The coast is drawn twice a year.",
    ).atom.id
    ada.call("purpose.draft", project="atlas")
    ada.call(
        "purpose.edit",
        project="atlas",
        operations=[
            {"op": "add_node", "ref": "g", "node_type": "GOAL", "title": "Nobody runs aground", "description": "Coast"},
            {"op": "add_assumption", "node": "g", "assumption_text": "Skippers look at the coast"},
            {"op": "add_indicator", "node": "g", "name": "Wrecks on the coast", "unit": "ships"},
        ],
    )
    ada.call(
        "purpose.record", project="atlas", decisions=[{"text": "Leave the hills", "rationale": "The coast is first"}]
    )
    run = ada.call("context.create_draft", scopeId="atlas").run
    ada.call(
        "context.edit",
        runId=run.id,
        inputs=[
            {"pointer": POINTER, "label": "Length", "domain": "coast", "fieldType": "text", "valueKind": "string",
             "value": "coast of 900 km", "provenance": "user-entered"},
        ],
        constraints=[
            {"key": "ink", "label": "Ink on the coast", "domain": "coast", "valueKind": "string", "value": "blue",
             "provenance": "user-entered"},
        ],
        sources=[{"kind": "url", "title": "Survey of the coast", "uri": "https://survey.example"}],
    )  # fmt: skip
    ada.call("work.open", project="borealis", goal="another map")
    ada.call("work.plan", project="borealis", nodes=[{"ref": "far", "summary": "Draw a far coast"}])
    return ids


@pytest.fixture
def ids(engine: Engine) -> dict[str, str]:
    """Ids of rows of the filled project."""
    return fill_once(engine, fill_atlas)


@pytest.fixture
def ada(engine: Engine, ids: dict[str, str]) -> Session:
    """Ada, who sees everything."""
    return engine.session(ADA)


def find(session: Session, text: str, **given: Any) -> list[tuple[str, str]]:
    """Return the slices and refs of the hits in the project."""
    answer = session.call("briefing.search", text=text, **{"project": "atlas"} | given)
    return [(hit.slice.value, hit.ref) for hit in answer.hits]


def test_a_word_is_found_in_every_slice(ada: Session, ids: dict[str, str]) -> None:
    answer = ada.call("briefing.search", text="coast", project="atlas")
    kinds = {(hit.slice.value, hit.kind) for hit in answer.hits}
    assert kinds == {
        ("work", "task"),
        ("knowledge", "atom"),
        ("purpose", "goal"),
        ("purpose", "assumption"),
        ("purpose", "indicator"),
        ("purpose", "decision"),
        ("context", "fact"),
        ("context", "constraint"),
        ("context", "source"),
    }
    assert {hit.project for hit in answer.hits} == {"atlas"}
    assert not answer.more


def test_every_word_must_match_in_any_order_and_case(ada: Session, ids: dict[str, str]) -> None:
    assert find(ada, "COAST harbour ask") == [("work", ids["ask"])]
    assert find(ada, "coast zeppelin") == []
    assert find(ada, "ÄRGERNIS жюли", slices=["work"]) == [("work", ids["sea"])]


def test_every_text_about_a_task_is_found_wherever_it_was_put(ada: Session, ids: dict[str, str]) -> None:
    node = {"ref": "x", "summary": "Sound the bay", "properties": {"description": "By the Zweibrücken method"}}
    task, other = (ada.call("work.plan", project="atlas", nodes=[node]).created[0].id for _ in range(2))
    note = {"type": "note", "ref": "The plumb line was QUIXOTIC"}
    ada.call("work.update", updates=[{"node_id": task, "add_evidence": [note]}])
    section = {"title": "Tides", "usageDescription": "u", "content": "Springs are unfathomable", "ordinal": 0}
    ada.call("section.add", entityType="TASK", entityId=task, **section)

    for text in ("quixotic line", "unfathomable tides", "UNFATHOMABLE", "zweibrÜcken"):
        assert ("work", task) in find(ada, text), text
    [hit, *_] = ada.call("briefing.search", text="quixotic", project="atlas").hits
    assert (hit.title, hit.snippet) == ("Sound the bay", "The plumb line was QUIXOTIC")

    ada.call("work.restructure", operations=[{"op": "merge", "source": task, "target": other}])
    ada.call("work.restructure", operations=[{"op": "drop", "node_id": other, "reason": "The bay is sesquipedalian"}])

    for text in ("quixotic", "unfathomable", "zweibrücken", "sesquipedalian"):
        assert find(ada, text) == [("work", other)], text


def test_the_changelog_of_an_atom_is_found(ada: Session, ids: dict[str, str]) -> None:
    entry = {"parentType": "atom", "parentId": ids["atom"], "taskId": ids["draw"]}
    ada.call("knowledge.append_changelog", summary="Moved to the Zweibrücken datum", **entry)

    [hit] = ada.call("briefing.search", text="datum zweiBRÜCKEN", project="atlas").hits
    assert (hit.ref, hit.title, hit.snippet) == (ids["atom"], "Sheets", "Moved to the Zweibrücken datum")

    version = ada.call("knowledge.get", entityType="atom", id=ids["atom"]).atom.version
    ada.call("knowledge.delete", entityType="atom", id=ids["atom"], version=version)
    assert find(ada, "datum") == []


def test_short_words_match_too(ada: Session, ids: dict[str, str]) -> None:
    assert find(ada, "am", slices=["work"]) == [("work", ids["sea"])]
    assert find(ada, "a_ 50", slices=["work"]) == [("work", ids["odd"])]
    assert find(ada, "жЮ", slices=["work"]) == [("work", ids["sea"])]


@pytest.mark.parametrize("text", ["50%", '"a_b"', "(NEAR", "*", "%", "_", '"', "* buoy)", "NEAR the"])
def test_no_character_has_a_special_meaning(ada: Session, ids: dict[str, str], text: str) -> None:
    assert find(ada, text, slices=["work"]) == [("work", ids["odd"])]


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE work_nodes --", "zz OR yy", "[", "?", "\\", "]", "^x", "🧭", "NOT AND"]
)
def test_any_text_is_safe(ada: Session, ids: dict[str, str], text: str) -> None:
    assert find(ada, text) == []


def test_ids_keys_and_pointers_are_found_first(ada: Session, ids: dict[str, str]) -> None:
    assert find(ada, ids["ask"].upper())[0] == ("work", ids["ask"])
    assert find(ada, ids["atom"]) == [("knowledge", ids["atom"])]
    assert find(ada, "as1")[0] == ("purpose", "AS1")
    assert find(ada, "G1")[0] == ("purpose", "G1")
    assert find(ada, POINTER) == [("context", POINTER)]


def test_an_exact_title_comes_first_and_then_titles_with_all_words(ada: Session, ids: dict[str, str]) -> None:
    assert find(ada, "draw the coast")[0] == ("work", ids["draw"])
    found = find(ada, "coast")
    in_text = [("knowledge", ids["atom"]), ("purpose", "G1"), ("context", POINTER)]
    assert {*found[-4:]} >= {*in_text}
    assert [slice_ for slice_, _ in found[:3]] == ["work", "purpose", "context"]


def test_an_exact_title_is_found_behind_many_newer_ones(ada: Session, ids: dict[str, str]) -> None:
    nodes = [{"ref": f"r{i}", "summary": f"Draw the coast {i}"} for i in range(200)]
    ada.call("work.plan", project="atlas", nodes=nodes)
    answer = ada.call("briefing.search", text="draw the coast", project="atlas", limit=1, slices=["work"])
    assert [hit.ref for hit in answer.hits] == [ids["draw"]]
    assert answer.more == ["work"]


def test_a_limit_and_slices_narrow_the_answer(ada: Session) -> None:
    answer = ada.call("briefing.search", text="coast", project="atlas", limit=2, slices=["purpose", "context"])
    assert [hit.slice.value for hit in answer.hits] == ["purpose", "context"]
    assert answer.more == ["purpose", "context"]


def test_a_snippet_is_a_short_excerpt_around_the_match(ada: Session) -> None:
    (hit,) = ada.call("briefing.search", text="twice", project="atlas").hits
    assert len(hit.snippet) <= 120
    assert hit.snippet.endswith("The coast is drawn twice a year.")
    assert hit.snippet.startswith("…")


def test_a_version_and_its_draft_are_one_hit(ada: Session) -> None:
    assert find(ada, "aground") == [("purpose", "G1")]


@pytest.mark.parametrize("text", ["", "   ", "x" * 10_000, "a\0b", " ".join("abcdefghijklmnopq")])
def test_a_text_without_words_or_beyond_the_limit_is_refused(ada: Session, text: str) -> None:
    assert error_of(lambda: find(ada, text)).code in {"invalid_argument", "too_long", "too_many", "control_character"}


@pytest.mark.parametrize("limit", [0, 51])
def test_a_limit_out_of_range_is_refused(ada: Session, limit: int) -> None:
    assert error_of(lambda: find(ada, "coast", limit=limit)).code == "invalid_argument"


def test_without_a_project_all_visible_projects_are_searched(ada: Session) -> None:
    hits = ada.call("briefing.search", text="draw coast").hits
    assert {hit.project for hit in hits} == {"atlas", "borealis"}


def test_only_members_find_what_is_in_a_project(engine: Engine, ada: Session) -> None:
    ada.call("member.add", scopeId="borealis", userId="cleo", role="viewer")
    engine.create_organization("rival", "mallory")
    cleo, mallory = engine.session(person("cleo")), engine.session(person("mallory", organization="rival"))

    found = cleo.call("briefing.search", text="coast")

    assert [hit.project for hit in found.hits] == ["borealis"]
    assert not found.more
    assert error_of(lambda: find(cleo, "coast")).code == "not_found"
    assert error_of(lambda: find(mallory, "coast")).code == "not_found"
    hidden = mallory.call("briefing.search", text="coast")
    assert (hidden.hits, bool(hidden.more)) == ([], False)


def test_an_archived_project_is_searched_only_by_name(ada: Session) -> None:
    ada.call("project.archive", project="borealis")
    assert {hit.project for hit in ada.call("briefing.search", text="coast").hits} == {"atlas"}
    assert find(ada, "far", project="borealis") != []


def test_the_words_of_a_deleted_row_are_not_found(ada: Session, ids: dict[str, str]) -> None:
    ada.call("knowledge.delete", entityType="atom", id=ids["atom"], version=1)
    assert find(ada, "twice") == []


def test_every_text_of_a_theory_and_of_what_was_recorded_about_it_is_found(ada: Session, engine: Engine) -> None:
    edge = {"source": "AC1", "target": "G1"}
    operations: list[dict[str, Any]] = [
        {"op": "add_node", "node_type": "ACTIVITY", "title": "Sound", "narrative": "wuthering", "owner": "Wilhelmina"},
        {"op": "add_edge", **edge, "mechanism": "xylophones warn"},
        {"op": "add_edge", **edge, "edge_type": "CAUSES", "mechanism": "yodelling warns"},
        {"op": "add_assumption", **edge, "edge_type": "CAUSES", "assumption_text": "zithers sound"},
        {"op": "add_indicator", "node": "AC1", "name": "Fathoms", "method": "quadrants", "frequency": "quinquennial"},
    ]
    ada.call("purpose.edit", project="atlas", operations=operations)
    ada.call(
        "purpose.record",
        project="atlas",
        decisions=[{"text": "Jettison", "rationale": "jackstaffs", "outcome": "jibs"}],
        requests=[{"question": "Which keelson?"}],
        reviews=[{"assumption": "AS1", "status": "holding", "reason": "lugsails", "evidence": "larboard"}],
        waivers=[{"code": "GA_MECHANISM", "refs": [], "reason": "mizzen", "owner": "ada", "due": "2999-01-01"}],
        measurements=[{"indicator": "IN1", "value": 3, "as_of": "2026-01-02", "source": "nautilus", "note": "oakum"}],
    )
    ada.call("purpose.record", project="atlas", measurements=[{"indicator": "IN1", "value": 4, "as_of": "2026-01-03"}])

    assert {word: [ref for _, ref in find(ada, word)] for word in THEORY_WORDS} == THEORY_WORDS
    refs = [ref for word in RECORDED_WORDS for _, ref in find(ada, word)]
    assert len(refs) == len(RECORDED_WORDS)
    assert len({ref.partition(".")[0] for ref in refs}) == 1  # the positions of one write


THEORY_WORDS = {
    "wuthering": ["AC1"],
    "wilhelmina": ["AC1"],
    "xylophones": ["AC1->G1"],
    "yodelling": ["AC1->G1/CAUSES"],
    "zithers": ["AS2"],
    "quadrants": ["IN2"],
    "quinquennial": ["IN2"],
}
RECORDED_WORDS = (
    *("jettison", "jackstaffs", "jibs", "keelson", "lugsails", "larboard", "mizzen", "nautilus", "oakum"),
)


def test_the_name_of_a_published_version_is_found(ada: Session) -> None:
    operations = [
        {"op": "add_node", "node_type": "OUTCOME", "title": "Charts", "ref": "oc"},
        {"op": "add_node", "node_type": "OUTPUT", "title": "Sheets", "ref": "op"},
        {"op": "add_edge", "source": "op", "target": "oc"},
        {"op": "add_edge", "source": "oc", "target": "G1"},
    ]
    ada.call("purpose.edit", project="atlas", operations=operations)
    ada.call("purpose.publish", project="atlas", label="Equinox")

    assert find(ada, "equinox") == [("purpose", "v1")]
