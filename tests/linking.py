"""Set and remove links between slices in tests, each in a write of its own."""

from __future__ import annotations

from groundplan.kernel.audit import changed
from groundplan.kernel.links import LinkSource, LinkType, add_link, remove_link
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from groundplan.work.events import WorkOp
from groundplan.work.refs import find_node_or_none


def link(session: Session, source: str, type_: str, *targets: str, project: str = "atlas") -> None:
    """Add links from a work node or a purpose node."""

    def run(tx: Transaction) -> None:
        for target in targets:
            assert add_link(tx, _find_source(tx, source), LinkType(type_), target)
        tx.record(WorkOp.UPDATED, source, changed(type_, [], list(targets)))

    session.store.write(session.actor, project, run)


def unlink(session: Session, source: str, type_: str, target: str, project: str = "atlas") -> None:
    """Remove a link."""

    def run(tx: Transaction) -> None:
        assert remove_link(tx, _find_source(tx, source), LinkType(type_), target)
        tx.record(WorkOp.UPDATED, source, changed(type_, [target], []))

    session.store.write(session.actor, project, run)


def _find_source(tx: Transaction, source: str) -> LinkSource:
    node = find_node_or_none(tx, source)
    return LinkSource(source, None if node is None else node.n)
