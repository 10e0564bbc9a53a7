"""Assign keys to the items of an imported file: valid keys are kept, and other items get new keys.

A file exported from this project keeps its keys, so a theory that was edited elsewhere stays the same theory and its
comparisons, measurements and reviews continue. A file of another project may use the same keys for other items. To
tell them apart, the names in the file are compared with all names that these keys ever had here, also in discarded
drafts. If most of them differ, the file counts as another theory, and the caller must say which case it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from groundplan.kernel.errors import Conflict
from groundplan.kernel.events import collect_recorded_values
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import reserve_keys, reserve_up_to
from groundplan.purpose.exchange.document import TheoryDocument
from groundplan.purpose.model import ASSUMPTION_PREFIX, INDICATOR_PREFIX, PREFIXES, fold_title, sort_keys
from groundplan.purpose.observing.read import find_observed_keys

KeyMode = Literal["same", "new"]

# Far above any real project. A larger number is a typing error, and new keys would have to continue after it.
KEY_NUMBER_MAX = 1_000_000_000
_KEY = re.compile(r"([A-Z]{1,2})([1-9][0-9]{0,9})")
_NODE_PREFIXES = tuple(PREFIXES.values())
_NAME_FIELDS = ("title", "assumption_text", "name")  # the names of nodes, assumptions and indicators
KEYS_SHOWN_MAX = 5


class OtherTheory(Conflict):
    """Keys in the file name other items of this project."""

    code = "keys_of_another_theory"

    def __init__(self, keys: list[str]) -> None:
        several = f"{', '.join(keys[:KEYS_SHOWN_MAX])}{' and others' if len(keys) > KEYS_SHOWN_MAX else ''}"
        super().__init__(
            f"{several} name other items in this project than in the file. Set keys to 'new' if the file is another "
            "theory and needs new keys. Set keys to 'same' if it is this theory with changed titles",
            keys=keys,
        )


class KeyMapping(Struct):
    """A name in the file, and the key assigned to it."""

    name: str
    key: str


class IncomingKeys:
    """The keys for the names in a document, by kind of item."""

    def __init__(self, tx: Transaction, document: TheoryDocument, keys: KeyMode | None) -> None:
        is_kept = keys != "new"
        # Known keys whose name in the document is new here.
        self.renamed = _find_renamed(tx, document, is_certain=keys is not None) if is_kept else []
        self.nodes = _assign_keys(
            tx, ((node.key, PREFIXES[node.node_type]) for node in document.nodes), _NODE_PREFIXES, is_kept
        )
        self.assumptions = _assign_keys(
            tx,
            ((assumption.key, ASSUMPTION_PREFIX) for assumption in document.assumptions),
            (ASSUMPTION_PREFIX,),
            is_kept,
        )
        self.indicators = _assign_keys(
            tx, ((indicator.key, INDICATOR_PREFIX) for indicator in document.indicators), (INDICATOR_PREFIX,), is_kept
        )

    def list_changed_keys(self) -> list[KeyMapping]:
        """Return the names that were assigned a different key, nodes first."""
        mappings = (self.nodes, self.assumptions, self.indicators)
        return [KeyMapping(name, key) for mapping in mappings for name, key in mapping.items() if name != key]


def _assign_keys(
    tx: Transaction, names_with_prefix: Iterable[tuple[str, str]], prefixes: tuple[str, ...], is_kept: bool
) -> dict[str, str]:
    """Assign a key to every name. Each name has the prefix for a new key."""
    assigned: dict[str, str] = {}
    unkept: dict[str, list[str]] = {}
    highest: dict[str, int] = {}
    for name, prefix in names_with_prefix:
        match = _KEY.fullmatch(name) if is_kept else None
        if match and match[1] in prefixes and int(match[2]) <= KEY_NUMBER_MAX:
            assigned[name] = name
            highest[match[1]] = max(highest.get(match[1], 0), int(match[2]))
        else:
            unkept.setdefault(prefix, []).append(name)
    # Reserve the kept keys first, so that new ones start after them.
    for prefix, number in sorted(highest.items()):
        reserve_up_to(tx, prefix, number)
    for prefix, names in sorted(unkept.items()):
        assigned |= zip(names, reserve_keys(tx, prefix, len(names)), strict=True)
    return assigned


def _find_renamed(tx: Transaction, document: TheoryDocument, *, is_certain: bool) -> list[str]:
    """Return the existing keys whose name in the document is new to this project.

    The nodes decide whether it is the same theory; if none of their keys is known, assumptions and indicators do. The
    observations of a key are never passed on to an item with another name.
    """
    nodes = {node.key: node.title for node in document.nodes}
    beside = {assumption.key: assumption.assumption_text for assumption in document.assumptions}
    beside |= {indicator.key: indicator.name for indicator in document.indicators}
    recorded_names = collect_recorded_values(tx, {*nodes, *beside}, ops="purpose", fields=_NAME_FIELDS)
    renamed: list[str] = []
    is_known = False
    for called in (nodes, beside):
        known = [key for key in called if key in recorded_names]
        others = [key for key in known if fold_title(called[key]) not in map(fold_title, recorded_names[key])]
        if not is_certain and not is_known and 2 * len(others) > len(known):
            raise OtherTheory(sort_keys(others))
        is_known = is_known or bool(known)
        renamed += others
    observed = [] if is_certain else sort_keys(find_observed_keys(tx, renamed))
    if observed:
        raise OtherTheory(observed)
    return sort_keys(renamed)
