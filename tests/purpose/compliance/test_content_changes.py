"""A change of content must say plainly that it reaches drafts; one that reaches published versions is blocked.

The examples write § for the prefix of the tables: this file is checked as well.
"""

from __future__ import annotations

import pytest

from groundplan.purpose.compliance.code_check import Language
from tests.purpose.compliance.test_code_check import blocked, scan

REACHES_PUBLISHED = [
    "status = 'PUBLISHED' AND tenant_id = :t",
    "tenant_id = :t\n   and v.status='published'",
    "'PUBLISHED' = status",
    "\"status\"::text = 'PUBLISHED'",
    "lower(status) = 'published'",
    "status IN ('DRAFT', 'PUBLISHED')",
    "status = ANY (ARRAY['PUBLISHED'])",
    "(status = 'DRAFT' OR v.status = 'PUBLISHED')",
    "status <> 'DRAFT'",
    "status NOT IN ('DRAFT')",
    "NOT (status = 'DRAFT')",
    "id NOT IN (1, 2) AND status = 'PUBLISHED'",
    "NOT EXISTS (SELECT 1 FROM §versions d WHERE d.id = v.id AND d.status = 'DRAFT')",
    "published_at IS NOT NULL",
    "NOT status = 'DRAFT'",
    "NOT" + " " * 60 + "(status = 'DRAFT')",
    "(status = 'DRAFT') IS FALSE",
    "(status = 'DRAFT') = false",
    "status > 'DRAFT'",
    "status IS DISTINCT FROM 'DRAFT'",
    "(status = 'PUBLISHED' AND number > 1 OR status = 'DRAFT')",
    "id NOT IN /* a comment that becomes spaces, of course */ (SELECT id FROM §versions WHERE status = 'DRAFT')",
    "id <> ALL (SELECT id FROM §versions WHERE status = 'DRAFT')",
    "id IN (SELECT id FROM §versions EXCEPT SELECT id FROM §versions WHERE status = 'DRAFT')",
    "NOT (status <> 'PUBLISHED')",
]
SETS = "SET label = 'x', profile = 'light', content_hash = NULL, published_at = NOW(), version_number = 7"


@pytest.mark.parametrize("table", ["versions", "nodes", "edges", "assumptions", "edge_assumptions", "indicators"])
@pytest.mark.parametrize("condition", REACHES_PUBLISHED)
def test_a_condition_that_names_published_versions_or_negates_drafts_is_blocked(table: str, condition: str) -> None:
    assert blocked(f"UPDATE §{table} v {SETS}\nWHERE {condition};") == [(1, "published_edited")]
    assert blocked(f"update §{table} as v\n{SETS.lower()} where {condition.lower()}") == [(1, "published_edited")]


ONLY_DRAFTS = [
    "status = 'DRAFT'::public.toc_status AND tenant_id = :t",
    "'DRAFT' = v.status AND tenant_id = :t",
    "status = 'DRAFT'",
    "(v.\"status\"::text = 'DRAFT')",
    "status IN ('DRAFT')",
    "id IN (SELECT id FROM §versions WHERE status = 'DRAFT' AND label <> 'x')",
    "EXISTS (SELECT 1 FROM §nodes n WHERE n.id = §edges.source_node_id\n"
    " AND n.v IN (SELECT id FROM §versions WHERE status = 'DRAFT'))",
    "status = 'DRAFT' AND NOT EXISTS (SELECT 1 FROM §versions WHERE status = 'DRAFT' AND id <> :id)",
    "id IN (SELECT id FROM §versions WHERE status = 'DRAFT') AND label IN (SELECT p FROM x WHERE status = 'PUBLISHED')",
    "status = 'DRAFT' RETURNING id",
]


@pytest.mark.parametrize("condition", ONLY_DRAFTS)
def test_a_plain_condition_on_drafts_has_no_findings_and_may_publish_them(condition: str) -> None:
    for assigned in ("label = (SELECT label FROM x WHERE status = 'PUBLISHED')", "status = 'PUBLISHED'"):
        text = f"UPDATE §versions SET {assigned}, published_at = NULL WHERE tenant_id = :t AND {condition};"
        assert scan(text) == []
    assert scan(f"DELETE FROM §edges WHERE tenant_id = :t AND {condition};") == []


@pytest.mark.parametrize(
    ("language", "quote"),
    [("indented", '"""'), ("indented", '"'), ("braces", "`"), ("braces", '"""')],
)
def test_a_plain_condition_is_read_at_the_end_of_a_string(language: Language, quote: str) -> None:
    text = "UPDATE §nodes SET title = :title WHERE tenant_id = :t AND status = 'DRAFT'"

    assert scan(f"run({quote}{text}{quote})", language) == []


NOT_PLAIN = [
    "title = 'DRAFT'",
    "status = :draft",
    "status = 'DRAFT' OR true",
    "(status = 'DRAFT' OR number = 3)",
    "status = 'DRAFT' || true",
    "true || id = 1 AND status = 'DRAFT'",
    "CASE WHEN a AND status = 'DRAFT' AND b THEN true END",
    "number BETWEEN 1 AND status = 'DRAFT'",
    "status <> 'PUBLISHED'",
    "NOT (status = 'PUBLISHED')",
    "NOT EXISTS (SELECT 1 FROM §versions WHERE status = 'PUBLISHED')",
    "published_at IS NULL",
    "EXISTS (SELECT 1 FROM §versions WHERE status = 'DRAFT')",
    "id IN (SELECT id FROM drafts WHERE status = 'DRAFT')",
    "id IN (SELECT id FROM §versions UNION SELECT id FROM §versions WHERE status = 'DRAFT')",
    "(status = 'DRAFT' OR label IS NOT NULL)",
]


@pytest.mark.parametrize("condition", NOT_PLAIN)
def test_any_other_condition_on_the_state_is_looked_at_and_publishes_nothing(condition: str) -> None:
    found = scan(f"UPDATE §nodes SET title = 'x' WHERE tenant_id = :t AND {condition};")
    assert ("LOOK", "draft_not_checked") in {(one.verdict, one.rule) for one in found}
    assert not any(one.verdict == "BLOCKED" for one in found)
    assert blocked(f"UPDATE §versions SET status = 'PUBLISHED', published_at = :p WHERE {condition};") == [
        (1, "publish_unchecked")
    ]


SAYS_NOTHING = [
    *("id = :id", "id = :id OR key = 'x'"),
    "toc_version_id IN (SELECT id FROM §versions WHERE project_id = :p)",
]


@pytest.mark.parametrize("table", ["versions", "nodes", "edges", "assumptions", "edge_assumptions", "indicators"])
@pytest.mark.parametrize("condition", SAYS_NOTHING)
def test_a_change_that_says_nothing_of_the_state_of_the_version_is_blocked(table: str, condition: str) -> None:
    for change in (f"UPDATE §{table} SET label = 'x'", f"DELETE FROM §{table}"):
        assert blocked(f"{change} WHERE tenant_id = :t AND ({condition});") == [(1, "draft_not_checked")]


def test_a_condition_on_drafts_that_reaches_other_versions_is_not_plain() -> None:
    for condition in (
        "project_id IN (SELECT project_id FROM §versions WHERE status = 'DRAFT')",
        "EXISTS (SELECT 1 FROM §versions v WHERE v.project_id = §nodes.project_id AND v.status = 'DRAFT')",
        "toc_version_id IN (SELECT v.id FROM §versions v JOIN d ON d.id = v.id WHERE d.status = 'DRAFT')",
    ):
        found = scan(f"UPDATE §nodes SET title = 'x' WHERE tenant_id = :t AND {condition};")
        assert [(one.verdict, one.rule) for one in found] == [("LOOK", "draft_not_checked")]
    found = scan("UPDATE §nodes SET title = 'x' FROM §versions v WHERE §nodes.tenant_id = :t AND v.status = 'DRAFT';")
    assert [(one.verdict, one.rule) for one in found] == [("LOOK", "draft_not_checked")]


def test_a_condition_of_another_query_or_change_does_not_count() -> None:
    for text in (
        "WITH d AS (SELECT id FROM §versions WHERE status = 'DRAFT') UPDATE §nodes SET tenant_id = 1 WHERE id = 2;",
        "UPDATE §nodes SET tenant_id = (SELECT 1 FROM §versions WHERE status = 'DRAFT');",
        "INSERT INTO §nodes (tenant_id) SELECT 1 FROM x WHERE status = 'DRAFT' ON CONFLICT DO UPDATE SET a = 1;",
    ):
        assert ("LOOK", "draft_not_checked") in {(one.verdict, one.rule) for one in scan(text)}
        assert blocked(text) == []


@pytest.mark.parametrize("condition", ["id = :id", "status <> 'DRAFT'", "status = 'PUBLISHED'", "label = 'x'"])
def test_a_version_may_be_published_only_if_it_is_a_draft(condition: str) -> None:
    assert blocked(f"UPDATE §versions SET status = 'PUBLISHED', label = 'DRAFT' WHERE {condition};") == [
        (1, "publish_unchecked")
    ]


@pytest.mark.parametrize(
    "change", ["REPLACE INTO §versions (id) VALUES (1)", "INSERT OR REPLACE INTO §versions (id) VALUES (1)"]
)
def test_an_upsert_of_versions_that_does_not_say_which_is_looked_at(change: str) -> None:
    assert ("LOOK", "draft_not_checked") in {(one.verdict, one.rule) for one in scan(change)}
    assert not blocked(change)


@pytest.mark.parametrize("change", ["UPDATE §versions SET label = 'x'", "DELETE FROM §versions", "TRUNCATE §versions"])
def test_a_change_of_all_versions_is_blocked(change: str) -> None:
    assert blocked(f"{change};") == [(1, "draft_not_checked")]


@pytest.mark.parametrize(
    "text",
    [
        "WITH p AS (SELECT id FROM §versions WHERE status = 'PUBLISHED') UPDATE §versions SET label = 'x' FROM p;",
        "WITH d AS (SELECT id FROM §versions WHERE status = 'DRAFT') "
        "UPDATE §nodes SET title = 'x' WHERE v IN (SELECT id FROM §versions WHERE status = 'PUBLISHED');",
        "INSERT INTO §versions (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET label = 'x' WHERE status = 'PUBLISHED';",
        "MERGE INTO §versions v USING x ON v.id = x.id WHEN MATCHED AND v.status = 'PUBLISHED' THEN UPDATE SET a = 1;",
    ],
)
def test_a_published_version_is_not_reached_by_a_detour(text: str) -> None:
    assert blocked(text) == [(1, "published_edited")]
