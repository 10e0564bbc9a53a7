"""What an INSERT stores, a COMMENT ON says or a RAISE reports is text; any other SQL literal may be code.

The examples write § for the prefix of the tables: this file is checked as well.
"""

from __future__ import annotations

import pytest

from groundplan.purpose.compliance.code_check import Language
from tests.purpose.compliance.test_code_check import blocked, scan

TEXTS = [
    "INSERT INTO audit(note) VALUES ('we never add parent_id to §nodes');",
    "COMMENT ON TABLE §nodes IS 'has no parent_id; edges are in §edges';",
    "COMMENT ON TABLE §nodes IS 'don''t add parent_id, path text, tree jsonb (ever)';",
    "COMMENT ON TABLE §nodes IS E'it\\'s a graph: no parent_id';",
    "COMMENT ON TABLE §nodes IS 'it\\'s a graph: no parent_id';",
    "INSERT INTO audit (table_name, column_name) VALUES ('§nodes', 'parent_id');",
    "INSERT INTO menus (parent_id, title) VALUES (1, 'all about §nodes');",
    'INSERT INTO §nodes (tenant_id, metadata) VALUES (1, \'{"note": "parent_id is gone", "path": "a/b"}\');',
    "INSERT INTO audit VALUES (1, 'a'), (2, 'ALTER TABLE §nodes ADD parent_id int') ON CONFLICT DO NOTHING;",
    "DO $$ BEGIN INSERT INTO \"values\" (note) VALUES ('no parent_id (in §nodes)'); END $$;",
    "DO $$ BEGIN RAISE EXCEPTION '% has parent_id', '§nodes' USING HINT = 'drop parent_id'; END $$;",
    "CREATE TRIGGER t BEFORE INSERT ON §nodes BEGIN SELECT RAISE(ABORT, 'no parent_id; use edges'); END;",
    "UPDATE §nodes SET title = 'WHERE status = ''PUBLISHED''' WHERE tenant_id = 1 AND status = 'DRAFT';",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_that_is_not_run_is_no_column_in_sql_and_in_a_string_of_code(text: str) -> None:
    assert blocked(text) == []
    assert blocked(f'op.execute("""{text}""")', "indented") == []


def test_text_in_a_literal_gives_no_warning_either() -> None:
    assert scan("INSERT INTO audit(note) VALUES ('we never add parent_id to §nodes');") == []


CODE = [
    ("EXECUTE 'ALTER TABLE §nodes ADD parent_id int';", "parent_id"),
    ("EXECUTE format('UPDATE §versions SET label = ''x'' WHERE status = ''PUBLISHED''');", "published_edited"),
    ("EXECUTE format('ALTER TABLE %I DISABLE TRIGGER ALL', '§nodes');", "published_edited"),
    ("EXECUTE format('ALTER TABLE %I ADD COLUMN parent_id int', '§nodes');", "parent_id"),
    ("EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', '§nodes');", "row_security_off"),
    ("EXECUTE format('ALTER TABLE §nodes ADD COLUMN %I int', 'parent_id');", "parent_id"),
    ("EXECUTE 'ALTER TABLE ' || '§nodes' || ' ADD COLUMN parent_id int';", "parent_id"),
    ("EXECUTE 'ALTER TABLE §nodes ' || 'DISABLE TRIGGER ALL';", "published_edited"),
    ("EXEC sp_rename '§nodes.owner', 'parent_id', 'COLUMN';", "parent_id"),
    ("UPDATE §nodes SET metadata['parent_id'] = '1' WHERE status = 'DRAFT';", "parent_id"),
    ("UPDATE §nodes SET metadata = hstore('parent_id', '1') WHERE status = 'DRAFT';", "parent_id"),
    ("INSERT INTO §nodes (metadata) VALUES (hstore('parent_id', '1'));", "parent_id"),
    ("INSERT INTO §nodes (a) VALUES ('x') ON CONFLICT (a) DO UPDATE SET m = 'parent_id';", "parent_id"),
    ("INSERT INTO §nodes (a) SELECT * FROM (VALUES ('parent_id')) v;", "parent_id"),
    ("COMMENT ON TABLE x IS 'y'; SELECT add_column('§nodes', 'parent_id');", "parent_id"),
    ("RAISE NOTICE '%', run('ALTER TABLE §nodes ADD parent_id int');", "parent_id"),
    ("SELECT metadata ->> 'parent_id' FROM §nodes WHERE tenant_id = 1;", "parent_id"),
    ("UPDATE §nodes SET metadata = jsonb_set(metadata, '{parent_id}', '1') WHERE status = 'DRAFT';", "parent_id"),
    ("UPDATE §nodes SET m = jsonb_build_object('a', 1, 'parent_id', 2) WHERE status = 'DRAFT';", "parent_id"),
    ('INSERT INTO §nodes (metadata) VALUES (\'{"parent_id": "G1"}\');', "json_tree"),
    ('INSERT INTO §nodes (metadata) VALUES (\'{"children": [{"title": "Ada\'\'s"}]}\');', "json_tree"),
    ('INSERT INTO §nodes (metadata) VALUES (\'{"path": "/G1/OC1"}\');', "json_tree"),
    ("INSERT INTO §nodes (metadata) VALUES ('{\"parent_id\": ' || 1 || '}');", "parent_id"),
    ("CREATE TABLE '§nodes' ('id' int, 'parent_id' int);", "parent_id"),
    ("SELECT 'a\\'b', 'it''s' FROM x; ALTER TABLE §nodes ADD parent_id int;", "parent_id"),
    ("SELECT E'\\''; ALTER TABLE §nodes ADD parent_id int;", "parent_id"),
    ("SELECT \"it's\"; ALTER TABLE §nodes ADD parent_id int; SELECT 'x';", "parent_id"),
    ("SELECT 'C:\\', 1; ALTER TABLE §nodes ADD parent_id int;", "parent_id"),
    ("SELECT 'never closed; ALTER TABLE §nodes ADD parent_id int;", "parent_id"),
]


@pytest.mark.parametrize(("text", "rule"), CODE)
def test_any_other_literal_is_code(text: str, rule: str) -> None:
    assert [found[1] for found in blocked(text)] == [rule]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sql", "SELECT 1;\n\nDO 'BEGIN\n  ALTER TABLE §nodes\n    ADD parent_id int; END';"),
        ("indented", 'a = 1\n\nop.execute("""\n  DO \'ALTER TABLE §nodes\n  ADD parent_id int\'""")'),
    ],
)
def test_a_finding_in_a_literal_has_the_line_of_the_file(language: Language, text: str) -> None:
    assert blocked(text, language) == [(5, "parent_id")]


@pytest.mark.parametrize("word", ["IMPACT", "very high"])
def test_words_of_the_model_are_still_read(word: str) -> None:
    found, _ = scan(f"ALTER TABLE §edges ADD CHECK (edge_type IN ('CAUSES', '{word}'));")

    assert word in found.text
