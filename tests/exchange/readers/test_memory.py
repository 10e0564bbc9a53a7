"""Entities and relations of the MCP memory server become molecules, in each dialect of its file."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.exchange import memory
from groundplan.exchange.items import BadLineFound, SourcePlan, UnreadableSource
from groundplan.knowledge.requests import KNOWLEDGE_BYTES_MAX, RELATED_MAX
from groundplan.work.importing.items import SourceRelation
from tests.proof import scaled

CART = {"name": "Cart", "entityType": "module", "observations": ["Never rounds twice.", "Has\ntwo lines."]}
WRAPPED = [{"text": text, "_savedAt": "2026-01-01T00:00:00Z"} for text in CART["observations"]]
SHOP = {"name": "Shop", "entityType": "product", "observations": []}
PART_OF = {"from": "Cart", "to": "Shop", "relationType": "part of"}


def read(tmp_path: Path, text: str, *, skip_bad: bool = False) -> SourcePlan:
    path = tmp_path / "memory.jsonl"
    path.write_text(text)
    return memory.read_memory(path, skip_bad=skip_bad)


def to_lines(*entries: Any) -> str:
    return "\n".join(json.dumps(entry) for entry in entries)


@pytest.mark.parametrize(
    "text",
    [
        to_lines({"type": "entity", **CART}, {"type": "entity", **SHOP}, {"type": "relation", **PART_OF}),
        to_lines({**CART, "createdBy": "a", "createdAt": 1700000000}, SHOP, PART_OF),
        to_lines({"_type": "relation", "_savedAt": "x", **PART_OF}, {"_type": "entity", **CART}, SHOP),
        to_lines(
            {"_type": "entity", "_savedAt": "2026-01-01T00:00:00Z", **CART, "observations": WRAPPED},
            {"_type": "entity", "_savedAt": "2026-01-01T00:00:00Z", **SHOP},
            {"_type": "relation", "_savedAt": "2026-01-01T00:00:00Z", **PART_OF},
        ),
        json.dumps({"entities": [CART, SHOP], "relations": [PART_OF]}, indent=2),
        json.dumps([CART, SHOP, PART_OF]),
    ],
    ids=["typed", "untyped", "underscore", "wrapped", "object", "list"],
)
def test_every_dialect_gives_the_same_molecules(tmp_path: Path, text: str) -> None:
    plan = read(tmp_path, text)

    assert plan.items == []
    assert {one.name: (one.knowledge, one.related) for one in plan.molecules} == {
        "Cart": (
            "Type: module\n\n- Never rounds twice.\n- Has\n  two lines.",
            [SourceRelation("Shop", "part of")],
        ),
        "Shop": ("Type: product\n", []),
    }


def test_what_an_observation_has_beside_its_text_is_named(tmp_path: Path) -> None:
    plan = read(tmp_path, to_lines({**CART, "observations": [{"text": "Blue.", "source": "ada", "_savedAt": "x"}]}))

    assert [(note.source_id, note.what, note.detail) for note in plan.lost] == [
        ("Cart", "observations", "have source beside their text")
    ]


def test_the_same_name_is_one_molecule_and_the_same_relation_is_there_once(tmp_path: Path) -> None:
    more = {"name": "Cart", "entityType": "page", "observations": ["Never rounds twice.", "Is blue."]}

    plan = read(tmp_path, to_lines(CART, SHOP, more, PART_OF, PART_OF, {**PART_OF, "relationType": "reads"}))

    cart = plan.molecules[0]
    assert cart.knowledge.split("\n") == [
        "Type: module, page",
        "",
        "- Never rounds twice.",
        "- Has",
        "  two lines.",
        "- Is blue.",
    ]
    assert cart.related == [SourceRelation("Shop", "part of, reads")]


def test_relations_to_nothing_and_to_oneself_are_left_out_and_named(tmp_path: Path) -> None:
    plan = read(tmp_path, to_lines(CART, PART_OF, {**PART_OF, "to": "Cart"}, {**PART_OF, "from": "Gone"}))

    assert plan.molecules[0].related == []
    assert [(note.source_id, note.what) for note in plan.lost] == [
        ("Cart", "relation"),
        ("Cart", "relation"),
        ("Gone", "relation"),
    ]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('{"id": "n1", "labels": ["a"], "properties": {}}', "neither"),
        ('{\n  "subject": "a",\n  "fact": "b"\n}\n{\n  "subject": "c"\n}', "neither"),
        ("{", "not JSON"),
        ("<<<<<<< HEAD", "merge"),
        ('"text"', "neither"),
        ('{"type": "entity", "observations": []}', "name"),
        ('{"name": "a", "entityType": "b", "observations": [1]}', "observations"),
        ('{"name": "a", "entityType": "b", "observations": [{"note": "x"}]}', "observations"),
        ('{"from": "a", "to": "b", "relationType": " "}', "relationType"),
        ('{"type": "relation", "from": "a"}', "two names"),
    ],
)
def test_other_lines_are_refused_with_file_and_line(tmp_path: Path, line: str, word: str) -> None:
    text = to_lines(SHOP) + "\n" + line
    with pytest.raises(BadLineFound, match=word) as refused:
        read(tmp_path, text)
    assert refused.value.details["line"] == 2
    assert refused.value.details["file"].endswith("memory.jsonl")

    plan = read(tmp_path, text, skip_bad=True)
    assert [one.name for one in plan.molecules] == ["Shop"]
    assert plan.skipped[0].line == 2


def test_what_is_too_long_continues_in_another_molecule_and_too_many_relations_are_named(tmp_path: Path) -> None:
    long = {"name": "Long", "observations": [f"{n} {'x' * 4000}" for n in range(10)]}
    others = [{"name": f"n{n}", "observations": []} for n in range(RELATED_MAX + 1)]
    relations = [{"from": "Long", "to": f"n{n}", "relationType": "has"} for n in range(RELATED_MAX + 1)]

    plan = read(tmp_path, to_lines(long, *others, *relations))

    first, second = plan.molecules[:2]
    assert (first.name, second.name) == ("Long", "Long (2)")
    assert all(len(one.knowledge.encode()) <= KNOWLEDGE_BYTES_MAX for one in (first, second))
    assert (len(first.related), second.related) == (RELATED_MAX, [SourceRelation("Long", "continues it")])
    assert [note.detail.partition(":")[0] for note in plan.lost] == [f"has n{RELATED_MAX}"]


def test_an_empty_file_has_nothing_and_is_no_error(tmp_path: Path) -> None:
    assert read(tmp_path, " \n").molecules == []


@settings(max_examples=scaled(100, 5000))
@given(
    st.lists(st.text(max_size=20) | st.sampled_from([to_lines(CART), to_lines(PART_OF), "{", "[", "]", "<<<<<<< x"]))
)
def test_any_text_ends_in_molecules_or_an_error_with_a_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    with suppress(UnreadableSource):
        plan = memory.read_memory(path, skip_bad=True)
        assert len({one.name for one in plan.molecules}) == len(plan.molecules)
