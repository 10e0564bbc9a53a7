"""What things of a file are called here: by their own keys where they are keys of ours, else by fresh ones.

A file that was written by this project brings its keys back, so a theory that was edited elsewhere is still the same
theory: comparisons, measurements and reviews go on. A file of another project may have the same keys for other things.
Whether it is one is told by what those keys were ever called here, in versions and in drafts that are gone: where most
of them never had such a name, the file is taken for another theory, and whoever brings it says which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from groundplan.kernel.errors import Conflict
from groundplan.kernel.events.read import collect_recorded_values
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.exchange.formats.document import TheoryDocument
from groundplan.purpose.keys import fresh_keys, reach
from groundplan.purpose.model import ASSUMPTION_PREFIX, INDICATOR_PREFIX, PREFIXES, sort_keys
from groundplan.purpose.observing.read_observations import find_observed_keys

KeyMode = Literal["same", "new"]

# No project gives out as many; a larger number came from a typing error, and counting would go on behind it.
KEY_NUMBER_MAX = 1_000_000_000
_KEY = re.compile(r"([A-Z]{1,2})([1-9][0-9]{0,9})")
_NODE_PREFIXES = tuple(PREFIXES.values())
_NAME_FIELDS = ("title", "assumption_text", "name")  # what nodes, assumptions and indicators are known by
KEYS_SHOWN_MAX = 5


class OtherTheory(Conflict):
    """Keys of a file are known here for other things."""

    code = "keys_of_another_theory"

    def __init__(self, keys: list[str]) -> None:
        several = f"{', '.join(keys[:KEYS_SHOWN_MAX])}{' and others' if len(keys) > KEYS_SHOWN_MAX else ''}"
        super().__init__(
            f"{several} stand for other things in this project than in the file. Say keys 'new' if it is another "
            "theory, whose nodes are to get keys of their own; say keys 'same' if it is this one, with other titles",
            keys=keys,
        )


class KeyMapping(Struct):
    """A name of the file, and the key that it became."""

    name: str
    key: str


class IncomingKeys:
    """From the names of a document to keys, for each sort of thing."""

    def __init__(self, tx: Transaction, document: TheoryDocument, keys: KeyMode | None) -> None:
        is_kept = keys != "new"
        # Keys that are known here, for things that were never called so.
        self.renamed = _renamed(tx, document, is_certain=keys is not None) if is_kept else []
        self.nodes = _assign_keys(
            tx, ((node.key, PREFIXES[node.node_type]) for node in document.nodes), _NODE_PREFIXES, is_kept
        )
        self.assumptions = _assign_keys(
            tx, ((one.key, ASSUMPTION_PREFIX) for one in document.assumptions), (ASSUMPTION_PREFIX,), is_kept
        )
        self.indicators = _assign_keys(
            tx, ((one.key, INDICATOR_PREFIX) for one in document.indicators), (INDICATOR_PREFIX,), is_kept
        )

    def given(self) -> list[KeyMapping]:
        """The names that became other keys, nodes first."""
        sorts = (self.nodes, self.assumptions, self.indicators)
        return [KeyMapping(name, key) for sort in sorts for name, key in sort.items() if name != key]


def _assign_keys(
    tx: Transaction, named: Iterable[tuple[str, str]], prefixes: tuple[str, ...], is_kept: bool
) -> dict[str, str]:
    """The key of every name, which comes with the letters of a fresh one."""
    found: dict[str, str] = {}
    others: dict[str, list[str]] = {}
    highest: dict[str, int] = {}
    for name, prefix in named:
        match = _KEY.fullmatch(name) if is_kept else None
        if match and match[1] in prefixes and int(match[2]) <= KEY_NUMBER_MAX:
            found[name] = name
            highest[match[1]] = max(highest.get(match[1], 0), int(match[2]))
        else:
            others.setdefault(prefix, []).append(name)
    # First what is kept: fresh keys begin behind it.
    for prefix, number in sorted(highest.items()):
        reach(tx, prefix, number)
    for prefix, names in sorted(others.items()):
        found |= zip(names, fresh_keys(tx, prefix, len(names)), strict=True)
    return found


def _renamed(tx: Transaction, document: TheoryDocument, *, is_certain: bool) -> list[str]:
    """The keys that were never called here as the document calls them, unless that makes it another theory.

    Nodes tell whether it is the same one; where none of theirs is known, assumptions and indicators do. What was
    observed under a key never passes to something of another name.

    Raises:
        OtherTheory: it is another one, and nobody said otherwise.
    """
    nodes = {node.key: node.title for node in document.nodes}
    beside = {one.key: one.assumption_text for one in document.assumptions}
    beside |= {one.key: one.name for one in document.indicators}
    told = collect_recorded_values(tx, {*nodes, *beside}, ops="purpose", fields=_NAME_FIELDS)
    renamed: list[str] = []
    is_known = False
    for called in (nodes, beside):
        known = [key for key in called if key in told]
        others = [key for key in known if _normalize_name(called[key]) not in map(_normalize_name, told[key])]
        if not is_certain and not is_known and 2 * len(others) > len(known):
            raise OtherTheory(sort_keys(others))
        is_known = is_known or bool(known)
        renamed += others
    observed = [] if is_certain else sort_keys(find_observed_keys(tx, renamed))
    if observed:
        raise OtherTheory(observed)
    return sort_keys(renamed)


def _normalize_name(text: str) -> str:
    """A name of which neither case nor white space counts, nor how its letters are composed."""
    import unicodedata  # tables that only an import needs

    return unicodedata.normalize("NFC", " ".join(text.split())).casefold()
