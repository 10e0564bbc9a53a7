"""The oracle of facts, tested by small cases worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machines.context_oracle import Author, Facts, Refusal

pytestmark = [pytest.mark.proof, pytest.mark.slow]

ADA = Author("ada", "person", 0)
SCOPE = 0


class OracleScope:
    """One scope of the oracle, with one draft. Constraints are named by their keys."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.run = self.facts.create(SCOPE, shared=True, copy_of=None, by=ADA)

    def constrain(self, key: str, **given: Any) -> None:
        tried = self.facts.copy()
        tried.edit(self.run, {"constraints": [{"key": key, **given}]}, by=ADA)
        self.facts = tried

    def add(self, key: str, **given: Any) -> None:
        self.constrain(key, label=key, **given)

    def codes_of(self, key: str, **given: Any) -> set[str]:
        """Return the codes with which a constraint is refused."""
        with pytest.raises(Refusal) as refused:
            self.constrain(key, **given)
        return refused.value.codes

    def value(self, key: str) -> tuple[str, Any]:
        (found,) = [one for one in self.facts.runs[self.run].constraints.values() if one.key == key]
        return found.kind, found.value


@pytest.fixture
def scope() -> OracleScope:
    return OracleScope()


def test_a_value_in_a_column_is_right_if_the_constraint_that_is_found_has_its_kind(scope: OracleScope) -> None:
    scope.add("max", kind="string", value="3")
    scope.add("Max", kind="boolean", value=True)

    scope.constrain("max", columns={"string": ""})
    scope.constrain("Max", columns={"string": None, "boolean": False})

    assert scope.codes_of("Max", columns={"string": ""}) == {"pciv_v1_runtime_invariant_failed"}
    assert scope.codes_of("max", columns={"boolean": True}) == {"pciv_v1_runtime_invariant_failed"}
    assert scope.codes_of("max", columns={"string": "", "boolean": True}) == {"pciv_v1_runtime_invariant_failed"}
    assert (scope.value("max"), scope.value("Max")) == (("string", ""), ("boolean", False))


def test_a_value_of_another_kind_needs_that_kind(scope: OracleScope) -> None:
    scope.add("max", kind="string", value="3")

    assert scope.codes_of("max", value=3) == {"invalid_argument"}
    assert scope.codes_of("max", kind="number") == {"pciv_v1_runtime_invariant_failed"}
    scope.constrain("max", kind="number", columns={"number": 3})

    assert scope.value("max") == ("number", 3)


def test_a_number_and_a_boolean_may_be_given_as_text(scope: OracleScope) -> None:
    scope.add("max", kind="number", value=3)
    scope.add("Max", kind="boolean", columns={"boolean": "false"})

    scope.constrain("max", value="-2.5")

    assert (scope.value("max"), scope.value("Max")) == (("number", -2.5), ("boolean", False))
    assert scope.codes_of("max", value="true") == {"invalid_argument"}
    assert scope.codes_of("max", value="many") == {"invalid_argument"}
    assert scope.codes_of("Max", columns={"boolean": "0"}) == {"invalid_argument"}


def test_a_new_constraint_has_the_kind_of_its_value(scope: OracleScope) -> None:
    scope.add("max", columns={"enum": "low"})
    scope.add("Max", value=0)

    assert (scope.value("max"), scope.value("Max")) == (("enum", "low"), ("number", 0))
    assert scope.codes_of("min", label="min", value=None) == {"missing_argument"}
    assert scope.codes_of("min", label="min", columns={"number": "many"}) == {"invalid_argument"}
