"""One schema in two dialects: the same tables, columns, keys, constraints, indexes and views, with the same names.

Each engine's catalog is read into the same facts; a fact that only one of them has is a difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import Engine, PostgresEngine, Run, SqliteEngine

TYPES = {
    "INTEGER": "integer",
    "bigint": "integer",
    "boolean": "integer",
    "REAL": "double",
    "double precision": "double",
    "TEXT": "text",
    "text": "text",
    "instant": "text",
}
KINDS = {"PRIMARY KEY": "primary key", "UNIQUE": "unique", "FOREIGN KEY": "foreign key", "CHECK": "check"}
CONSTRAINT = re.compile(r"CONSTRAINT\s+(\w+)\s+(PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK)", re.IGNORECASE)
ACTIONS = {"a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
IS_INSTANT = re.compile(r"(^|_)(at|until)$")
GENERATED = re.compile(r"(\w+)\s+\w+ NOT NULL GENERATED ALWAYS AS \((.*?)\) VIRTUAL", re.DOTALL)

# Intended differences, with their reasons.
ONLY_ONE_SAYS = {
    # SQLite's text index has one key for the whole file, and this number is part of it. PostgreSQL has no such
    # index, and a constraint across organizations would reveal one to another.
    "work_projects: index work_projects_number_is_unique (number) unique=True where=None",
    "work_projects: index work_projects_number_is_unique (tenant_id, number) unique=True where=None",
    "graph_projects: index graph_projects_number_is_unique (number) unique=True where=None",
    "graph_projects: index graph_projects_number_is_unique (tenant_id, number) unique=True where=None",
    # Each engine has its own random numbers. On PostgreSQL nobody may change the key.
    "organizations: column 6 cursor_key text not null default lower(hex(randomblob(32)))",
    "organizations: column 6 cursor_key text not null default "
    "replace(((gen_random_uuid())::text || (gen_random_uuid())::text), '-'::text, ''::text)",
    "organizations: trigger organizations_cursor_key_stays",
    # On PostgreSQL nobody may delete these rows.
    "access_tokens: trigger access_tokens_are_never_deleted",
    "principals: trigger principals_are_never_deleted",
    "invitations: trigger invitations_are_never_deleted",
    "organizations: trigger organizations_are_never_deleted",
    "projects: trigger projects_are_never_deleted",
    "toc_keys: trigger toc_keys_are_never_deleted",
    # SQLite has a counter of commits, so nothing has to be sent.
    "organizations: trigger organizations_notify_commit",
    "projects: trigger projects_notify_commit",
    # PostgreSQL has its own log.
    "file_mark: column 1 id integer not null default None",
    "file_mark: column 2 mark text not null default None",
    "file_mark: primary key (id)",
    "file_mark: primary key file_mark_pkey",
    "file_mark: check file_mark_is_one_row",
    "file_mark: check file_mark_has_its_format",
    "file_mark: trigger file_mark_names_the_one_before",
    "file_mark: trigger file_mark_is_never_deleted",
    # They maintain the text index; under row level security PostgreSQL would not use one.
    "work_nodes: trigger work_text_relearns",
    "work_nodes: trigger work_text_forgets",
    *(
        f"graph_{entities}: trigger graph_text_{verb}_{entities}"
        for entities in ("atoms", "molecules")
        for verb in ("learns", "relearns", "forgets")
    ),
    *(
        f"graph_{entities}: trigger graph_trigrams_{verb}_{entities}"
        for entities in ("atoms", "molecules")
        for verb in ("learn", "relearn", "forget")
    ),
}

# A change to one engine, and the difference it makes.
DIFFERENT = [
    ("CREATE TABLE stray (id bigint)", "stray: column 1 id integer default None"),
    ("ALTER TABLE answers ADD COLUMN stray bigint", "answers: column 8 stray integer default None"),
    ("ALTER TABLE answers DROP COLUMN body_digest", "answers: column 4 body_digest text not null default None"),
    (
        "ALTER TABLE answers ALTER answer TYPE jsonb USING '{}'",
        "answers: column 5 answer jsonb not null default None",
    ),
    ("ALTER TABLE answers ALTER answer DROP NOT NULL", "answers: column 5 answer text default None"),
    ("ALTER TABLE projects ALTER rev SET DEFAULT 2", "projects: column 5 rev integer not null default 2"),
    ("ALTER TABLE projects DROP CONSTRAINT projects_goal_fits", "projects: check projects_goal_fits"),
    ("ALTER TABLE projects RENAME CONSTRAINT projects_pkey TO stray", "projects: primary key stray"),
    ("ALTER TABLE events DROP CONSTRAINT events_are_of_a_project", "events: foreign key events_are_of_a_project"),
    ("DROP INDEX answers_in_order", "answers: index answers_in_order (tenant_id, n) unique=False where=None"),
    ("DROP TRIGGER events_are_of_this_write ON events", "events: trigger events_are_of_this_write"),
    (
        "ALTER TABLE work_nodes DROP COLUMN is_blocked",
        "work_nodes: column 34 is_blocked integer not null generated "
        "NOT resolved AND open_deps > 0 OR blocked_above > 0 OR held_reason IS NOT NULL",
    ),
    (
        "CREATE INDEX stray ON work_nodes (tenant_id, priority DESC)",
        "work_nodes: index stray (tenant_id, priority desc) unique=False where=None",
    ),
    ("CREATE VIEW stray AS SELECT 1 AS one", "stray: view with one in place 1"),
    ("CREATE UNIQUE INDEX stray ON events (at) WHERE n > 0", "events: index stray (at) unique=True where=n > 0"),
]

COLUMNS = """
SELECT c.relname, row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum), a.attname,
       format_type(a.atttypid, a.atttypmod), a.attnotnull,
       CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END,
       CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END
  FROM pg_class AS c
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE c.relnamespace = 'groundplan'::regnamespace
   AND c.relkind = 'r'
 ORDER BY 1, 2
"""
CONSTRAINTS = """
SELECT c.relname, n.conname, n.contype::text,
       ARRAY(SELECT attname::text FROM unnest(n.conkey) WITH ORDINALITY AS k (number, place)
               JOIN pg_attribute ON attrelid = n.conrelid AND attnum = k.number ORDER BY place),
       n.confrelid::regclass::text,
       ARRAY(SELECT attname::text FROM unnest(n.confkey) WITH ORDINALITY AS k (number, place)
               JOIN pg_attribute ON attrelid = n.confrelid AND attnum = k.number ORDER BY place),
       n.confupdtype::text, n.confdeltype::text
  FROM pg_constraint AS n
  JOIN pg_class AS c ON c.oid = n.conrelid
 WHERE c.relnamespace = 'groundplan'::regnamespace
   AND n.contype IN ('p', 'u', 'f', 'c')
"""
INDEXES = """
SELECT c.relname, i.relname, x.indisunique, pg_get_expr(x.indpred, x.indrelid),
       ARRAY(SELECT coalesce(attname::text, 'an expression')
                    || CASE WHEN x.indoption[place - 1] & 1 = 1 THEN ' desc' ELSE '' END
               FROM unnest(x.indkey) WITH ORDINALITY AS k (number, place)
               LEFT JOIN pg_attribute ON attrelid = c.oid AND attnum = k.number ORDER BY place)
  FROM pg_index AS x
  JOIN pg_class AS i ON i.oid = x.indexrelid
  JOIN pg_class AS c ON c.oid = x.indrelid
 WHERE c.relnamespace = 'groundplan'::regnamespace
   AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = i.oid)
"""
VIEWS = """
SELECT c.relname, a.attnum, a.attname
  FROM pg_class AS c
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
 WHERE c.relnamespace = 'groundplan'::regnamespace
   AND c.relkind = 'v'
"""
TRIGGERS = """
SELECT c.relname, t.tgname
  FROM pg_trigger AS t
  JOIN pg_class AS c ON c.oid = t.tgrelid
 WHERE c.relnamespace = 'groundplan'::regnamespace
   AND NOT t.tgisinternal
   AND t.tgname NOT LIKE 'guard%'
"""


def join_columns(columns: object) -> str:
    assert isinstance(columns, list)
    return "(" + ", ".join(map(str, columns)) + ")"


def column_fact(
    table: str, place: int, name: str, kind: str, required: bool, default: str | None, generated: str | None
) -> str:
    rule = " not null" if required else ""
    value = (
        f"generated {normalize_expression(generated)}"
        if generated
        else f"default {default and default.removesuffix('::text')}"
    )
    return f"{table}: column {place} {name} {TYPES.get(kind, kind)}{rule} {value}"


def normalize_expression(expression: str | None) -> str | None:
    """Return an expression without engine-specific brackets, line breaks and casts."""
    return expression and " ".join(re.sub(r"[()]|::text", " ", expression).split())


def postgres_facts(run: Run) -> Iterator[str]:
    for table, *rest in run(COLUMNS):
        yield column_fact(table, *rest)
    for table, name, kind, columns, target, target_columns, updated, deleted in run(CONSTRAINTS):
        spelled = {"p": "primary key", "u": "unique", "f": "foreign key", "c": "check"}[kind]
        yield f"{table}: {spelled} {name}"
        if kind == "f":
            actions = f"on update {ACTIONS[updated]} on delete {ACTIONS[deleted]}"
            yield f"{table}: {join_columns(columns)} references {target} {join_columns(target_columns)} {actions}"
        elif kind != "c":
            yield f"{table}: {spelled} {join_columns(columns)}"
    for table, name, unique, where, columns in run(INDEXES):
        yield f"{table}: index {name} {join_columns(columns)} unique={unique} where={normalize_expression(where)}"
    for table, name in run(TRIGGERS):
        yield f"{table}: trigger {name}"
    for view, place, name in run(VIEWS):
        yield f"{view}: view with {name} in place {place}"


def sqlite_facts(engine: Engine) -> Iterator[str]:
    tables = engine.as_owner(
        "SELECT t.name, s.sql FROM pragma_table_list AS t JOIN sqlite_schema AS s ON s.name = t.name "
        "WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%'"
    )
    for table, text in tables:
        about = engine.as_owner(
            f"SELECT cid + 1, name, type, \"notnull\", dflt_value, pk FROM pragma_table_xinfo('{table}')"
        )
        generated = dict(GENERATED.findall(text))
        for place, name, kind, required, default, _ in about:
            yield column_fact(table, place, name, kind, bool(required), default, generated.get(name))
        key = sorted((place_in_key, name) for _, name, *_, place_in_key in about if place_in_key)
        yield f"{table}: primary key {join_columns([name for _, name in key])}"
        for name, kind in CONSTRAINT.findall(text):
            yield f"{table}: {KINDS[kind.upper()]} {name}"
        yield from sqlite_references(engine, table)
        yield from sqlite_indexes(engine, table)
    hand_written = "SELECT tbl_name, name FROM sqlite_schema WHERE type = 'trigger' AND name NOT LIKE 'guard%'"
    for table, name in engine.as_owner(hand_written):
        yield f"{table}: trigger {name}"
    for (view,) in engine.as_owner("SELECT name FROM sqlite_schema WHERE type = 'view'"):
        for place, name in engine.as_owner(f"SELECT cid + 1, name FROM pragma_table_info('{view}')"):
            yield f"{view}: view with {name} in place {place}"


def sqlite_references(engine: Engine, table: str) -> Iterator[str]:
    keys: dict[int, list[tuple[str, str, str, str, str]]] = {}
    for number, *rest in engine.as_owner(
        'SELECT id, "table", "from", "to", on_update, on_delete '
        f"FROM pragma_foreign_key_list('{table}') ORDER BY id, seq"
    ):
        keys.setdefault(number, []).append((rest[0], rest[1], rest[2], rest[3], rest[4]))
    for key in keys.values():
        target, _, _, updated, deleted = key[0]
        ours, theirs = join_columns([one[1] for one in key]), join_columns([one[2] for one in key])
        yield f"{table}: {ours} references {target} {theirs} on update {updated} on delete {deleted}"


def sqlite_indexes(engine: Engine, table: str) -> Iterator[str]:
    for name, unique, origin, text in engine.as_owner(
        'SELECT l.name, l."unique", l.origin, s.sql '
        f"FROM pragma_index_list('{table}') AS l LEFT JOIN sqlite_schema AS s ON s.name = l.name"
    ):
        found = engine.as_owner(
            "SELECT coalesce(name, 'an expression') || CASE WHEN \"desc\" THEN ' desc' ELSE '' END "
            f"FROM pragma_index_xinfo('{name}') WHERE key ORDER BY seqno"
        )
        columns = join_columns([one for (one,) in found])
        if origin == "c":
            where = normalize_expression(text.partition("WHERE")[2] or None)
            yield f"{table}: index {name} {columns} unique={bool(unique)} where={where}"
        elif origin == "u":
            yield f"{table}: unique {columns}"


pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[SqliteEngine]:
    made = SqliteEngine(tmp_path / "plan.db")
    yield made
    made.close()


def test_both_dialects_say_the_same(engine: PostgresEngine, lite: SqliteEngine) -> None:
    assert set(sqlite_facts(lite)) ^ set(postgres_facts(engine.as_owner)) == ONLY_ONE_SAYS


def test_the_facts_are_about_every_sort_of_thing(engine: PostgresEngine) -> None:
    facts = list(postgres_facts(engine.as_owner))

    for expected in (
        "projects: column 5 rev integer not null default 1",
        "projects: column 4 goal text default None",
        "project_members: primary key (tenant_id, project_id, user_id)",
        "project_members: foreign key project_members_are_principals",
        "projects: unique (tenant_id, name)",
        "projects: check projects_goal_fits",
        "answers: index answers_in_order (tenant_id, n) unique=False where=None",
        "work_nodes: index work_nodes_by_change (tenant_id, project_id, changed_rev, n) unique=False "
        "where=claimed_by IS NULL",
        "work_nodes: column 34 is_blocked integer not null generated "
        "NOT resolved AND open_deps > 0 OR blocked_above > 0 OR held_reason IS NOT NULL",
        "work_nodes: trigger work_nodes_rev_moves_by_one",
        "pciv_scope_members: view with role in place 4",
        "events: (tenant_id, project_id) references projects (tenant_id, id) on update NO ACTION on delete NO ACTION",
    ):
        assert expected in facts


def test_a_table_that_differs_is_told(engine: PostgresEngine, lite: SqliteEngine) -> None:
    said = set(sqlite_facts(lite))
    untold = []
    for change, told in DIFFERENT:
        with engine.owner_transaction() as run:
            run(change)
            if told not in said ^ set(postgres_facts(run)):
                untold.append(change)

    assert untold == []


def test_times_and_nothing_else_have_the_type_for_times(engine: PostgresEngine) -> None:
    columns = [(f"{table}.{name}", kind) for table, _, name, kind, *_ in engine.as_owner(COLUMNS)]

    assert [name for name, kind in columns if (kind == "instant") != bool(IS_INSTANT.search(name.split(".")[1]))] == []
    assert {kind for _, kind in columns} <= {"text", "bigint", "boolean", "instant", "double precision"}


def test_sqlite_holds_every_table_to_its_types(engine: PostgresEngine, lite: SqliteEngine) -> None:
    loose = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict"

    assert lite.as_owner(f"{loose} AND name NOT LIKE 'sqlite%'") == []
