"""What people type for a node: an id, the beginning of one, or a title; several candidates are named, never guessed."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.errors import MixedProjects, NotFound
from groundplan.work.graph.lookup import AmbiguousTitle
from groundplan.work.refs import AmbiguousNode
from tests.work.client import WorkClient


def look_up(work: WorkClient, *refs: str, **given: Any) -> list[str]:
    found = work.call("work.lookup", project=work.project, **({"refs": list(refs)} if refs else {}), **given)
    return [node.id for node in found.nodes]


def add(work: WorkClient, *titles: str) -> list[str]:
    nodes = [{"ref": str(index), "summary": title} for index, title in enumerate(titles)]
    return [node.id for node in work.call("work.plan", project=work.project, nodes=nodes).created]


def test_an_id_its_beginning_of_three_characters_and_its_title_find_the_node(work: WorkClient) -> None:
    coast, _ = add(work, "Walk the coast", "Measure the hills")

    assert look_up(work, coast, coast[:3], "walk the COAST", "walk", coast[:5]) == [coast] * 5


def test_an_id_is_found_with_a_sign_in_capitals_and_whole_after_a_word(work: WorkClient) -> None:
    (coast,) = add(work, "Walk the coast")

    written = [coast.upper(), f"#{coast[:3]}", f"plan-{coast}", f"Water-Plan-{coast.upper()}"]
    assert look_up(work, *written) == [coast] * 4
    for other in (f"plan-{coast[:5]}", f"##{coast}", f"{coast}-plan"):
        with pytest.raises(NotFound):
            look_up(work, other)


def test_two_characters_are_too_few(work: WorkClient) -> None:
    (coast,) = add(work, "ÄÖÜ")  # no id begins with these letters

    with pytest.raises(NotFound):
        look_up(work, coast[:2])


def test_a_title_of_two_nodes_is_refused_and_both_are_named(work: WorkClient) -> None:
    both = add(work, "Walk the coast", "Walk the coast")

    with pytest.raises(AmbiguousTitle) as refused:
        look_up(work, "walk the coast")

    assert sorted(refused.value.details["near"]) == sorted(both)


def test_words_inside_of_a_title_are_only_a_hint(work: WorkClient) -> None:
    (changelog,) = add(work, "Update the changelog")

    with pytest.raises(AmbiguousTitle) as refused:
        look_up(work, "changelog")

    assert refused.value.details["near"] == [changelog]


def test_of_two_equal_titles_the_open_one_is_meant(work: WorkClient) -> None:
    done, open_one = add(work, "Walk the coast", "Walk the coast")
    work.call("work.update", updates=[{"node_id": done, "resolved": True}])

    assert look_up(work, "Walk the coast") == [open_one]


def test_the_project_itself_is_not_found_by_its_title(work: WorkClient) -> None:
    root = work.call("work.open", project=work.project).root
    with pytest.raises(NotFound):
        look_up(work, root.summary)


def test_a_beginning_lists_the_ids_that_have_it(work: WorkClient) -> None:
    ids = [work.ids["root"], *add(work, *(f"task {n}" for n in range(30)))]

    assert look_up(work, beginning=ids[0][:1]) == sorted(id_ for id_ in ids if id_.startswith(ids[0][0]))


def test_a_beginning_that_several_ids_have_is_refused(work: WorkClient) -> None:
    ids = add(work, *(f"task {n}" for n in range(900)))
    shared = next(one[:3] for one in ids if sum(other[:3] == one[:3] for other in ids) > 1)

    with pytest.raises(AmbiguousNode) as refused:
        look_up(work, shared)

    assert {near[:3] for near in refused.value.details["near"]} == {shared}


def test_a_node_of_another_project_is_named_as_such(work: WorkClient) -> None:
    (coast,) = add(work, "Walk the coast")
    work.call("work.open", project="elsewhere", goal="Another island")

    with pytest.raises(MixedProjects):
        work.call("work.lookup", project="elsewhere", refs=[coast])


def test_a_plan_sets_tags_which_lists_filter_by(work: WorkClient) -> None:
    nodes = [
        {"ref": "a", "summary": "Walk the coast", "tags": ["coast", "coast", " outdoors "]},
        {"ref": "b", "summary": "Draw the map"},
    ]
    coast, _ = (node.id for node in work.call("work.add", project=work.project, nodes=nodes).created)

    found = work.call("work.outline", project=work.project, filter={"tag": "outdoors"})
    assert ([node.id for node in found.nodes], found.total) == ([coast], 1)
    assert work.call("container.get", containerType="task", id=coast).task.tags == ["coast", "outdoors"]


def test_a_filtered_list_has_states_and_leaves_the_root_out(work: WorkClient) -> None:
    coast, hills = add(work, "Walk the coast", "Measure the hills")
    work.call("work.update", updates=[{"node_id": hills, "resolved": True}])

    listed = work.call("work.outline", project=work.project, filter={}, sort="created")

    assert [(node.id, str(node.state)) for node in listed.nodes] == [(coast, "ready"), (hills, "resolved")]
    assert listed.total == 2
