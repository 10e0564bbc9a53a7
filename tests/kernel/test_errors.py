"""Errors: the family decides how every surface answers."""

from __future__ import annotations

from groundplan.kernel.errors import (
    Conflict,
    Forbidden,
    GroundplanError,
    Invalid,
    NotFound,
    RuleViolated,
    Unauthenticated,
    Unavailable,
    Unexpected,
)
from groundplan.surfaces.http.answers import HttpProblem
from reference.errors import load_error_classes

FAMILIES: dict[type[GroundplanError], tuple[int, int]] = {
    Unauthenticated: (401, 4),
    Forbidden: (403, 4),
    NotFound: (404, 3),
    Invalid: (400, 2),
    Conflict: (409, 5),
    RuleViolated: (422, 6),
    Unavailable: (503, 7),
    Unexpected: (500, 1),
}


def test_the_families_have_the_statuses_and_exit_codes_that_are_promised() -> None:
    assert {family: (family.status, family.exit_code) for family in FAMILIES} == FAMILIES
    # A problem of HTTP belongs to no family: no operation has seen the request.
    assert set(GroundplanError.__subclasses__()) - {HttpProblem} == set(FAMILIES)


def test_no_error_leaves_its_family() -> None:
    for error in load_error_classes().values():
        (family,) = (one for one in FAMILIES if issubclass(error, one))
        assert (error.status, error.exit_code) == FAMILIES[family], error


def test_codes_are_words_for_programs() -> None:
    for error in load_error_classes().values():
        assert error.code.replace("_", "").isalnum(), error
        assert error.code.islower(), error


def test_the_body_has_details_only_when_there_are_any() -> None:
    assert Invalid("no").to_dict() == {"code": "invalid", "message": "no"}
    assert Invalid("no", code="too_long", limit=3).to_dict() == {
        "code": "too_long",
        "message": "no",
        "details": {"limit": 3},
    }


def test_not_found_suggests_what_was_probably_meant() -> None:
    assert NotFound("project", "atlsa", near=["atlas"]).message == "no project 'atlsa' here; did you mean 'atlas'?"
    assert NotFound("project", "x").to_dict()["details"] == {"thing": "project", "ref": "x"}


def test_what_nobody_expected_shows_a_reference_and_nothing_else() -> None:
    assert Unexpected("k3v9qa").to_dict()["details"] == {"reference": "k3v9qa"}
