"""Every filter, alone and combined, in every order: a query finds what the reference implementation finds."""

from __future__ import annotations

from itertools import cycle, repeat
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.operations.schema import build_json_schema
from groundplan.kernel.store.migrations import Dialect
from groundplan.session import Session
from groundplan.work.graph import search
from groundplan.work.graph.search import Filter
from tests.engines import Engine, fill_once
from tests.proof import scaled
from tests.work.graph.plans import add_chain
from tests.work.graph.random_project import find_expected, make_random_project, pages

SORTS = ("readiness", "depth", "recent", "created")


def create_atlas(engine: Engine) -> None:
    """Create the project."""
    engine.session("ada").call("project.create", name="atlas")


@pytest.fixture
def ada(engine: Engine) -> Session:
    fill_once(engine, create_atlas)
    return engine.session("ada")


def plan(session: Session, *nodes: dict[str, Any], project: str = "atlas") -> list[str]:
    made = session.call(
        "work.plan", project=project, nodes=[{"ref": str(at), "summary": "x", **node} for at, node in enumerate(nodes)]
    )
    return [one.id for one in made.created]


def find_ids(session: Session, **filter_: Any) -> list[str]:
    """Return the ids that a filter finds, oldest first."""
    answer = session.call("work.query", project="atlas", filter=filter_, sort="created", limit=100)
    assert answer.total == len(answer.nodes)
    return [node.id for node in answer.nodes]


def error_of(session: Session, **query: Any) -> GroundplanError:
    with pytest.raises(GroundplanError) as refused:
        session.call("work.query", **{"project": "atlas", **query})
    return refused.value


@pytest.mark.proof
@pytest.mark.parametrize("seed", [1, 2])
def test_any_filter_in_any_order_finds_what_a_plain_reading_finds(engine: Engine, seed: int) -> None:
    project = make_random_project(engine, seed)
    nodes = project.nodes()
    alone = [{name: value} for _ in range(scaled(2, 4)) for name, value in project.random_conditions().items()]
    several = [
        dict(project.random.sample(list(project.random_conditions().items()), k))
        for k in (2, 3)
        for _ in range(scaled(12, 30))
    ]
    for filter_ in [{}, *alone, *several]:
        sort = project.random.choice(SORTS)
        limits = cycle([project.random.choice((3, 10, 100)), project.random.choice((1, 10, 100))])
        wanted = find_expected(nodes, filter_, sort)

        answers = list(pages(project.ada, limits=limits, project="atlas", filter=filter_, sort=sort))

        listed = [node.id for answer in answers for node in answer.nodes]
        assert listed == [node.id for node in wanted], (filter_, sort)
        assert {answer.total for answer in answers} == {len(wanted)}, filter_


@pytest.mark.proof
@pytest.mark.parametrize("common_share", [1, 3, 8, 1_000])
def test_a_text_is_found_alike_whether_it_counts_as_common_or_not(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, common_share: int
) -> None:
    monkeypatch.setattr(search, "TEXT_SAMPLE", 1)
    monkeypatch.setattr(search, "COMMON_SHARE", common_share)
    project = make_random_project(engine, 4)
    nodes = project.nodes()
    for text in ("Login", "login page", "page log", "schema", "e l", "og", "日本語テ", "nothing like it"):
        conditions = project.random_conditions() | {"text": text}
        name = project.random.choice(list(conditions))
        for filter_ in ({"text": text}, {"text": text, name: conditions[name]}):
            sort = project.random.choice(SORTS)
            wanted = find_expected(nodes, filter_, sort)
            answers = list(pages(project.ada, limits=repeat(10), project="atlas", filter=filter_, sort=sort))
            assert [node.id for answer in answers for node in answer.nodes] == [node.id for node in wanted]
            assert {answer.total for answer in answers} == {len(wanted)}, filter_


def test_conditions_that_others_imply_or_contradict_are_honoured(engine: Engine) -> None:
    project = make_random_project(engine, 3)
    nodes = project.nodes()
    names = ("resolved", "is_leaf", "is_actionable", "is_blocked")
    for number in range(3**4):
        given = {name: (None, True, False)[number // 3**at % 3] for at, name in enumerate(names)}
        filter_ = {name: value for name, value in given.items() if value is not None}
        answer = project.ada.call("work.query", project="atlas", filter=given, limit=100)
        assert [node.id for node in answer.nodes] == [node.id for node in find_expected(nodes, filter_, "readiness")], (
            filter_
        )
        first = project.ada.call("work.query", project="atlas", filter=given, limit=1)
        assert first.total == answer.total == len(answer.nodes)


def test_a_number_is_found_by_its_value_and_nothing_else_is_a_number(ada: Session) -> None:
    values = [1, 1.0, True, "1", [1], {"1": 1}, 0, False, "", [], {}, "true", 9007199254740991, 0.1, 1e-7]
    ids = plan(ada, *({"properties": {"v": value}} for value in values), {})
    by_value = {place: find_ids(ada, properties={"v": value}) for place, value in enumerate(values)}
    assert by_value == {place: ids[0:2] if place in (0, 1) else [ids[place]] for place in range(len(values))}


def test_null_finds_nodes_without_the_property(ada: Session) -> None:
    has, lacks = plan(ada, {"properties": {"v": 0, "w": None}}, {"properties": {"other": 1}})
    root = ada.call("work.open", project="atlas").root.id
    assert find_ids(ada, properties={"v": None}) == [root, lacks]
    assert find_ids(ada, properties={"w": None}) == [root, has, lacks]
    assert find_ids(ada, properties={"v": None, "other": 1}) == [lacks]
    assert find_ids(ada, properties={}) == [root, has, lacks]


def test_the_name_of_a_property_is_taken_literally(ada: Session) -> None:
    keys = [
        '"',
        "'",
        "a.b",
        "a[0]",
        "$.a",
        "$",
        "%",
        "\\",
        "ключ",
        "🙂",
        " ",
        "a'b\"c",
        "#",
        "",
        "\n",
        "a",
        "A",
        "é",
        "e\u0301",
    ]
    own = plan(ada, *({"properties": {key: "here"}} for key in keys))
    plan(ada, *({"properties": {"nested": {key: "here"}, "b": f'{{"{key}":"here"}}'}} for key in keys))
    assert {key: find_ids(ada, properties={key: "here"}) for key in keys} == {
        key: [id_] for key, id_ in zip(keys, own, strict=True)
    }


EQUAL: tuple[tuple[Any, ...], ...] = (  # values that are equal as JSON, and no two from different lines
    ([1, 2], [1.0, 2]),
    ([2, 1],),
    ({"a": 1, "b": [None]}, {"b": [None], "a": 1.0}),
    ({"a": True, "b": [None]},),
    ({"a": "1", "b": [None]},),
    ({"a": 1, "b": []},),
    ({"a": [1, 2]},),
    ({"a": {"x.y": 0.1, 'q"': {}}, "b": 1e300}, {"b": 1e300, "a": {'q"': {}, "x.y": 0.1}}),
    ({"a": {"x": {"y": 0.1}, 'q"': {}}, "b": 1e300},),
    ([0.1],),
    ([0.10000000000000002],),
    ([9007199254740991], [9007199254740991.0]),
    ([9007199254740990],),
    ([[]],),
    ([{}],),
    ([],),
    ({},),
)


def test_arrays_and_objects_are_compared_as_json_whatever_the_order_of_their_keys(ada: Session) -> None:
    ids = [plan(ada, *({"properties": {"v": value}} for value in values)) for values in EQUAL]
    for values, own in zip(EQUAL, ids, strict=True):
        for value in values:
            assert find_ids(ada, properties={"v": value}) == own, value
            offered = ada.call("work.next", project="atlas", filter={"v": value}, count=50)
            assert sorted(offer.node.id for offer in offered.nodes) == sorted(own), value


def test_next_offers_the_live_claims_of_a_name_only_to_that_name(ada: Session, engine: Engine) -> None:
    mine, _ = plan(ada, {}, {})
    ada.call("work.claim", project="atlas", node_id=mine)
    ben = engine.session(local_actor("ben", kind=ActorKind.AGENT))

    def offer(session: Session, claimant: str | None) -> list[str]:
        wanted = {"_claimed_by": claimant}
        return [one.node.id for one in session.call("work.next", project="atlas", filter=wanted, count=9).nodes]

    assert offer(ada, "ada") == [mine]
    assert offer(ben, "ada") == offer(ada, "ben") == []
    assert mine not in offer(ada, None)
    assert len(offer(ben, None)) == 1


def test_a_claim_is_found_by_name_while_it_holds_and_is_nobodys_afterwards(engine: Engine) -> None:
    project = make_random_project(engine, 4)
    ada = project.ada
    of_ben = find_ids(ada, claimed_by="ben")
    of_nobody = find_ids(ada, claimed_by=None)
    assert len(of_ben) == 2
    assert find_ids(ada, properties={"_claimed_by": "ben"}) == find_ids(ada, claimed_by=" ben ") == of_ben
    assert find_ids(ada, properties={"_claimed_by": None}) == of_nobody

    project.clock.move(minutes=58)  # and two before it: the claim expires to the millisecond

    assert find_ids(ada, claimed_by="ben") == find_ids(ada, claimed_by="cleo") == []
    assert sorted(find_ids(ada, claimed_by=None)) == sorted(of_nobody + of_ben)
    assert len(find_ids(ada, claimed_by="ada")) == 2  # a held claim does not expire


def test_a_filter_on_claims_that_can_hold_for_nobody_is_refused(ada: Session) -> None:
    both = {"claimed_by": "ben", "properties": {"_claimed_by": "cleo"}}
    refusals = {
        "filter.claimed_by": (error_of(ada, filter=both), error_of(ada, filter={"claimed_by": ""})),
        "filter.properties._claimed_by": (error_of(ada, filter={"properties": {"_claimed_by": 7}}),),
        "filter.properties._claimed_at": (error_of(ada, filter={"properties": {"_claimed_at": "2026"}}),),
    }
    assert {(one.status, one.details["field"]) for ones in refusals.values() for one in ones} == {
        (400, field) for field in refusals
    }
    assert error_of(ada, filter={"properties": {"_held": True}}).code == "reserved_property"


@pytest.mark.parametrize("name", ["ancestor", "parent", "depends_on", "depended_by"])
def test_a_node_that_a_filter_names_must_be_in_the_project(ada: Session, name: str) -> None:
    ada.call("project.create", name="neighbour")
    (foreign,) = plan(ada, {}, project="neighbour")
    assert error_of(ada, filter={name: foreign}).code == "mixed_projects"
    assert error_of(ada, filter={name: "nowhere"}).code == "not_found"
    (node,) = plan(ada, {})
    assert find_ids(ada, **{name: node[:5]}) == []  # a prefix of an id is enough


def test_an_unknown_filter_is_refused_with_the_one_that_was_meant(ada: Session) -> None:
    refused = error_of(ada, filter={"is_lief": True})
    assert (refused.code, refused.details["near"]) == ("unknown_argument", "is_leaf")
    assert error_of(ada, limit=101).details["limit"] == 100
    assert error_of(ada, limit=0).details["limit"] == 1
    assert error_of(ada, sort="priority").code == "invalid_argument"
    assert error_of(ada, project="atlsa").details["near"] == ["atlas"]


@pytest.mark.proof
def test_everything_below_a_node_is_found_very_many_levels_deep(engine: Engine, ada: Session) -> None:
    levels = scaled(2_000, 10_000)
    middle = levels // 2 + 2
    (top,) = plan(ada, {})
    add_chain(engine, "atlas", 2, levels)
    if engine.dialect is Dialect.POSTGRES:
        engine.as_owner("ANALYZE work_nodes")  # a server does this itself after a minute

    below = ada.call("work.query", project="atlas", filter={"ancestor": top}, sort="recent", limit=2)
    in_the_middle = ada.call("work.query", project="atlas", filter={"ancestor": f"made{middle}"}, sort="depth", limit=2)

    assert below.total == levels
    assert [node.depth for node in below.nodes] == [levels + 1, levels]
    assert in_the_middle.total == levels // 2
    assert [node.id for node in in_the_middle.nodes] == [f"made{middle + 1}", f"made{middle + 2}"]
    assert find_ids(ada, ancestor=f"made{levels + 2}") == []


def test_null_can_be_seen_in_the_schema_of_a_filter_where_it_means_something() -> None:
    properties = build_json_schema(Filter)["properties"]
    assert properties["claimed_by"] == {"type": ["string", "null"]}
    assert properties["resolved"]["type"] == "boolean"


def test_a_node_is_shown_with_what_is_known_of_it(ada: Session) -> None:
    parent, node = plan(ada, {"summary": "top"}, {"summary": "below", "parent_ref": "0", "properties": {"size": 2}})
    ada.call("work.update", updates=[{"node_id": node, "state": {"step": 1}}])
    ada.call("work.claim", project="atlas", claim=True)

    (shown,) = ada.call("work.query", project="atlas", filter={"parent": parent}).nodes

    assert (shown.id, shown.summary, shown.resolved, shown.parent, shown.depth) == (node, "below", False, parent, 2)
    assert shown.state == {"step": 1}
    assert {key: shown.properties[key] for key in ("size", "_claimed_by")} == {"size": 2, "_claimed_by": "ada"}
    assert shown.properties.keys() == {"size", "_claimed_by", "_claimed_at", "_held"}


def test_a_lean_answer_leaves_empty_properties_out(ada: Session) -> None:
    plan(ada, {"properties": {"size": 2}}, {})
    lean = ada.call("work.query", project="atlas", sort="created", lean=True).nodes
    assert [node.properties for node in lean] == [UNSET, {"size": 2}, UNSET]
    assert ada.call("work.query", project="atlas", sort="created").nodes[0].properties == {}
