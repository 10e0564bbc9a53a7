"""Titles for ids, keys and pointers, so that people can read a list of events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from groundplan.context.facts_in_force import find_draft_facts, find_fact_targets
from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.entities import load_names
from groundplan.knowledge.requests import KnowledgeEntityType
from groundplan.purpose.search import find_indicator_names, find_purpose_targets
from groundplan.work.refs import find_known_targets

REFS_MAX = 200

_KEY = re.compile(r"[A-Z]{1,4}[0-9]{1,9}")
_ROW_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class FindTitles(Struct, forbid_unknown_fields=True):
    """The project, and the ids, keys and pointers to look up."""

    project: Name
    refs: Annotated[list[Name], Meta(min_length=1, max_length=REFS_MAX)]


class Titled(Struct):
    """The title of a ref. `at` is the id, key or pointer under which its slice has the item."""

    ref: str
    slice: str
    at: str
    title: str


class Titles(Struct):
    """The titles of the refs that exist."""

    found: list[Titled]


def find_titles_of_refs(tx: Transaction, request: FindTitles) -> Titles:
    """Return the titles of some refs; unknown and deleted ones are left out."""
    keys, row_ids, pointers, ids = _sort_by_form(request.refs)
    titles = [Titled(target.ref, "work", target.ref, target.title) for target in find_known_targets(tx, ids).values()]
    if keys:
        targets = find_purpose_targets(tx, keys).found.values()
        titles += [Titled(target.ref, "purpose", target.ref, target.title) for target in targets]
        titles += [Titled(key, "purpose", key, name) for key, name in find_indicator_names(tx, keys).items()]
    if pointers:
        inputs = find_fact_targets(tx, pointers).found.values()
        titles += [Titled(fact.ref, "context", fact.ref, fact.title) for fact in inputs]
    if row_ids:
        facts = find_draft_facts(tx, row_ids)
        titles += [Titled(id_, "context", fact.ref, fact.ref) for id_, fact in facts.items()]
        for kind in KnowledgeEntityType:
            titles += [Titled(id_, "knowledge", id_, name) for id_, name in load_names(tx, kind, row_ids).items()]
    return Titles(tx.budget.reserve(Titles([])).take_rows(titles))


def _sort_by_form(refs: Iterable[str]) -> tuple[Sequence[str], set[str], Sequence[str], Sequence[str]]:
    """Return the refs in four lists: purpose keys, row ids, pointers, and ids of work nodes."""
    keys: list[str] = []
    row_ids: set[str] = set()
    pointers: list[str] = []
    ids: list[str] = []
    for ref in dict.fromkeys(refs):
        if _KEY.fullmatch(ref):
            keys.append(ref)
        elif _ROW_ID.fullmatch(ref):
            row_ids.add(ref)
        elif ref.startswith("/"):
            pointers.append(ref)
        else:
            ids.append(ref)
    return keys, row_ids, pointers, ids


OPERATION = declare(
    find_titles_of_refs,
    name="briefing.titles",
    summary="The titles of what ids, keys and pointers stand for.",
    permission=Permission.PROJECT_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/titles"),
)
