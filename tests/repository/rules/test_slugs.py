"""File names come from atom names, are safe everywhere, and unique."""

from __future__ import annotations

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.repository.rules.rule import assign_slugs, slugify
from tests.repository.rules import rule_strategies


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Checkout Page", "checkout-page"),
        ("  API / v2 (Übersicht)  ", "api-v2-ubersicht"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "con-rule"),
        ("com1", "com1-rule"),
        ("結帳頁面", ""),
        ("...", ""),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_name_becomes_letters_digits_and_dashes(name: str, expected: str) -> None:
    assert slugify(name) == expected


def test_atoms_that_would_share_a_name_get_the_beginning_of_their_id() -> None:
    one, other, third = (str(uuid.UUID(int=number << 96)) for number in (1, 2, 3))

    assert assign_slugs([(one, "Cart"), (other, "cart!"), (third, "Pay")]) == {
        one: "cart-00000001",
        other: "cart-00000002",
        third: "pay",
    }
    assert assign_slugs([(one, "結帳")]) == {one: "atom-00000001"}
    assert assign_slugs([(one, "Cart")], used_slugs=["cart"]) == {one: "cart-00000001"}


def test_a_name_that_looks_like_anothers_with_its_id_does_not_take_its_place() -> None:
    one, other, third = (str(uuid.UUID(int=number << 96)) for number in (1, 2, 3))

    found = assign_slugs([(one, "Cart"), (other, "Cart"), (third, "Cart 00000001")])

    assert len(set(found.values())) == 3


@given(st.lists(st.tuples(st.uuids().map(str), rule_strategies.names), unique_by=lambda atom: atom[0], max_size=20))
def test_every_atom_has_a_file_of_its_own_that_every_system_can_keep(atoms: list[tuple[str, str]]) -> None:
    found = assign_slugs(atoms, used_slugs=["taken"])

    assert list(found) == [atom_id for atom_id, _ in atoms]
    assert len(set(found.values())) == len(atoms)
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) and len(name) < 120 for name in found.values())
