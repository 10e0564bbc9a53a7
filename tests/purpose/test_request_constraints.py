"""What the database enforces of requests and of decisions that answer or supersede."""

from __future__ import annotations

import pytest

from tests.engines import Engine, fill_once
from tests.kernel.store.attacks import Value, sql_insert
from tests.kernel.store.schema_rules import Attempt, SchemaRules, insert_project
from tests.purpose.rows import STAMP, decision_row, request_row, sql_act_as_ada

TABLES = ("toc_requests", "toc_decisions")
WORDS = {
    "toc_requests_are_of_this_write": "rev_step",
    "toc_decisions_supersede_a_decision": "no_parent",
    "toc_decisions_answer_a_request": "no_parent",
}


def insert_request(**changes: Value) -> str:
    return sql_insert("toc_requests", {**request_row("atlas", 1, 5), **changes})


def insert_decision(**changes: Value) -> str:
    return sql_insert("toc_decisions", {**decision_row("atlas", 1, 5), **changes})


def supersede(rev: int | None, n: int | None, **changes: Value) -> str:
    return insert_decision(supersedes_rev=rev, supersedes_n=n, **changes)


def answer(rev: int | None, n: int | None, **changes: Value) -> str:
    return insert_decision(answers_rev=rev, answers_n=n, **changes)


ATTEMPTS = {
    "a request about a name": Attempt(insert_request(about="{}"), "toc_requests_about_is_a_list"),
    "a request that asks nothing": Attempt(insert_request(question=""), "toc_requests_fit"),
    "a request that asks too much": Attempt(insert_request(question="ü" * 2_049), "toc_requests_fit"),
    "a request to nobody": Attempt(insert_request(asked_of=""), "toc_requests_fit"),
    "a request to too long a name": Attempt(insert_request(asked_of="x" * 256), "toc_requests_fit"),
    "a request twice at one place": Attempt(insert_request(n=0), "toc_requests_pkey"),
    "a request of another write": Attempt(insert_request(rev=2), "toc_requests_are_of_this_write"),
    "superseding half an id": Attempt(supersede(None, 3), "toc_decisions_supersede_earlier_ones"),
    "superseding a decision that is not there": Attempt(supersede(1, 4), "toc_decisions_supersede_a_decision"),
    "superseding a request": Attempt(supersede(1, 2), "toc_decisions_supersede_a_decision"),
    "superseding a decision of another project": Attempt(
        sql_insert("toc_decisions", decision_row("borealis", 1, 5, supersedes_rev=1, supersedes_n=0)),
        "toc_decisions_supersede_a_decision",
    ),
    "superseding a decision twice": Attempt(supersede(1, 0), "toc_decisions_superseded_once"),
    "answering half an id": Attempt(answer(None, 2), "toc_decisions_answer_one_request"),
    "answering a request that is not there": Attempt(answer(1, 1), "toc_decisions_answer_a_request"),
    "answering a request twice": Attempt(answer(1, 0), "toc_requests_answered_once"),
}
RULES = SchemaRules(
    names="toc_(requests_|decisions_(supersede|answer))",
    tables=TABLES,
    attempts=ATTEMPTS,
    words=WORDS,
    exempt={"toc_requests_are_of_a_project"},  # tried below, on a project
    first=sql_act_as_ada,
)


def fill(engine: Engine) -> None:
    engine.as_owner(
        *(insert_project(name, STAMP) for name in ("atlas", "borealis")),
        *(sql_insert("toc_requests", request_row("atlas", 1, n)) for n in (0, 2)),
        sql_insert("toc_decisions", decision_row("atlas", 1, 0, answers_rev=1, answers_n=0)),
        sql_insert("toc_decisions", decision_row("atlas", 1, 1, supersedes_rev=1, supersedes_n=0)),
        sql_insert("toc_decisions", decision_row("atlas", 1, 3)),
    )


@pytest.fixture
def atlas(engine: Engine) -> Engine:
    """A project with an answered and an open request, and a superseded and two valid decisions."""
    fill_once(engine, fill)
    return engine


def test_every_rule_of_the_migration_is_tried() -> None:
    assert RULES.find_uncovered() == []


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(atlas: Engine) -> None:
    assert RULES.find_accepted(atlas) == {}


@pytest.mark.slow
def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(atlas: Engine) -> None:
    assert RULES.find_blocked_elsewhere(atlas) == {}


def test_what_is_allowed_is_not_refused(atlas: Engine) -> None:
    allowed = [insert_request(asked_of=None, about="[]"), supersede(1, 1), supersede(1, 3), answer(1, 2)]

    assert RULES.find_refused(atlas, allowed) == {}
