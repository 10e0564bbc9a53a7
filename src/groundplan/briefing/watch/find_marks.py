"""Find what is marked: computed from reviews, evidence, facts, links and decisions, never stored."""

from __future__ import annotations

from groundplan.briefing.watch.find_causes import NO_LIMIT, find_causes
from groundplan.briefing.watch.mark import PREDICATES, MarkOutline, WatchMark
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import MarkedWork, MarkedWorkPage, MarkLines

KEYS_NAMED_MAX = 3
NODES_READ_MAX = 2_000  # nodes of a project of which onboarding reads the tree to name work


def find_marks(tx: Transaction, *, with_work: bool = True, at_most: int = NO_LIMIT) -> list[WatchMark]:
    """Return the marks of the current project, the latest first.

    Without work the time does not depend on the number of work nodes.
    """
    return _load_marks(tx, with_work=with_work, at_most=at_most)[0]


def list_marks_since(tx: Transaction, *, since: str, at_most: int) -> list[MarkOutline]:
    """Return the marks that were made at a moment or later, oldest first, without what depends on them."""
    causes = [cause for cause in find_causes(tx) if cause.at >= since]
    if not causes:
        return []
    from groundplan.briefing.watch.trace_marks import outline_marks  # loaded only if something is marked

    return outline_marks(tx, sorted(causes, key=lambda cause: cause.at), at_most=at_most)


def describe_marks(tx: Transaction, at_most: int) -> MarkLines:
    """Return one line for each of the latest marks, and how many more there are. In a small project it names work."""
    marks, left_out = _load_marks(tx, with_work=None, at_most=at_most)
    return MarkLines([_describe(mark) for mark in marks], left_out)


def find_marked_work(tx: Transaction, at_most: int) -> MarkedWorkPage:
    """Return the latest marks with the open work that each touches, and how many more there are."""
    marks, left_out = _load_marks(tx, with_work=True, at_most=at_most)
    return MarkedWorkPage(
        [MarkedWork(mark.ref, mark.word, mark.path, list(mark.work_paths.items()), mark.work_total) for mark in marks],
        left_out,
    )


def _load_marks(tx: Transaction, *, with_work: bool | None, at_most: int) -> tuple[list[WatchMark], int]:
    """Return marks, and how many more there are; with work, without, or (None) with it if the project is small."""
    causes = find_causes(tx)
    if not causes:
        return [], 0
    # Loaded only if something is marked.
    from groundplan.briefing.watch.trace_marks import trace_marks
    from groundplan.work.links.serving import count_nodes

    if with_work is None:
        with_work = count_nodes(tx) <= NODES_READ_MAX
    return trace_marks(tx, causes, with_work=with_work, at_most=at_most)


def _describe(mark: WatchMark) -> str:
    """Return the ref, the status, the first keys and work that depend on it, and the text last, which may be cut."""
    affected = f", affects {_name(mark.purpose, len(mark.purpose))}" if mark.purpose else ""
    work = f", open work {_name(mark.work, mark.work_total)}" if mark.work else ""
    text = "" if mark.text is None else f": {mark.text}"
    return f"{mark.ref} {PREDICATES[mark.status]}{affected}{work}{text}"


def _name(names: list[str], total: int) -> str:
    more = total - KEYS_NAMED_MAX
    return ", ".join(names[:KEYS_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
