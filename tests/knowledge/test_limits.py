"""Every limit: the limit is accepted, one above is refused with the limit in the error, and nothing is cut."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from groundplan.kernel.errors import Invalid
from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.client import COMMIT, NOWHERE, KnowledgeClient, outcome_of
from tests.knowledge.rows import all_rows

SIXTEEN = "0123456789abcdef"


class Limit(NamedTuple):
    """A limit, the request that reaches it, and the error above it."""

    most: int
    code: str
    field: str
    send: Callable[[KnowledgeClient, int], Any]


def text(size: int) -> str:
    """Return text of `size` bytes, mostly multi-byte characters and without blanks."""
    whole = "ü€🌍" * (size // 9)
    return whole + "x" * (size - len(whole.encode()))


def relations(client: KnowledgeClient, key: str, name: str, count: int, reason: str = "x") -> list[dict[str, str]]:
    return [{key: client[name], "reason": reason}] * count


def freshness_rows(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": NOWHERE, "version": 1, "freshness": "fresh", **more}] * count


def record_check(client: KnowledgeClient, atoms: list[dict[str, Any]]) -> Any:
    return client.call("knowledge.record_check", projectId="atlas", commit=COMMIT, atoms=atoms)


LIMITS = {
    "name": Limit(255, "too_long", "name", lambda d, size: d.atom("ü" * size, "a")),
    "name in an update": Limit(255, "too_long", "name", lambda d, size: d.update("Cart", name="ü" * size)),
    "name of a molecule": Limit(255, "too_long", "name", lambda d, size: d.molecule("🌍" * size)),
    "patterns": Limit(20, "invalid_argument", "paths", lambda d, size: d.atom("x", *["a"] * size)),
    "patterns in an update": Limit(
        20, "invalid_argument", "paths", lambda d, size: d.update("Cart", paths=[f"a{n}" for n in range(size)])
    ),
    "a pattern": Limit(512, "too_long", "paths[1]", lambda d, size: d.atom("x", "a", "🌍" * size)),
    "a pattern in an update": Limit(
        512, "too_long", "paths[0]", lambda d, size: d.update("Cart", paths=["x" * size, "b"])
    ),
    "knowledge": Limit(32_768, "too_long", "knowledge", lambda d, size: d.atom("x", knowledge=text(size))),
    "knowledge in an update": Limit(
        32_768, "too_long", "knowledge", lambda d, size: d.update("Cart", knowledge=text(size))
    ),
    "knowledge of a molecule": Limit(
        32_768, "too_long", "knowledge", lambda d, size: d.update("Shop", knowledge=text(size))
    ),
    "related atoms": Limit(
        50,
        "invalid_argument",
        "relatedAtoms",
        lambda d, size: d.atom("x", relatedAtoms=relations(d, "atomId", "Cart", size)),
    ),
    "related molecules": Limit(
        50,
        "invalid_argument",
        "relatedMolecules",
        lambda d, size: d.update("Shop", relatedMolecules=relations(d, "moleculeId", "Pages", size)),
    ),
    "a reason": Limit(
        1024,
        "too_long",
        "relatedAtoms[0].reason",
        lambda d, size: d.update("Cart", relatedAtoms=relations(d, "atomId", "Alone", 1, text(size))),
    ),
    "a summary": Limit(4096, "too_long", "summary", lambda d, size: d.log("Cart", text(size))),
    "a page of a search": Limit(100, "invalid_argument", "limit", lambda d, size: d.search(limit=size)),
    "a page of a changelog": Limit(100, "invalid_argument", "limit", lambda d, size: d.entries("Cart", limit=size)),
    "a page of a list": Limit(
        1000, "invalid_argument", "limit", lambda d, size: d.call("knowledge.list", projectId="atlas", limit=size)
    ),
    "entries beside an atom": Limit(
        50, "invalid_argument", "changelogLimit", lambda d, size: d.get("Cart", changelogLimit=size)
    ),
    "entries beside what is found": Limit(
        50, "invalid_argument", "changelogLimit", lambda d, size: d.search(changelogLimit=size)
    ),
    "words of a query": Limit(
        128, "too_many", "query", lambda d, size: d.search(" ".join(f"w{place}" for place in range(size)))
    ),
    "files that are asked for": Limit(
        1000, "too_many", "paths", lambda d, size: d.context(*(f"a/{place}" for place in range(size)))
    ),
    "files that are asked for, in all": Limit(
        65_536, "too_long", "paths", lambda d, size: d.context("y" * (size - 64_000), *(c * 4_000 for c in SIXTEEN))
    ),
    "a file that is asked for": Limit(4096, "too_long", "paths", lambda d, size: d.context("a", "x" * size)),
    "atoms of a check": Limit(1000, "invalid_argument", "atoms", lambda d, size: record_check(d, freshness_rows(size))),
    "files of a check": Limit(
        50, "invalid_argument", "atoms[0].files", lambda d, size: record_check(d, freshness_rows(1, files=["a"] * size))
    ),
    "a file of a check": Limit(
        4096, "too_long", "atoms[0].files[0]", lambda d, size: record_check(d, freshness_rows(1, files=[text(size)]))
    ),
}


def limit_in(error: Invalid) -> int:
    """Return the limit that an error names."""
    limit: int = next(error.details[key] for key in ("limit_bytes", "limit_chars", "limit") if key in error.details)
    return limit


def test_up_to_the_limit_everything_is_taken(crowded_project: KnowledgeClient) -> None:
    for limit in LIMITS.values():
        limit.send(crowded_project, limit.most - 1)
        limit.send(crowded_project, limit.most)


def test_what_is_above_a_limit_is_refused_and_the_limit_is_named_and_nothing_is_written(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    before = all_rows(engine)

    for what, limit in LIMITS.items():
        error = error_of(partial(limit.send, crowded_project, limit.most + 1))

        assert isinstance(error, Invalid), what
        assert (error.code, error.details["field"], limit_in(error)) == (limit.code, limit.field, limit.most), what
    assert all_rows(engine) == before


def test_what_was_taken_at_the_limit_comes_back_whole(crowded_project: KnowledgeClient) -> None:
    reasons = [f"{place:02}{text(1022)}" for place in range(50)]
    crowded_project.update(
        "Cart",
        name="ü" * 255,
        paths=[f"{place:02}{'ü' * 510}" for place in range(20)],
        knowledge=text(32_768),
        relatedAtoms=[{"atomId": crowded_project["Alone"], "reason": reason} for reason in reasons],
    )
    crowded_project.log("Cart", text(4096))

    found = crowded_project.get("Cart")

    assert (found.atom.name, found.atom.knowledge, found.changelog[0].summary) == ("ü" * 255, text(32_768), text(4096))
    assert found.atom.paths == [f"{place:02}{'ü' * 510}" for place in range(20)]
    assert [one.reason for one in found.atom.related_atoms] == reasons


def test_blanks_around_a_text_do_not_count(crowded_project: KnowledgeClient) -> None:
    around = " \n" * 1000

    assert crowded_project.update("Cart", knowledge=f"{around}{text(32_768)}{around}").knowledge == text(32_768)
    assert crowded_project.log("Cart", f"{around}{text(4096)}{around}").summary == text(4096)
    assert crowded_project.update("Cart", name=f"  {'x' * 255}  ").name == "x" * 255
    assert outcome_of(lambda: crowded_project.update("Cart", knowledge=f" {text(32_769)} ")) == (
        "Invalid",
        "too_long",
        "knowledge",
    )


def test_a_reason_is_kept_without_the_blanks_around_it(crowded_project: KnowledgeClient) -> None:
    changed = crowded_project.update("Cart", relatedAtoms={"Alone": " fills it\n"})

    assert changed.related_atoms[0].reason == "fills it"


def test_braces_stand_for_no_more_than_so_many_patterns(crowded_project: KnowledgeClient) -> None:
    braces = "{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}"

    assert crowded_project.atom("64", braces).paths == [braces]
    assert outcome_of(lambda: crowded_project.atom("65", f"{{{braces},c}}")) == (
        "Invalid",
        "malformed_pattern",
        "paths[0]",
    )


def test_what_is_below_a_limit_is_refused(crowded_project: KnowledgeClient) -> None:
    calls = {
        "version": partial(crowded_project.update, "Cart", name="x", version=0),
        "limit": partial(crowded_project.search, limit=0),
        "offset": partial(crowded_project.search, offset=-1),
        "changelogLimit": partial(crowded_project.get, "Cart", changelogLimit=-1),
    }

    assert {field: outcome_of(call) for field, call in calls.items()} == {
        field: ("Invalid", "invalid_argument", field) for field in calls
    }


def test_numbers_may_come_as_text(crowded_project: KnowledgeClient) -> None:
    assert len(crowded_project.search(limit="1", offset="1").items) == 1
    assert crowded_project.update("Cart", name="x", version="1").version == 2
