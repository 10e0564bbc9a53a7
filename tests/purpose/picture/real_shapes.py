"""Plans with the shapes of real ones, generated: large, full of loops, and with parts that nothing links.

Miradi projects look like these. A results chain leads from a strategy over several results to a target; a situation
model links causes with each other in both directions; and every project has factors that no diagram links yet.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from groundplan.purpose.model import PREFIXES, EdgeName, EdgeType, NodeType
from groundplan.purpose.picture.layout import CardSize

TITLE_LINES = (1, 2, 2, 3, 3, 4)
BADGED_SHARE = 0.3


class Dice(Random):
    """Chance that is the same for the same seed."""


class Plan(NamedTuple):
    """Cards and edges to lay out."""

    cards: dict[str, CardSize]
    edges: list[EdgeName]


def make_large(seed: int) -> Plan:
    """Return 249 nodes: results chains that share results, a few loops, and 31 cards that nothing links."""
    random = Dice(seed)
    keys = _make_keys({NodeType.GOAL: 12, NodeType.OUTCOME: 48, NodeType.OUTPUT: 104, NodeType.ACTIVITY: 54})
    edges: dict[EdgeName, None] = {}
    results = iter(keys[NodeType.OUTPUT])
    used: list[str] = []
    for number, activity in enumerate(keys[NodeType.ACTIVITY]):
        here = activity
        for _ in range(random.choice((1, 2, 2, 3))):
            # A chain ends in a result of another one more often than the results run out.
            after = next(results, None) if random.random() < 0.8 or not used else random.choice(used)
            after = after or random.choice(used)
            _connect(edges, here, after)
            used.append(after)
            here = after
        area = keys[NodeType.OUTCOME][number * 8 // 9 % 48 :][:4] or keys[NodeType.OUTCOME][:4]
        _connect(edges, here, random.choice(area))
    for number, outcome in enumerate(keys[NodeType.OUTCOME]):
        if random.random() < 0.4:
            _connect(edges, outcome, random.choice(keys[NodeType.OUTCOME]))
        for _ in range(random.choice((1, 1, 2))):
            _connect(edges, outcome, keys[NodeType.GOAL][(number // 4 + random.choice((0, 0, 1))) % 12])
    for _ in range(10):
        _connect(edges, random.choice(used), random.choice(used))
    for _ in range(8):
        _connect(edges, random.choice(keys[NodeType.OUTCOME]), random.choice(used))
    return _finish(random, keys, edges, unlinked=31)


def make_cyclic(seed: int) -> Plan:
    """Return 96 nodes and 242 edges: causes that act on each other in both directions, so that many edges lead back."""
    random = Dice(seed)
    keys = _make_keys({NodeType.GOAL: 10, NodeType.OUTCOME: 56, NodeType.OUTPUT: 12, NodeType.ACTIVITY: 18})
    causes = keys[NodeType.OUTCOME]
    edges: dict[EdgeName, None] = {}
    for activity in keys[NodeType.ACTIVITY]:
        for _ in range(random.choice((1, 1, 2))):
            _connect(edges, activity, random.choice([*keys[NodeType.OUTPUT], *causes[:30]]))
    for output in keys[NodeType.OUTPUT]:
        _connect(edges, output, random.choice(causes))
    for number, cause in enumerate(causes):
        _connect(edges, cause, random.choice(causes[number + 1 :][:9] or keys[NodeType.GOAL]))
        if number % 4 == 3:
            _connect(edges, cause, random.choice(keys[NodeType.GOAL]))
    while len(edges) < 242:
        one = random.randrange(56)
        other = min(max(one + random.randint(-14, 14), 0), 55)
        if random.random() < 0.12:
            _connect(edges, random.choice(causes), random.choice(keys[NodeType.GOAL]))
        elif random.random() < 0.05:
            _connect(edges, causes[one], random.choice(keys[NodeType.OUTPUT]))
        else:
            _connect(edges, causes[one], causes[other])
    return _finish(random, keys, edges, unlinked=0)


def make_scattered(seed: int) -> Plan:
    """Return 118 nodes: seven small chains without a link between them, and 54 cards that nothing links."""
    random = Dice(seed)
    keys = _make_keys({NodeType.GOAL: 7, NodeType.OUTCOME: 15, NodeType.OUTPUT: 21, NodeType.ACTIVITY: 21})
    edges: dict[EdgeName, None] = {}
    for lower, upper in (
        (NodeType.ACTIVITY, NodeType.OUTPUT),
        (NodeType.OUTPUT, NodeType.OUTCOME),
        (NodeType.OUTCOME, NodeType.GOAL),
    ):
        for number, key in enumerate(keys[lower]):
            near = [one for place, one in enumerate(keys[upper]) if place % 7 == number % 7]
            for one in random.sample(near, min(len(near), random.choice((1, 1, 2)))):
                _connect(edges, key, one)
    return _finish(random, keys, edges, unlinked=54)


def _make_keys(counts: dict[NodeType, int]) -> dict[NodeType, list[str]]:
    return {
        node_type: [f"{PREFIXES[node_type]}{number}" for number in range(count)] for node_type, count in counts.items()
    }


def _connect(edges: dict[EdgeName, None], source: str, target: str) -> None:
    if source != target:
        edges[EdgeName(source, target, EdgeType.CONTRIBUTES_TO)] = None


def _finish(random: Dice, keys: dict[NodeType, list[str]], edges: dict[EdgeName, None], *, unlinked: int) -> Plan:
    """Give the cards sizes and a random order, and add some that nothing links."""
    types = {key: node_type for node_type, several in keys.items() for key in several}
    types |= {f"UN{number}": random.choice([*NodeType]) for number in range(unlinked)}
    shuffled = [*types]
    random.shuffle(shuffled)
    cards = {}
    for key in shuffled:
        lines = random.choice(TITLE_LINES)
        height = 32 + 18 * lines + (21 if random.random() < BADGED_SHARE else 0)
        cards[key] = CardSize(types[key], 190, height)
    return Plan(cards, sorted(edges))
