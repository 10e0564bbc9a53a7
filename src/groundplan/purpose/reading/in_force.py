"""The purpose in force: the latest published version, else the draft."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content, read_verified_content
from groundplan.purpose.model import Content, build_content
from groundplan.purpose.versions.versions import VersionRow, read_versions


class PurposeInForce(NamedTuple):
    """A version and its content, with what only the draft has if somebody asked for it."""

    version: VersionRow
    content: Content
    draft_keys: frozenset[str] = frozenset()  # nodes that only the draft has


def read_purpose_in_force(tx: Transaction, wanted: Collection[str] = ()) -> PurposeInForce | None:
    """Return the purpose in force; None if there is no version.

    If only the draft has one of the wanted nodes, the content has everything that only the draft has, too.

    Raises:
        ContentAltered: the content of the published version does not match its hash.
    """
    rows = read_versions(tx)
    if not rows:
        return None
    version = next((row for row in reversed(rows) if not row.is_draft), rows[-1])
    content = read_verified_content(tx, version)
    draft = rows[-1]
    if draft is version or not draft.is_draft or all(key in content.nodes for key in wanted):
        return PurposeInForce(version, content)
    drafted = read_content(tx, draft.id)
    added = frozenset(drafted.nodes.keys() - content.nodes.keys())
    if added.isdisjoint(wanted):
        return PurposeInForce(version, content)
    return PurposeInForce(version, _extend(content, drafted, added), added)


def read_content_in_force(tx: Transaction) -> Content:
    """Return the content of the version in force; it is empty if there is no version.

    Its hash is not verified: marks are computed in many reads, and no answer of theirs is final.
    """
    rows = read_versions(tx)
    version = next((row for row in reversed(rows) if not row.is_draft), None) or next(iter(rows), None)
    return build_content((), (), (), ()) if version is None else read_content(tx, version.id)


def _extend(content: Content, drafted: Content, added: frozenset[str]) -> Content:
    """Return the content with the added nodes of the draft, and the edges, assumptions and indicators on them."""
    names = {edge.name for edge in content.edges}
    known = content.nodes.keys() | added
    edges = [
        edge
        for edge in drafted.edges
        if (edge.source in added or edge.target in added)
        and edge.name not in names
        and edge.source in known
        and edge.target in known
    ]
    new_names = {edge.name for edge in edges}
    return build_content(
        [*content.nodes.values(), *(drafted.nodes[key] for key in added)],
        [*content.edges, *edges],
        [
            *content.assumptions.values(),
            *(one for one in drafted.assumptions.values() if one.node in added or one.edge in new_names),
        ],
        [*content.indicators.values(), *(one for one in drafted.indicators.values() if one.node in added)],
    )
