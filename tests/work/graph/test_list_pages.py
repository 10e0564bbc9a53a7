"""The lists of graph_context and graph_next: 1,000 tokens of them by default, more on request, the rest by cursor."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.answers import LISTS_TOKENS, count_tokens
from groundplan.kernel.errors import Invalid
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from groundplan.work.graph import subtree
from groundplan.work.graph.next import Offers
from tests.engines import Engine, fill_once, person
from tests.errors import error_of
from tests.proof import scaled
from tests.statements import record_statements
from tests.work.client import WorkClient
from tests.work.graph.plans import add_children, encode_text, session_with_cap

PAGES_MAX = 400
NODE_TOKENS = 250  # of a node without its lists, with what is left out and the cursor
NODE_LISTS = ("evidence", "merged", "context_links")


def open_pages(session: Session, operation: str, **given: Any) -> Iterator[Any]:
    """Yield all pages of an answer."""
    cursor: dict[str, str] = {}
    for _ in range(PAGES_MAX):
        page = session.call(operation, **given, **cursor)
        yield page
        if page.next_cursor is UNSET:
            return
        cursor = {"cursor": page.next_cursor}
    raise AssertionError("the pages have no end")


def take_tree(tree: Any, into: dict[str, list[str]]) -> None:
    """Add the ids of the children of each node of a tree."""
    for child in tree.children or ():
        if child.id not in into.setdefault(tree.id, []):
            into[tree.id].append(child.id)
        take_tree(child, into)


def fill_hub(engine: Engine) -> dict[str, str]:
    """Fill a project with a node that has much of everything, and return its ids by name."""
    work = WorkClient(engine.session("ada"), "atlas", {})
    work.open()
    links = {f"up {depth}": {"context_links": [f"docs/{depth}.md"]} for depth in range(0, 40, 2)}
    work.plan("\n".join("  " * depth + f"up {depth}" for depth in range(40)), each=links)
    work.plan("hub", under="up 39")
    for kind, count in (("child", 120), ("dep", 90), ("waits", 90), ("old", 25)):
        under = "hub" if kind == "child" else "root"
        work.plan("\n".join(f"{kind} {number}" for number in range(count)), under=under)
    edges = [*(f"hub: dep {number}" for number in range(90)), *(f"waits {number}: hub" for number in range(90))]
    work.connect(*edges)
    work.connect(*(f"hub: dep {number}" for number in range(30)), type="relates_to")
    work.connect(*(f"waits {number}: hub" for number in range(30)), type="ü" * 200)
    work.connect(*(f"waits {number}: hub" for number in range(15, 45)), type="ü" * 200 + "z")
    work.plan("\n".join(f"grandchild {number}" for number in range(40)), under="child 50")
    work.restructure(*({"op": "merge", "source": f"old {number}", "target": "hub"} for number in range(25)))
    for first in range(0, 90, 45):
        notes = [{"type": "note", "ref": f"note {number}"} for number in range(first, first + 45)]
        work.update("hub", add_evidence=notes)
    work.update("hub", add_context_links=[f"src/{number}.py" for number in range(45)])
    work.resolve(*(f"dep {number}" for number in range(0, 90, 3)))
    return work.ids


@pytest.fixture
def hub(engine: Engine) -> WorkClient:
    """Ada at the project with the hub; her answers have a cap."""
    ids = fill_once(engine, fill_hub)
    return WorkClient(session_with_cap(engine, 20_000), "atlas", {**ids})


def list_everything(work: WorkClient) -> dict[str, list[str]]:
    """Return what the lists of the hub should have, in the order of the first page as far as one is promised."""
    return {
        "ancestors": [work["root"], *(work[f"up {depth}"] for depth in range(40))],
        "depends_on": [work[f"dep {number}"] for number in range(90)],
        "depended_by": [work[f"waits {number}"] for number in range(90)],
        "related": sorted(
            [
                *(f"relates_to out {work[f'dep {number}']}" for number in range(30)),
                *(f"{'ü' * 200} in {work[f'waits {number}']}" for number in range(30)),
                *(f"{'ü' * 200}z in {work[f'waits {number}']}" for number in range(15, 45)),
            ]
        ),
        "evidence": [f"note {number}" for number in range(90)],
        "merged": [f"old {number}" for number in range(25)],
        "context_links": [f"src/{number}.py" for number in range(45)],
    }


def read_lists(page: Any) -> Mapping[str, list[str]]:
    """Return the entries of the lists of one page, by names that identify them."""
    node = page.node
    return {
        "ancestors": [one.id for one in page.ancestors or ()],
        "depends_on": [one.node.id for one in page.depends_on or ()],
        "depended_by": [one.node.id for one in page.depended_by or ()],
        "related": [f"{one.type} {one.direction} {one.id}" for one in page.related or ()],
        "evidence": [one.ref for one in node.evidence or ()],
        "merged": [one.summary for one in node.merged or ()],
        "context_links": list(node.context_links or ()),
    }


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("given", [{}, {"budget": 3_000}, {"budget": 20_000}])
def test_the_pages_of_a_node_have_every_entry_of_its_lists_once(
    hub: WorkClient, given: dict[str, int], lean: bool
) -> None:
    pages = list(open_pages(hub.session, "work.context", node_id=hub["hub"], lean=lean, **given))

    joined: dict[str, list[str]] = {}
    tree: dict[str, list[str]] = {}
    for page in pages:
        assert page.node.id == hub["hub"]
        for name, entries in read_lists(page).items():
            joined.setdefault(name, []).extend(entries)
        if page.children is not UNSET:
            take_tree(page.children, tree)
    for name, expected in list_everything(hub).items():
        assert sorted(joined[name]) == sorted(expected), name
    assert tree == {
        hub["hub"]: [hub[f"child {number}"] for number in range(120)],
        hub["child 50"]: [hub[f"grandchild {number}"] for number in range(40)],
    }
    assert [page.left_out is UNSET or not keep_rows(page.left_out) for page in pages] == [
        page.next_cursor is UNSET for page in pages
    ]
    tokens_max = given.get("budget", LISTS_TOKENS + NODE_TOKENS)
    assert max(count_tokens(encode_text(page)) for page in pages) <= tokens_max
    assert (len(pages) > 1) == (tokens_max < 20_000)


def keep_rows(left_out: Mapping[str, int]) -> dict[str, int]:
    """Return what is left out without what is only shown in a shorter form."""
    return {name: count for name, count in left_out.items() if not name.endswith(".details")}


def test_the_first_page_has_a_fair_share_of_every_list_and_counts_the_rest(hub: WorkClient) -> None:
    page = hub.context("hub")

    expected, shown = list_everything(hub), read_lists(page)
    for name, entries in expected.items():
        key = f"node.{name}" if name in NODE_LISTS else name
        assert 3 <= len(shown[name]) < len(entries), name
        assert page.left_out[key] == len(entries) - len(shown[name])
    assert page.left_out["children"] == 120 - len(page.children.children)
    assert page.children.child_count == 120
    assert (page.node.evidence_total, page.node.merged_total) == (90, 25)


def test_the_first_page_has_the_root_the_nearest_ancestors_the_newest_evidence_and_what_is_open(
    hub: WorkClient,
) -> None:
    page = hub.context("hub")

    shown = read_lists(page)
    near = len(shown["ancestors"]) - 1
    assert shown["ancestors"] == [hub["root"], *(hub[f"up {depth}"] for depth in range(40 - near, 40))]
    assert shown["evidence"] == [f"note {number}" for number in range(90 - len(shown["evidence"]), 90)]
    assert [one.satisfied for one in page.depends_on] == [False] * len(page.depends_on)


def test_a_larger_budget_shows_more_and_a_briefing_only_once(hub: WorkClient) -> None:
    usual, larger = hub.context("hub"), hub.context("hub", budget=5_000)
    rest = hub.context("hub", budget=20_000, cursor=usual.next_cursor)

    assert sum(keep_rows(larger.left_out).values()) < sum(keep_rows(usual.left_out).values()) * 3 // 4
    assert larger.briefing is not UNSET
    assert rest.next_cursor is UNSET
    assert (usual.briefing, rest.briefing) == (UNSET, UNSET)


def test_without_a_cap_lists_are_as_long_as_the_usual_cap_allows(engine: Engine, hub: WorkClient) -> None:
    page = engine.session("ada").call("work.context", node_id=hub["hub"])

    assert keep_rows(page.left_out) == {}
    assert page.next_cursor is UNSET
    assert len(page.depends_on) == 90


def test_ids_and_summaries_come_before_details(work: WorkClient) -> None:
    names = [f"n{number}" for number in range(12)]
    each = {name: {"properties": {"note": "x" * 300}} for name in names}
    work.plan("\n".join([*names, f"last: {', '.join(names)}"]), each=each)
    page = cap(work).context("last", budget=1_300)

    short = [one for one in page.depends_on if one.node.properties is UNSET]
    assert work.names([one.node for one in page.depends_on]) == names
    assert 0 < len(short) < 12
    assert page.left_out == {"depends_on.details": len(short)}
    assert page.next_cursor is UNSET


def test_details_of_neighbours_come_on_request_or_without_a_cap(work: WorkClient) -> None:
    work.plan("a\nb: a", each={"a": {"properties": {"size": 1}}})
    work.update("a", state="half done", add_evidence=[{"type": "note", "ref": "x"}])

    usual, requested = (cap(work).context("b", **given).depends_on[0].node for given in ({}, {"budget": 2_000}))
    whole = work.context("b").depends_on[0].node

    assert (usual.rev, usual.state, usual.properties, usual.evidence) == (2, "half done", UNSET, UNSET)
    assert requested == whole
    assert (whole.properties, whole.evidence[0].ref) == ({"size": 1}, "x")


# --- The tree ---


def plan_tree(work: WorkClient, seed: int) -> dict[int, int | None]:
    """Plan a random tree below a top, wide and deep, and return the parents of its nodes by number."""
    choose = random.Random(seed)  # noqa: S311 - a tree, the same for each seed
    size = choose.randint(20, 60)
    parents: dict[int, int | None] = {}
    for n in range(size):
        wide = choose.random() < 0.5
        parents[n] = None if n == 0 or (wide and choose.random() < 0.6) else choose.randrange(max(n - 12, 0), n)
    work.plan(f"top {seed}")
    nodes = [
        {"ref": str(n), "summary": f"{seed}.{n} " + "x" * choose.choice((1, 1, 60)), "parent_ref": "top"}
        for n in parents
    ]
    for node, parent in zip(nodes, parents.values(), strict=True):
        node["parent_ref"] = work[f"top {seed}"] if parent is None else str(parent)
    created = work.call("work.plan", project="atlas", nodes=nodes).created
    work.ids.update({f"{seed}.{one.ref}": one.id for one in created})
    return parents


def expect_tree(work: WorkClient, seed: int, parents: Mapping[int, int | None], depth: int) -> dict[str, list[str]]:
    """Return the ids of the children of each node, down to a depth."""
    tree: dict[str, list[str]] = {}
    levels: dict[int | None, int] = {None: 0}
    for n, parent in parents.items():
        levels[n] = levels[parent] + 1
        if levels[n] <= depth:
            above = work[f"top {seed}"] if parent is None else work[f"{seed}.{parent}"]
            tree.setdefault(above, []).append(work[f"{seed}.{n}"])
    return tree


@pytest.mark.parametrize("limits", [(1_000, 200), (1, 1)])
def test_the_pages_of_a_tree_join_to_the_whole_tree(
    work: WorkClient, limits: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subtree, "PARENTS_MAX", limits[0])
    monkeypatch.setattr(subtree, "PARENTS_READ", limits[1])
    for seed in range(scaled(2, 200)):
        parents = plan_tree(work, seed)
        for depth in (1, 2, 10):
            tokens_max = random.Random(seed).choice((300, 500, 20_000))  # noqa: S311 - a cap, the same for each seed
            seen: dict[str, list[str]] = {}
            counts: dict[str, int] = {}
            for page in open_pages(
                cap(work, tokens_max).session, "work.context", node_id=work[f"top {seed}"], depth=depth
            ):
                assert count_tokens(encode_text(page)) <= tokens_max
                take_new(page.children, seen)
                take_counts(page.children, counts)
            assert seen == expect_tree(work, seed, parents, depth), (seed, depth)
            everything = expect_tree(work, seed, parents, 100)
            assert all(len(everything[node_id]) == count for node_id, count in counts.items())


def take_new(tree: Any, into: dict[str, list[str]]) -> None:
    """Add the ids of the children of each node of a page; a node comes again only above others that are new."""
    if tree is UNSET:
        return
    for child in tree.children or ():
        if child.id in into.setdefault(tree.id, []):
            assert child.children
        else:
            into[tree.id].append(child.id)
        take_new(child, into)


def take_counts(tree: Any, into: dict[str, int]) -> None:
    if tree is UNSET:
        return
    if tree.child_count is not UNSET:
        into[tree.id] = tree.child_count
    for child in tree.children or ():
        take_counts(child, into)


def test_a_tree_shows_its_levels_one_after_the_other(work: WorkClient) -> None:
    work.plan("top")
    work.plan("\n".join(f"phase {number}" for number in range(6)), under="top")
    for number in range(6):
        work.plan("\n".join(f"step {number}.{step}" for step in range(60)), under=f"phase {number}")

    page = cap(work).context("top")

    below = page.children.children
    assert work.names(below) == [f"phase {number}" for number in range(6)]
    assert work.names(below[0].children) == [f"step 0.{step}" for step in range(len(below[0].children))]
    assert len(below[0].children) > 40
    assert [one.child_count for one in below[1:]] == [60] * 5
    assert page.left_out == {"children": 6 * 60 - sum(len(one.children or ()) for one in below)}


def test_nodes_that_are_planned_moved_or_merged_between_two_pages_hide_no_other(work: WorkClient) -> None:
    work.plan("top\nelsewhere")
    work.plan("\n".join(f"n{number}\n  below {number}" for number in range(30)), under="top")
    session = cap(work, 500).session
    given = {"node_id": work["top"], "depth": 2}
    pages: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        pages.append(session.call("work.context", **given, **cursor))
        if pages[-1].next_cursor is UNSET:
            break
        cursor = {"cursor": pages[-1].next_cursor}
        step = len(pages)
        work.plan(f"late {step}", under="top")
        work.move(f"n{step * 3}", "elsewhere")
        work.merge(f"below {step * 3 + 1}", f"n{step * 3 + 1}")
    seen: dict[str, list[str]] = {}
    for page in pages:
        take_new(page.children, seen)

    stayed = [work[f"n{number}"] for number in range(30) if work[f"n{number}"] in list_ids(work, "top")]
    assert set(stayed) <= set(seen[work["top"]])
    assert len(seen[work["top"]]) == len(set(seen[work["top"]]))


def list_ids(work: WorkClient, name: str) -> list[str]:
    return [child.id for child in work.context(name, depth=1).children.children or ()]


@pytest.mark.proof
def test_a_page_of_a_node_with_very_many_children_reads_no_more_than_it_shows(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = scaled(5_000, 100_000)
    work = WorkClient(engine.session("ada"), "atlas", {})
    work.open()
    work.plan("fat")
    add_children(engine, "atlas", 2, count)
    work.plan("late\n  last", under="fat")
    session = session_with_cap(engine, 20_000)
    rows = count_rows(monkeypatch)

    first = session.call("work.context", node_id=work["fat"])
    second = session.call("work.context", node_id=work["fat"], cursor=first.next_cursor)

    assert [one.summary for one in first.children.children[:2]] == ["child 1", "child 2"]
    shown = len(first.children.children)
    assert 50 < shown < 100
    assert second.children.children[0].summary == f"child {shown + 1}"
    assert first.left_out == {"children": count + 1 - shown}
    assert second.left_out == {"children": count + 1 - shown - len(second.children.children)}
    assert count_tokens(encode_text(first)) < LISTS_TOKENS + NODE_TOKENS
    assert sum(rows) < 1_000


def count_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the number of rows of each query is added."""
    rows: list[int] = []
    whole = Transaction.all

    def counting(tx: Transaction, *given: Any, **named: Any) -> Any:
        found = whole(tx, *given, **named)
        rows.append(len(found))
        return found

    monkeypatch.setattr(Transaction, "all", counting)
    return rows


# --- Offers ---


@pytest.fixture
def offered(hub: WorkClient) -> WorkClient:
    """The hub as work that can be done: it has no open children and waits for nothing open."""
    work = WorkClient(Session(hub.session.store, hub.session.actor), "atlas", hub.ids)
    work.resolve(*(f"grandchild {number}" for number in range(40)), *(f"child {number}" for number in range(120)))
    work.resolve(*(f"dep {number}" for number in range(90)))
    work.update("dep 7", add_evidence=[{"type": "note", "ref": f"of dep 7: {number}"} for number in range(50)])
    return hub


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("given", [{}, {"budget": 3_000}, {"claim": True}])
def test_the_pages_of_an_offer_have_every_entry_of_its_lists_once(
    offered: WorkClient, given: dict[str, Any], lean: bool
) -> None:
    pages = list(open_pages(offered.session, "work.next", node_id=offered["hub"], lean=lean, **given))

    joined: dict[str, list[str]] = {}
    for page in pages:
        [offer] = page.nodes
        assert offer.node.id == offered["hub"]
        lists = {
            "ancestors": [one.id for one in offer.ancestors],
            "resolved_deps": [one.id for one in offer.resolved_deps or ()],
            "evidence": [one.ref for one in offer.node.evidence or ()],
            "merged": [one.summary for one in offer.node.merged or ()],
            "context_links": list(offer.node.context_links or ()),
        }
        assert ((offer.context_links and offer.context_links.own) or []) == lists["context_links"]
        for name, entries in lists.items():
            joined.setdefault(name, []).extend(entries)
    expected = list_everything(offered)
    expected["resolved_deps"] = expected["depends_on"]
    for name, entries in joined.items():
        assert sorted(entries) == sorted(expected[name]), name
    tokens_max = given.get("budget", LISTS_TOKENS + NODE_TOKENS)
    assert max(count_tokens(encode_text(page)) for page in pages) <= tokens_max
    assert [page.nodes[0].left_out is UNSET or not keep_rows(page.nodes[0].left_out) for page in pages] == [
        page.next_cursor is UNSET for page in pages
    ]
    assert len(pages) > 1 or (lean and "budget" in given)


def test_a_page_of_a_claim_claims_nothing_again(offered: WorkClient) -> None:
    first = offered.call("work.next", node_id=offered["hub"], claim=True)
    rev = offered.node("hub").rev

    second = offered.call("work.next", node_id=offered["hub"], claim=True, cursor=first.next_cursor)

    assert first.nodes[0].claim == 1
    assert second.nodes[0].claim is UNSET
    assert offered.node("hub").rev == rev


def test_links_that_are_inherited_and_left_out_are_counted_with_their_ancestor(offered: WorkClient) -> None:
    first = offered.call("work.next", node_id=offered["hub"])

    offer = first.nodes[0]
    inherited = [one.node_id for one in offer.context_links.inherited]
    with_links = {offered[f"up {depth}"] for depth in range(0, 40, 2)}
    shown = [one.id for one in offer.ancestors if one.id in with_links]
    assert offer.left_out.get("ancestors.details", 0) == len(shown) - len(inherited)


def test_of_many_offers_the_best_come_with_their_lists_and_the_others_by_cursor(work: WorkClient) -> None:
    work.plan("base")
    work.resolve("base")
    names = [f"n{number}" for number in range(50)]
    work.plan(
        "\n".join(f"{name}: base" for name in names), each={name: {"context_links": ["src/a.py"]} for name in names}
    )
    session = cap(work).session

    pages = list(open_pages(session, "work.next", project="atlas", count=50))

    first = pages[0].nodes
    assert work.names([one.node for one in first]) == names
    whole = [one.left_out is UNSET for one in first]
    assert whole == sorted(whole, reverse=True)
    assert 3 < sum(whole) < 50
    joined: dict[str, list[str]] = {name: [] for name in names}
    for page in pages:
        assert count_tokens(encode_text(Offers([], next_cursor=page.next_cursor))) < 150
        for offer in page.nodes:
            joined[work.name(offer.node.id)] += [
                *(one.id for one in offer.ancestors),
                *(one.id for one in offer.resolved_deps or ()),
                *(offer.node.context_links or ()),
            ]
    assert joined == {name: [work["root"], work["base"], "src/a.py"] for name in names}


def test_nodes_that_do_not_fit_into_an_answer_follow_by_cursor(work: WorkClient) -> None:
    names = [f"n{number}" for number in range(50)]
    work.plan("\n".join(names), each={name: {"summary": f"{name} {'x' * 3000}"} for name in names})
    session = cap(work).session

    first, *others = open_pages(session, "work.next", project="atlas", count=50)

    assert first.left_out == {"nodes": 50 - len(first.nodes)}
    shown = [offer.node.summary.split()[0] for page in (first, *others) for offer in page.nodes]
    assert list(dict.fromkeys(shown)) == names


# --- Cursors ---


def test_a_cursor_of_another_node_depth_caller_or_project_is_refused(hub: WorkClient, engine: Engine) -> None:
    cursor = hub.context("hub").next_cursor
    hub.call("work.open", project="borealis")
    ben = let_ben_read(engine, hub)
    given = {"node_id": hub["hub"], "cursor": cursor}

    refusals = [
        error_of(lambda: hub.context("up 3", cursor=cursor)),
        error_of(lambda: hub.context("hub", depth=1, cursor=cursor)),
        error_of(lambda: ben.call("work.context", **given)),
        error_of(lambda: hub.context("hub", cursor=cursor[:-2])),
        error_of(lambda: hub.context("hub", cursor="x" * 600)),
        error_of(lambda: hub.call("work.history", **given)),
        error_of(lambda: hub.call("work.next", **given)),
        error_of(lambda: hub.call("work.next", project="borealis", cursor=cursor)),
    ]

    assert {refusal.code for refusal in refusals} == {"invalid_cursor"}
    assert all(isinstance(refusal, Invalid) for refusal in refusals)
    assert hub.context("hub", budget=900, lean=True, cursor=cursor).node.id == hub["hub"]


def test_a_cursor_of_an_offer_belongs_to_its_arguments_and_its_caller(offered: WorkClient, engine: Engine) -> None:
    given = {"node_id": offered["hub"]}
    cursor = offered.call("work.next", **given).next_cursor
    ben = let_ben_read(engine, offered)

    refusals = [
        error_of(lambda: offered.call("work.next", node_id=offered["waits 0"], cursor=cursor)),
        error_of(lambda: offered.call("work.next", project="atlas", cursor=cursor)),
        error_of(lambda: offered.call("work.next", **given, claim=True, cursor=cursor)),
        error_of(lambda: ben.call("work.next", **given, cursor=cursor)),
        error_of(lambda: offered.context("hub", cursor=cursor)),
    ]

    assert {refusal.code for refusal in refusals} == {"invalid_cursor"}


def test_an_empty_cursor_is_the_first_page(hub: WorkClient) -> None:
    assert encode_text(hub.context("hub", cursor="")) == encode_text(hub.context("hub"))


def test_a_node_with_few_neighbours_takes_few_statements_and_has_no_cursor(
    work: WorkClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.plan("a\n  b\n    c\nd: a")
    ran = record_statements(monkeypatch)

    page = cap(work).context("a")

    assert (page.left_out, page.next_cursor) == (UNSET, UNSET)
    assert len(ran) <= 16, ran


def let_ben_read(engine: Engine, work: WorkClient) -> Session:
    """Return a session of another member of the project."""
    work.call("member.add", scopeId="atlas", userId="ben", role="viewer")
    return session_with_cap(engine, 20_000, person("ben"))


def cap(work: WorkClient, tokens_max: int = 20_000) -> WorkClient:
    """Return the client with a cap on its answers."""
    preferences = Preferences(answer_tokens_max=tokens_max)
    return WorkClient(Session(work.session.store, work.session.actor, preferences=preferences), ids=work.ids)
