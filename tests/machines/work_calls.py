"""Random calls of the work graph: for the oracle, and as arguments for the product.

Values come from small sets, so that calls collide: the same node is claimed, waited for, merged and reopened. Most
calls are valid, and some are not. Commands name nodes by the oracle's numbers, which are translated to ids, so a run is
the same on every store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.machines.work_oracle import (
    ABSENT,
    DEPENDS_ON,
    NOTE,
    ROOT,
    Drop,
    Item,
    Link,
    Merge,
    Move,
    NewNode,
    Operation,
    Work,
)

Ids = Mapping[int, str]

NOWHERE = 0  # the number of a missing node

SUMMARIES = ("draw", "build", "Prüfung", "100% _done_", "ship it now")
FILES = ("src/a.py", "docs/b.md")
LINKS = (*FILES, "https://example.org/c")
EDGE_TYPES = (DEPENDS_ON, DEPENDS_ON, DEPENDS_ON, "relates_to", "blocks", "blocks review of")
# Some are equal in Python and not in JSON; non-numbers rank as absent.
PRIORITIES = (0, False, 1, True, 2.5, -3, 2**53, 1e300, "9", [1], None)
COMPLEXITIES = (1, 7, 0, 11, True, "2", 2.0, None)  # the first two are priorities of the container dialect
AREAS = (1, True, "ui", "1", None)
DESCRIPTIONS = ("as agreed", "see the board", None)
STATES = ("doing", "Done", 0, False, {"step": [1, None]}, None)
EVIDENCE = (("test", "passed"), ("git", "0a1b2c3"), ("dropped", "only looks like it"), (NOTE, "dry"), (NOTE, "wet"))
REASONS = ("out of scope", "no budget")
POLICIES: Mapping[str, tuple[Any, ...]] = {
    "inherit_dependencies": (True, True, False),
    "auto_resolve_parents": (True, False),
    "evidence": ("off", "warn", "require"),
    "claims": ("enforced", "enforced", "soft"),
    "claim_ttl_minutes": (60, 0.5, 1),
    "claim_minutes_people": (None, 60, 0.5),
}
WISHES = ("resolve", "reopen", "claim", "content")
VERBS = ("move", "merge", "drop")


def rarely(random: Random) -> bool:
    return random.random() < 0.04


def sometimes(random: Random) -> bool:
    return random.random() < 0.25


def often(random: Random) -> bool:
    return random.random() < 0.6


# Targets: mostly one for which the call is valid, sometimes any other.


def some_node(random: Random, work: Work, among: Sequence[int] = ()) -> int:
    if rarely(random):
        return random.choice([NOWHERE, *work.gone, *work.removed])
    return random.choice(among if among and not rarely(random) else list(work.nodes))


def below_root(work: Work) -> list[int]:
    return [n for n in work.nodes if n != ROOT]


def unfinished(work: Work) -> list[int]:
    return [n for n in below_root(work) if not work.nodes[n].resolved]


def finished(work: Work) -> list[int]:
    return [n for n, node in work.nodes.items() if node.resolved]


def finishable(work: Work) -> list[int]:
    return [n for n, node in work.nodes.items() if not node.resolved and not work.open_children(n)]


def claimed(work: Work) -> list[int]:
    return [n for n, node in work.nodes.items() if node.claim]


def claimed_by(agent: str, work: Work) -> list[int]:
    return [n for n, node in work.nodes.items() if node.claim and node.claim.agent == agent]


def unrelated(n: int, work: Work) -> list[int]:
    """Return the nodes neither above nor below this one."""
    kin = {*work.subtree(n), *work.ancestors(n)} if n in work.nodes else set()
    return [one for one in below_root(work) if one not in kin]


# Contents.


def some_properties(random: Random) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    if often(random):
        properties["priority"] = random.choice(PRIORITIES)
    if often(random):
        properties["area"] = random.choice(AREAS)
    if sometimes(random):
        properties["complexity"] = random.choice(COMPLEXITIES)
    if sometimes(random):
        properties["description"] = random.choice(DESCRIPTIONS)
    if rarely(random):
        properties["_claimed_by"] = "me"
    return properties


def some_filter(random: Random) -> dict[str, Any]:
    """Return a filter of properties; null finds nodes without one."""
    if not sometimes(random):
        return {}
    if rarely(random):
        return {"colour": random.choice(AREAS)}  # which no node has
    return {"area": random.choice(AREAS)} if often(random) else {"priority": random.choice(PRIORITIES)}


def some_links(random: Random) -> list[str]:
    return random.choices(LINKS, k=random.randint(0, 2))


def with_files(planned: Sequence[NewNode]) -> list[NewNode]:
    """Add files to half of the nodes, so that many have some in common. What else a step draws stays the same."""
    random = Random(repr(planned))  # noqa: S311 - chance, not secrets
    return [
        replace(one, links=tuple(dict.fromkeys((*one.links, random.choice(FILES))))) if often(random) else one
        for one in planned
    ]


def some_plan(random: Random, work: Work, ids: Ids, *, nodes_max: int = 4) -> list[NewNode]:
    """Return a few nodes in any order. Most plans are valid: parents and dependencies follow a hidden order."""
    refs = [f"r{place}" for place in range(random.randint(1, nodes_max))]
    if rarely(random):  # a used ref, or one that shadows a node
        refs[-1] = random.choice([refs[0], ids[some_node(random, work)]])
    hidden = random.sample(refs, len(refs))
    is_wild = rarely(random)

    def some_ref(ref: str, *, but: Sequence[str | int] = ()) -> str | int | None:
        earlier = hidden if is_wild else [one for one in hidden[: hidden.index(ref)] if one not in but]
        if earlier and often(random):
            return random.choice(earlier)
        n = some_node(random, work, below_root(work))
        return None if n in but and not is_wild else ids[n] if ids[n] in refs else n

    parents = {ref: some_ref(ref) or ROOT for ref in hidden}
    planned = {}
    for ref in hidden:
        above: list[str | int] = [ROOT, parents[ref]]
        while above[-1] in parents and len(above) <= len(refs):
            above.append(parents[str(above[-1])])
        waits_for = [some_ref(ref, but=above) for _ in range(random.choice((0, 0, 1, 1, 2)))]
        planned[ref] = NewNode(
            ref,
            random.choice(SUMMARIES),
            parent=parents[ref],
            depends_on=[target for target in waits_for if target is not None],
            properties=some_properties(random) if sometimes(random) else {},
            links=list(dict.fromkeys(some_links(random))) if sometimes(random) else (),
        )
    return [planned[ref] for ref in refs]


def some_items(random: Random, work: Work, agent: str, wish: str) -> list[Item]:
    """Return changes to a node, sometimes in a batch with others, or what resolves a node and all below it."""
    parents = [n for n in unfinished(work) if work.open_children(n)]
    if wish == "resolve" and parents and sometimes(random):
        below = [n for n in work.subtree(random.choice(parents)) if not work.nodes[n].resolved]
        items = [some_item(random, work, agent, "resolve", n=n) for n in random.sample(below, len(below))]
        return items[rarely(random) :]
    others = random.choices(WISHES, k=random.randint(1, 2)) if sometimes(random) else []
    return [some_item(random, work, agent, one) for one in (wish, *others)]


def some_item(random: Random, work: Work, agent: str, wish: str, n: int | None = None) -> Item:
    item: dict[str, Any] = {}
    match wish:
        case "resolve" if n is not None:
            item["resolved"] = True
        case "resolve":
            n = some_node(random, work, (sometimes(random) and claimed(work)) or finishable(work))
            item["resolved"] = True
        case "reopen":
            n = some_node(random, work, finished(work))
            item["resolved"] = False
        case "claim":
            n = some_node(random, work, claimed_by(agent, work))
            item[random.choice(("renew", "release", "hold"))] = True
        case _:
            n = some_node(random, work)
            item["state"], item["properties"] = random.choice(STATES), some_properties(random)
    node = work.nodes.get(n)
    if node and sometimes(random):
        item["properties"] = {key: twin for key, value in node.properties.items() if (twin := _twin(value)) is not None}
    if sometimes(random):
        item["summary"] = random.choice(SUMMARIES)
    if sometimes(random):
        item["add_links"], item["remove_links"] = some_links(random), some_links(random)
    if sometimes(random) or work.policies.evidence == "require":
        item["add_evidence"] = random.choices(EVIDENCE, k=random.choice((0, 1, 1, 2)))
    if node and sometimes(random):
        revs = [one.rev for one in node.evidence if one.type == NOTE]
        item["retract_note"] = random.choice(revs if revs and not rarely(random) else range(1, work.rev + 2))
    if node and sometimes(random):
        item["expected_rev"] = node.rev - rarely(random)
    if node and node.fence and sometimes(random):
        item["claim"] = node.fence - sometimes(random)
    return Item(n, **item)


def _twin(value: Any) -> int | None:
    """Return a value that Python takes for equal and JSON does not, if there is one."""
    if not isinstance(value, int) or value not in (0, 1):
        return None
    return int(value) if isinstance(value, bool) else bool(value)


def some_connections(random: Random, work: Work) -> list[Link]:
    return [some_link(random, work) for _ in range(random.choice((1, 1, 2, 3)))]


def some_link(random: Random, work: Work) -> Link:
    if work.edges and sometimes(random):
        edge = random.choice(sorted(work.edges))
        return Link(edge.source, edge.type, edge.target, remove=not rarely(random))
    n = some_node(random, work, below_root(work))
    return Link(n, random.choice(EDGE_TYPES), some_node(random, work, unrelated(n, work)), remove=rarely(random))


def some_operations(random: Random, work: Work, verb: str) -> list[Operation]:
    """Return a change of the structure, sometimes in a batch with others."""
    others = random.choices(VERBS, k=random.randint(1, 2)) if sometimes(random) else []
    return [some_operation(random, work, one) for one in (verb, *others)]


def some_operation(random: Random, work: Work, verb: str) -> Operation:
    n = some_node(random, work, below_root(work) if verb != "drop" or sometimes(random) else unfinished(work))
    if verb == "drop" and rarely(random):
        n = ROOT
    match verb:
        case "move":
            return Move(n, some_node(random, work, [one for one in work.nodes if n not in (one, *work.ancestors(one))]))
        case "merge":
            parent = work.nodes[n].parent if n in work.nodes else None
            if parent is not None and sometimes(random):
                return Merge(n, parent)
            return Merge(n, some_node(random, work, unrelated(n, work)))
        case _:
            return Drop(n, random.choice(REASONS))


def some_policies(random: Random, *, most: int = 2) -> dict[str, Any]:
    names = random.sample(list(POLICIES), k=random.randint(1, most))
    return {name: random.choice(POLICIES[name]) for name in names}


# As arguments for the product.


def new_node_as_arguments(one: NewNode, ids: Ids) -> dict[str, Any]:
    def name(ref: str | int) -> str:
        return ref if isinstance(ref, str) else ids[ref]

    told: dict[str, Any] = {"ref": one.ref, "summary": one.summary}
    told |= {"parent_ref": name(one.parent)} if one.parent != ROOT else {}
    told |= {"depends_on": [name(ref) for ref in one.depends_on]} if one.depends_on else {}
    told |= {"properties": one.properties} if one.properties else {}
    return told | ({"context_links": list(one.links)} if one.links else {})


def item_as_arguments(item: Item, ids: Ids) -> dict[str, Any]:
    told = {
        "resolved": item.resolved,
        "summary": item.summary,
        "properties": dict(item.properties) or None,
        "add_context_links": list(item.add_links) or None,
        "remove_context_links": list(item.remove_links) or None,
        "add_evidence": [{"type": type_, "ref": ref} for type_, ref in item.add_evidence] or None,
        "retract_note": None if item.retract_note is None else f"{item.retract_note}.0",
        "expected_rev": item.expected_rev,
        "claim": item.claim,
        "renew": item.renew or None,
        "release": item.release or None,
        "hold": item.hold or None,
    }
    named = {name: value for name, value in told.items() if value is not None}
    return {"node_id": ids[item.n]} | named | ({} if item.state is ABSENT else {"state": item.state})


def link_as_arguments(link: Link, ids: Ids) -> dict[str, Any]:
    told: dict[str, Any] = {"from": ids[link.source], "to": ids[link.target], "type": link.type}
    return told | ({"remove": True} if link.remove else {})


def operation_as_arguments(operation: Operation, ids: Ids) -> dict[str, Any]:
    match operation:
        case Move(n, new_parent):
            return {"op": "move", "node_id": ids[n], "new_parent": ids[new_parent]}
        case Merge(source, target):
            return {"op": "merge", "source": ids[source], "target": ids[target]}
        case Drop(n, reason):
            return {"op": "drop", "node_id": ids[n], "reason": reason}
