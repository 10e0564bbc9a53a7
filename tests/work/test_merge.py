"""graph_restructure merge: the target gets everything of the source, and the source's history stays."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import NotFound, RuleViolated
from tests.engines import Engine
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.client import WorkClient

EDGES = (
    "SELECT f.id, e.type, t.id FROM work_edges AS e JOIN work_nodes AS f ON f.n = e.from_n "
    "JOIN work_nodes AS t ON t.n = e.to_n ORDER BY e.from_n, e.type, e.to_n"
)


def edges(engine: Engine, work: WorkClient) -> list[tuple[str, str, str]]:
    return [(work.name(source), type_, work.name(target)) for source, type_, target in engine.as_owner(EDGES)]


def test_the_target_gets_the_children_of_the_source(work: WorkClient) -> None:
    work.plan("source\n  a\n    b\n  c\ntarget\n  d")

    answer = work.merge("source", "target")

    assert [(one.op, work.name(one.node_id)) for one in answer.details] == [("merge", "source")]
    assert work.names(work.context("target").children.children) == ["a", "c", "d"]
    assert work.names(work.context("b").ancestors) == ["root", "target", "a"]


def test_the_target_gets_the_evidence_of_the_source_behind_its_own(work: WorkClient) -> None:
    work.plan("source\ntarget")
    work.by("ben").update("source", add_evidence=[{"type": "git", "ref": "1"}, {"type": "test", "ref": "2"}])
    work.update("target", add_evidence=[{"type": "note", "ref": "3"}])

    work.by("cleo").merge("source", "target")

    kept = [(one.ref, one.agent) for one in work.node("target").evidence]
    assert kept == [("3", "ada"), ("1", "ben"), ("2", "ben")]


def test_the_target_gets_the_edges_of_the_source_in_both_directions(engine: Engine, work: WorkClient) -> None:
    work.plan("x\nsource: x\ntarget\ny: source")
    work.connect("source: y", type="relates_to")

    work.merge("source", "target")

    assert edges(engine, work) == [
        ("target", "depends_on", "x"),
        ("target", "relates_to", "y"),
        ("y", "depends_on", "target"),
    ]
    assert work.next() == ["x"]


def test_an_edge_that_both_had_is_there_once(engine: Engine, work: WorkClient) -> None:
    work.plan("x\nsource: x\ntarget: x\ny: source, target")

    work.merge("source", "target")

    assert edges(engine, work) == [("target", "depends_on", "x"), ("y", "depends_on", "target")]
    work.resolve("x", "target")
    assert work.next() == ["y"]


@pytest.mark.parametrize("outline", ["source\ntarget: source", "target\nsource: target"])
def test_merging_two_nodes_of_which_one_depends_on_the_other_leaves_no_edge(
    engine: Engine, work: WorkClient, outline: str
) -> None:
    work.plan(outline)

    work.merge("source", "target")

    assert edges(engine, work) == []
    assert work.next() == ["target"]
    assert work.counts() == (2, 0, 2, 0, 1)


def test_the_target_keeps_its_own_fields_and_unites_the_links(work: WorkClient) -> None:
    work.plan(
        "source\ntarget",
        each={
            "source": {"properties": {"area": "ui", "size": 1}, "context_links": ["one", "two"]},
            "target": {"properties": {"area": "db"}, "context_links": ["two", "three"]},
        },
    )
    work.update("target", state="mine")

    work.merge("source", "target")

    node = work.node("target")
    assert (node.summary, node.state, node.properties) == ("target", "mine", {"area": "db"})
    assert node.context_links == ["two", "three", "one"]


def test_the_source_is_gone_and_its_id_leads_to_the_target(work: WorkClient) -> None:
    work.plan("source\ntarget")
    work.merge("source", "target")

    assert work.node("source").id == work["target"]
    assert work.update("source", state="done twice").updated[0].node_id == work["target"]
    assert work.query(ancestor=work["root"]) == ["target"]
    assert work.counts() == (2, 0, 2, 0, 1)


def test_the_history_of_the_source_stays_readable(work: WorkClient) -> None:
    work.plan("source\ntarget")
    work.by("ben").update("source", summary="renamed")
    operation = {"op": "merge", "source": "source", "target": "target"}

    work.restructure(operation, decision="they were the same")

    assert work.actions("source") == ["created", "updated", "merged"]
    last = work.history("source")[-1]
    assert (last.agent, last.decision) == ("ada", "they were the same")
    assert [(one.field, one.before, one.after) for one in last.changes] == [
        ("merged_into", None, work["target"]),
        ("summary", "renamed", None),
    ]


def test_the_history_of_the_target_tells_what_came_to_it(work: WorkClient) -> None:
    work.plan("x\nsource: x\n  child\ntarget\ny: source", each={"source": {"context_links": ["one"]}})
    work.update("source", add_evidence=[{"type": "git", "ref": "1"}])

    work.merge("source", "target")

    event = work.history("target")[-1]
    changes = {one.field: (one.before, one.after) for one in event.changes}
    assert event.action == "merged"
    assert changes["merged_from"] == (None, work["source"])
    assert changes["depends_on"] == (None, work["x"])
    assert changes["context_links"] == ([], ["one"])
    assert changes["evidence"][1][0]["ref"] == "1"
    moved, rewired = work.history("child")[-1], work.history("y")[-1]
    assert (moved.action, [(one.before, one.after) for one in moved.changes]) == (
        "moved",
        [(work["source"], work["target"])],
    )
    assert (rewired.action, [(one.field, one.before, one.after) for one in rewired.changes]) == (
        "connected",
        [("depends_on", work["source"], work["target"])],
    )


def test_a_child_is_merged_into_its_parent(engine: Engine, work: WorkClient) -> None:
    work.plan("before\nphase\n  part: before\n    step\n  other\nafter: part")
    work.update("part", add_evidence=[{"type": "git", "ref": "1"}], add_context_links=["src/a.py"])
    work.resolve("other")

    [detail] = work.merge("part", "phase").details

    assert detail.result == f"merged into {work['phase']} with 1 children"
    assert work.query(parent=work["phase"]) == ["step", "other"]
    assert edges(engine, work) == [("phase", "depends_on", "before"), ("after", "depends_on", "phase")]
    assert [entry.ref for entry in work.node("phase").evidence] == ["1"]
    assert work.node("phase").context_links == ["src/a.py"]
    assert work.context("part").node.id == work["phase"]


def test_a_parent_whose_only_child_is_merged_into_it_is_work_itself(work: WorkClient) -> None:
    work.plan("phase\n  part\ndone\n  step")
    work.resolve("step")
    work.resolve("done")

    assert work.names(work.merge("part", "phase").newly_actionable) == ["phase"]
    work.merge("step", "done")
    assert work.next() == ["phase"]
    assert work.counts()[:2] == (3, 1)


def test_a_child_for_which_its_sibling_waits_is_not_merged_into_their_parent(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b: a")

    refusal = error_of(lambda: work.merge("a", "phase"))

    assert refusal.code == "cycle_detected"
    assert refusal.details["depends_on"] == [[work["b"], work["phase"]]]


REFUSED = {
    "itself": ("a", "a", "cannot_merge"),
    "its child": ("phase", "a", "cannot_merge"),
    "its grandchild": ("phase", "b", "cannot_merge"),
    "its grandparent": ("b", "phase", "cannot_merge"),
    "the root": ("a", "root", "root_stays"),
    "as the root": ("root", "a", "root_stays"),
    "an unknown node": ("a", "oooooo", "not_found"),
    "as an unknown node": ("oooooo", "a", "not_found"),
    "another project": ("a", "elsewhere", "mixed_projects"),
}


@pytest.fixture
def two_projects(work: WorkClient) -> WorkClient:
    """Ada at her project with some nodes; another project exists."""
    work.ids["elsewhere"] = work.call("work.open", project="borealis").root.id
    work.plan("phase\n  a\n    b")
    return work


@try_each("into", REFUSED)
def test_a_node_cannot_be_merged_into(engine: Engine, two_projects: WorkClient, into: str) -> None:
    before = engine.as_owner("SELECT id, rev FROM work_nodes ORDER BY id")
    source, target, code = REFUSED[into]

    assert error_of(lambda: two_projects.merge(source, target)).code == code
    assert engine.as_owner("SELECT id, rev FROM work_nodes ORDER BY id") == before


def test_a_merge_that_would_close_a_cycle_is_refused_with_its_path(engine: Engine, work: WorkClient) -> None:
    work.plan("target\nmiddle: target\nsource: middle")
    before = edges(engine, work)

    refusal = error_of(lambda: work.merge("source", "target"))

    assert isinstance(refusal, RuleViolated)
    assert refusal.code == "cycle_detected"
    assert {work.name(one) for one in refusal.details["path"]} == {"target", "middle"}
    assert edges(engine, work) == before


def test_a_merge_that_would_put_a_node_below_what_it_depends_on_is_refused(work: WorkClient) -> None:
    work.plan("source\n  child: target\ntarget")

    assert error_of(lambda: work.merge("source", "target")).code == "cycle_detected"


def test_a_merge_that_would_make_a_node_depend_on_a_node_above_it_is_refused(work: WorkClient) -> None:
    work.plan("phase\n  target\nsource: phase")

    assert error_of(lambda: work.merge("source", "target")).code == "cycle_detected"


def test_an_open_child_reopens_the_target(work: WorkClient) -> None:
    work.plan("source\n  a\nphase\n  target\nafter: target")
    work.resolve("target", "phase")

    answer = work.merge("source", "target")

    assert work.names(answer.reopened) == ["target", "phase"]
    assert work.query(is_blocked=True) == ["after"]


def test_an_open_source_reopens_the_target(work: WorkClient) -> None:
    work.plan("source\ntarget\nafter: target\nlater: source")
    work.resolve("target")

    answer = work.merge("source", "target")

    assert work.names(answer.reopened) == ["target"]
    assert work.next() == ["target"]
    assert work.counts() == (4, 0, 4, 2, 1)


def test_a_resolved_source_reopens_nothing(work: WorkClient) -> None:
    work.plan("source\ntarget")
    work.resolve("source", "target")

    assert work.merge("source", "target").reopened is UNSET
    assert work.node("target").resolved


def test_who_waited_for_a_resolved_source_waits_for_the_open_target(work: WorkClient) -> None:
    work.plan("source\ntarget\nx: source")
    work.resolve("source")
    assert "x" in work.next()

    work.merge("source", "target")

    assert work.next() == ["target"]


def test_a_merge_tells_what_became_actionable(work: WorkClient) -> None:
    work.plan("phase\n  source\ntarget: source")

    assert set(work.names(work.merge("source", "target").newly_actionable)) == {"phase", "target"}


def test_a_merge_and_what_follows_it_see_each_other(work: WorkClient) -> None:
    work.plan("a\nb\nc\n  d")
    first = {"op": "merge", "source": "a", "target": "b"}

    answer = work.restructure(
        first, {"op": "merge", "source": "c", "target": "b"}, {"op": "drop", "node_id": "d", "reason": "x"}
    )

    assert answer.applied == 3
    assert work.next() == ["b"]
    assert error_of(lambda: work.merge("a", "b")).code == "cannot_merge"  # it is a part of b by now


def test_links_that_are_too_many_together_are_refused(work: WorkClient) -> None:
    links = {name: {"context_links": [f"{name}{place}" for place in range(30)]} for name in ("source", "target")}
    work.plan("source\ntarget", each=links)

    assert error_of(lambda: work.merge("source", "target")).code == "too_many"
    assert len(work.node("source").context_links) == 30


def test_the_target_shows_what_the_source_said(work: WorkClient) -> None:
    work.plan("source\ntarget", each={"source": {"properties": {"description": "Why and how", "size": 1}}})

    answer = work.merge("source", "target")

    (merged,) = work.node("target").merged
    assert (merged.id, merged.summary, merged.description) == (work["source"], "source", "Why and how")
    assert [one.node.merged for one in work.offers()] == [[merged]]
    (warning,) = answer.warnings
    assert "size" in warning
    assert "description" not in warning


def test_a_node_without_merges_shows_none(work: WorkClient) -> None:
    work.plan("a")

    assert work.node("a").merged is UNSET


def test_a_target_that_is_merged_itself_hands_on_what_it_got(work: WorkClient) -> None:
    work.plan("a\nb\nc")
    work.merge("a", "b")

    work.merge("b", "c")

    assert [(one.id, one.summary) for one in work.node("c").merged] == [(work["a"], "a"), (work["b"], "b")]
    assert work.node("a").id == work.node("b").id == work["c"]


def test_a_search_finds_the_words_of_the_source(work: WorkClient) -> None:
    work.plan("Draw the floor plan\nBuild a house\nPaint a house")
    work.merge("Draw the floor plan", "Build a house")

    for text in ("the floor", "fl", "House"):  # by the index, too short for it, and of the target itself
        assert "Build a house" in work.query(text=text), text
    for sort in ("readiness", "recent", "created", "depth"):
        found = work.call("work.query", project="atlas", filter={"text": "floor"}, sort=sort)
        assert (found.total, work.names(found.nodes)) == (1, ["Build a house"]), sort
    hits = work.call("briefing.search", text="floor plan").hits
    assert [(hit.ref, hit.title) for hit in hits] == [(work["Build a house"], "Build a house")]


def test_a_search_finds_the_words_of_the_sources_description(work: WorkClient) -> None:
    work.plan("source\ntarget", each={"source": {"properties": {"description": "Where the Ünïcode well is"}}})
    work.merge("source", "target")

    for text in ("ünïcode", "source well", "we"):
        assert [hit.ref for hit in work.call("briefing.search", text=text).hits] == [work["target"]], text
    assert work.call("briefing.search", text="source spring").hits == []


def test_recent_events_and_briefings_name_what_was_merged(work: WorkClient) -> None:
    work.plan("source\ntarget", each={"source": {"properties": {"description": "Why and how"}}})
    work.resolve("source")
    work.merge("source", "target")

    (recent, *_) = work.call("work.onboard", project="atlas").recent
    assert (recent.id, recent.summary) == (work["source"], "source")
    [merged] = work.call("briefing.brief", node_id=work["target"]).node.merged
    assert (merged.id, merged.summary) == (work["source"], "source")
    text = work.call("briefing.brief", node_id=work["target"], markdown=True).markdown
    assert work["source"] in text
    assert "Why and how" in text
    [offered] = work.offers(node_id=work["target"], budget=300)
    assert [one.id for one in offered.node.merged] == [work["source"]]


def test_a_text_that_source_and_target_have_is_found_once(work: WorkClient) -> None:
    work.plan("a house\nthe house")
    work.merge("a house", "the house")

    found = work.call("work.query", project="atlas", filter={"text": "house"})

    assert (found.total, work.names(found.nodes)) == (1, ["the house"])


def test_a_search_finds_the_words_of_the_source_among_many_nodes(work: WorkClient) -> None:
    work.plan("\n".join(["rare source", "target", *(f"common words {place}" for place in range(300))]))
    work.merge("rare source", "target")
    work.merge("common words 7", "target")

    for text, total in (("rare sou", 1), ("common words", 300), ("common words 7", 11)):
        found = work.call("work.query", project="atlas", filter={"text": text}, limit=1)
        assert found.total == total, text
        assert "target" in work.query(text=text, is_actionable=True), text


def test_a_deleted_target_takes_the_words_of_its_sources_with_it(work: WorkClient) -> None:
    work.plan("source\ntarget")
    work.merge("source", "target")

    work.call("container.delete", containerType="task", id=work["target"], version=work.node("target").rev)

    assert isinstance(error_of(lambda: work.node("source")), NotFound)
    assert work.query(text="source") == []
