"""Find the structure of a theory in JSON: the parent of a node, a tree of nodes, or a path of them.

Metadata is free, so a name alone proves little: a plan for schools counts its `children`, the `parent` of a child is a
person, and a `path` is often that of a file. Only a name that says the id of a parent or child is enough, or a list of
objects under one of these names. The editor refuses structure, the checklist blocks it, and gate A finds what was
stored before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.wording import quote_text
from groundplan.purpose.model import PREFIXES

NAMES_SHOWN_MAX = 10
NAME_CHARS_MAX = 60  # of `outer.inner`, as many as a message shows; the inner end is kept
LEVELS_MAX = 3  # below a name, in which keys and ids of nodes are looked for
PART_CHARS_MAX = 40  # of one name in it

# Names as fold_name returns them.
TREE_NAMES = {"tree", "subtree", "nested", "children", "childnodes", "descendants"}
PATH_NAMES = {
    "path",
    "treepath",
    "nodepath",
    "materializedpath",
    "materialisedpath",
    "lineage",
    "ancestry",
    "ancestors",
}
PATH_NAMES |= {"parents"}
_LINKS = {"parentid", "parentids", "parentnode", "parentnodeid", "parentkey", "parentref"}
_LINKS |= {"childid", "childids", "childnodeid", "childnodeids"}
_NODE_NAMES = {"title", "key", "nodetype", "children"}  # in an object that is a node

_FOLDED = re.compile(r"[-_\s]+")
_KEY = re.compile(rf"(?:{'|'.join(PREFIXES.values())})\d+", re.ASCII)
_SEPARATORS = re.compile(r"(?:->|[\s/\\.,;:|>→])+")


class MetadataStructure(NamedTuple):
    """The names in metadata that link a node to its parent, or that hold a tree or a path."""

    links: list[str]
    trees: list[str]


def fold_name(name: str) -> str:
    """Return a name without case, dashes and underscores: parent_id and parentId become equal."""
    return _FOLDED.sub("", name).lower()


def find_structure(metadata: Any) -> MetadataStructure:
    """Return the names in JSON that hold structure, at any depth, in the form `outer.inner`.

    The names are shortened and limited in number, so that the answer to a large request stays small.
    """
    links: dict[str, None] = {}
    trees: dict[str, None] = {}
    for name, is_link in _walk(metadata, ""):
        names = links if is_link else trees
        if len(names) <= NAMES_SHOWN_MAX:  # one more than is shown, to know that there are more
            names[name] = None
    return MetadataStructure(list(links), list(trees))


def remove_structure(value: Any) -> Any:
    """Return JSON without the names that hold structure."""
    if isinstance(value, list):
        return [remove_structure(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        name: remove_structure(inner)
        for name, inner in value.items()
        if not (_is_link(folded := fold_name(name), inner) or _is_tree(folded, inner))
    }


def format_names(names: list[str]) -> str:
    """Return names from metadata for a message."""
    more = " and more" if len(names) > NAMES_SHOWN_MAX else ""
    return ", ".join(quote_text(name) for name in names[:NAMES_SHOWN_MAX]) + more


def _walk(value: Any, above: str) -> Iterator[tuple[str, bool]]:
    if isinstance(value, list):
        for inner in value:
            yield from _walk(inner, above)
    elif isinstance(value, dict):
        for name, inner in value.items():
            folded = fold_name(name)
            is_link = _is_link(folded, inner)
            if is_link or _is_tree(folded, inner):
                yield _join_name(above, name), is_link
            elif isinstance(inner, (dict, list)):
                yield from _walk(inner, _join_name(above, name) + ".")


def _join_name(above: str, name: str) -> str:
    part = name if len(name) <= PART_CHARS_MAX else f"{name[: PART_CHARS_MAX - 1]}…"
    joined = above + part
    return joined if len(joined) <= NAME_CHARS_MAX else f"…{joined[1 - NAME_CHARS_MAX :]}"


def _is_link(folded: str, value: Any) -> bool:
    """Return True if a value can name a parent or child. Null and booleans cannot."""
    if folded == "parent":
        return (bool(value) and isinstance(value, dict)) or _lists_objects(value) or _names_nodes(value)
    return folded in _LINKS and not isinstance(value, bool) and (value == 0 or bool(value))


def _is_tree(folded: str, value: Any) -> bool:
    """Return True if a value under the name of a tree or path contains nodes, or keys or ids of nodes."""
    if folded not in TREE_NAMES | PATH_NAMES:
        return False
    inner = value.values() if isinstance(value, dict) else ()
    is_tree = folded in TREE_NAMES and any(map(_is_node, (value, *inner)))
    return is_tree or _lists_objects(value) or _names_nodes(value)


def _lists_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and any(fold_name(name) in _NODE_NAMES for name in value)


def _names_nodes(value: Any, levels: int = LEVELS_MAX) -> bool:
    """Return True if a text consists of keys or ids of nodes, or a list or object has such a text near its top."""
    if not levels:
        return False  # what is deeper is looked at under its own name
    if isinstance(value, str):
        names = [name for name in _SEPARATORS.split(value) if name]
        return bool(names) and all(_KEY.fullmatch(name) or parse_uuid(name) for name in names)
    if isinstance(value, dict):
        return any(_names_nodes(name) or _names_nodes(inner, levels - 1) for name, inner in value.items())
    return isinstance(value, list) and any(_names_nodes(inner, levels - 1) for inner in value)
