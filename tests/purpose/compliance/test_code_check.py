"""Code that the checklist forbids is blocked under its rule; code that only looks like it is not.

The examples write § for the prefix of the tables: this file is checked as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.purpose.compliance.checklist import CodeFinding
from groundplan.purpose.compliance.code_check import SUFFIXES, Language, check_code
from groundplan.surfaces.cli.purpose.compliance import read_source_files

ROOT = Path(__file__).parents[3]


def scan(text: str, language: Language = "sql") -> list[CodeFinding]:
    return check_code("file", text.replace("§", "toc_"), language)


def blocked(text: str, language: Language = "sql") -> list[tuple[int, str]]:
    return [(one.line, one.rule) for one in scan(text, language) if one.verdict == "BLOCKED"]


BLOCKED_SQL = [
    ("CREATE TABLE §nodes (\n id uuid,\n parent_id uuid\n);", (3, "parent_id")),
    ("CREATE TABLE IF NOT EXISTS public.§items (id int, parent int);", (1, "parent_id")),
    ("ALTER TABLE §nodes ADD COLUMN parent_node_id uuid;", (1, "parent_id")),
    ("SELECT id FROM §nodes WHERE tenant_id = 1 AND parent_id = 2;", (1, "parent_id")),
    ("CREATE INDEX i ON §nodes (parent_id);", (1, "parent_id")),
    ("ALTER TABLE §nodes ADD up uuid REFERENCES §nodes (id);", (1, "parent_id")),
    ("CREATE TABLE §nodes (id int, children JSONB);", (1, "json_tree")),
    ("CREATE TABLE §theories (id int, tree json);", (1, "json_tree")),
    ("ALTER TABLE §nodes ADD COLUMN path text;", (1, "materialised_path")),
    ("CREATE TABLE §nodes (id int, place ltree);", (1, "materialised_path")),
    ("CREATE UNIQUE INDEX u ON §edges (target_node_id);", (1, "single_parent")),
    ("CREATE TABLE §edges (source_node_id int, target_node_id int UNIQUE);", (1, "single_parent")),
    ("CREATE TABLE §edges (a int, UNIQUE (tenant_id, source_node_id, edge_type));", (1, "single_parent")),
    ("UPDATE §versions SET status = 'DRAFT' WHERE id = 1;", (1, "published_edited")),
    (
        "\nUPDATE §nodes SET title = 'x'\nWHERE v IN (SELECT id FROM §versions WHERE status = 'PUBLISHED');",
        (2, "published_edited"),
    ),
    ("DELETE FROM §versions WHERE status = 'PUBLISHED';", (1, "published_edited")),
    ("ALTER TABLE §nodes DISABLE TRIGGER ALL;", (1, "published_edited")),
    ("-- note\rALTER TABLE §nodes DISABLE TRIGGER ALL;", (2, "published_edited")),
    ("-- note\r\n\r\nALTER TABLE §nodes DISABLE TRIGGER ALL;", (3, "published_edited")),
    ("DROP TRIGGER §nodes_frozen ON §nodes;", (1, "published_edited")),
    ('drop trigger\nif exists "public"."frozen" on §nodes cascade', (1, "published_edited")),
    ("DROP TRIGGER §nodes_frozen;", (1, "published_edited")),
    ("DROP TRIGGER guard_§versions_frozen_update;", (1, "published_edited")),
    (
        "UPDATE OR IGNORE §nodes SET title = 'x' WHERE status = 'PUBLISHED' AND tenant_id = 1;",
        (1, "published_edited"),
    ),
    ("DROP TRIGGER a ON §nodes; -- CREATE TRIGGER a\nCREATE TRIGGER b ON §nodes;", (1, "published_edited")),
    ("DROP TRIGGER a ON §nodes; CREATE TRIGGER a AFTER UPDATE ON menus BEGIN END;", (1, "published_edited")),
    ("DROP TRIGGER a ON §nodes; CREATE TRIGGER a BEFORE UPDATE ON §edges;", (1, "published_edited")),
    ("DROP TRIGGER §a; CREATE TRIGGER §a BEFORE UPDATE ON menus;", (1, "published_edited")),
    ("DROP TRIGGER a ON §nodes; COMMENT ON TABLE §nodes IS 'create trigger a on §nodes';", (1, "published_edited")),
    ("UPDATE §versions SET status = 'PUBLISHED' WHERE id = 1;", (1, "publish_unchecked")),
    ("CREATE TABLE §nodes (node_type text CHECK (node_type IN ('GOAL', 'IMPACT')));", (1, "unknown_type")),
    ("CREATE TABLE §edges (edge_type text CHECK (edge_type IN ('BLOCKS')));", (1, "unknown_type")),
    ("CREATE TABLE §assumptions (risk_level text CHECK (risk_level IN ('TINY')));", (1, "unknown_type")),
    ("ALTER TABLE §edges DISABLE ROW LEVEL SECURITY;", (1, "row_security_off")),
    ("ALTER TABLE §edges NO FORCE ROW LEVEL SECURITY;", (1, "row_security_off")),
    ("CREATE POLICY p ON §nodes FOR SELECT USING (true);", (1, "open_policy")),
]


@pytest.mark.parametrize(("text", "finding"), BLOCKED_SQL)
def test_sql_that_breaks_a_rule_is_blocked_under_its_rule(text: str, finding: tuple[int, str]) -> None:
    assert finding in blocked(text)


SEED = """
CREATE TABLE §nodes (
  id UUID PRIMARY KEY,
  toc_version_id UUID NOT NULL REFERENCES §versions(id) ON DELETE CASCADE,
  node_type TEXT NOT NULL CHECK (node_type IN ('GOAL', 'OUTCOME', 'OUTPUT', 'ACTIVITY')),
  metadata JSONB DEFAULT '{}'::jsonb,
  tenant_id UUID NOT NULL REFERENCES organizations(id)
);
CREATE TABLE §edges (
  id UUID PRIMARY KEY,
  source_node_id UUID NOT NULL REFERENCES §nodes(id) ON DELETE CASCADE,
  target_node_id UUID NOT NULL REFERENCES §nodes(id) ON DELETE CASCADE,
  edge_type TEXT DEFAULT 'CONTRIBUTES_TO',
  tenant_id UUID NOT NULL REFERENCES organizations(id),
  UNIQUE(source_node_id, target_node_id, edge_type)
);
CREATE TABLE §assumptions (
  id UUID PRIMARY KEY,
  node_id UUID REFERENCES §nodes(id) ON DELETE CASCADE,
  risk_level TEXT CHECK (risk_level IN ('LOW', 'MEDIUM', 'HIGH'))
);
SELECT id, status FROM §versions WHERE id = :version_id;
UPDATE §versions SET status = 'PUBLISHED', published_at = NOW() WHERE id = :id AND status = 'DRAFT';
UPDATE §nodes SET title = :title WHERE id = :id AND v IN (SELECT id FROM §versions WHERE status = 'DRAFT');
DELETE FROM §edges WHERE id = :id AND EXISTS (SELECT 1 FROM §versions WHERE status = 'DRAFT');
"""
ALLOWED_SQL = [
    SEED,
    "-- no parent_id here\n/* toc_nodes.parent_id */ CREATE TABLE §nodes (id int, tenant_id int);",
    "CREATE TABLE menus (id int, parent_id int); SELECT * FROM §nodes;",
    "SELECT 'a;b' FROM §nodes; UPDATE menus SET parent_id = 1, path = 'x';",
    "ALTER TABLE §nodes DROP COLUMN IF EXISTS parent_id;",
    "INSERT INTO §edges (source_node_id, target_node_id) SELECT id, parent_id FROM old_nodes;",
    "UPDATE §nodes SET title = 'x' WHERE NOT EXISTS (SELECT 1 FROM §versions WHERE status = 'PUBLISHED');",
    "UPDATE §nodes SET title = 'x' WHERE status <> 'PUBLISHED';",
    "SELECT * FROM §versions WHERE status = 'PUBLISHED';",
    "CREATE TABLE §edges (id int, UNIQUE (id, source_node_id));",
    "CREATE UNIQUE INDEX one_draft ON §versions (project_id) WHERE status = 'DRAFT';",
    "CREATE POLICY p ON §nodes USING (tenant_id = current_tenant());",
    "CREATE TABLE automatoc_nodes (parent_id int);",
]


@pytest.mark.parametrize("text", ALLOWED_SQL)
def test_sql_that_only_looks_like_it_is_not_blocked(text: str) -> None:
    assert blocked(text) == []


BLOCKED_CODE: list[tuple[Language, str, tuple[int, str]]] = [
    (
        "indented",
        "class Node(Base):\n    __tablename__ = '§nodes'\n\n    parent_id = Column(ForeignKey('x.id'))\n",
        (4, "parent_id"),
    ),
    (
        "indented",
        "class Node(Base):\n    __tablename__ = '§nodes'\n    up = Column(ForeignKey('§nodes.id'))\n",
        (3, "parent_id"),
    ),
    (
        "indented",
        "class Node(Model):\n    parent = ForeignKey('self')\n    class Meta:\n        db_table = '§nodes'\n",
        (2, "parent_id"),
    ),
    ("indented", "op.add_column(\n    '§nodes',\n    sa.Column('parent_id', sa.Uuid()),\n)\n", (3, "parent_id")),
    (
        "indented",
        "with op.batch_alter_table('§nodes') as batch:\n    batch.add_column(sa.Column('parent_id', sa.Uuid()))\n",
        (2, "parent_id"),
    ),
    ("indented", "create_table :§nodes do |t|\n  t.references :parent\nend\n", (2, "parent_id")),
    ("indented", "create_table :§nodes do |t|\n  t.jsonb :children\nend\n", (2, "json_tree")),
    ("indented", "class TocNode(MPTTModel):\n    pass\n", (1, "single_parent")),
    ("indented", "class TocNode(Model):\n    path = CharField(max_length=255)\n", (2, "materialised_path")),
    (
        "indented",
        "def up():\n    run(\n        'ALTER TABLE §nodes '\n        'ADD parent_id int'\n    )\n",
        (4, "parent_id"),
    ),
    (
        "indented",
        "op.execute(\n    \"UPDATE §versions \"\n    \"SET label = 'x' WHERE status = 'PUBLISHED'\"\n)\n",
        (2, "published_edited"),
    ),
    ("braces", r"db.run('UPDATE §versions SET a = \'x\' WHERE status = \'PUBLISHED\'')", (1, "published_edited")),
    ("indented", "op.execute('DROP TRIGGER frozen ON §nodes')\n", (1, "published_edited")),
    ("indented", "TocVersion.filter(id=1).update(status='PUBLISHED')\n", (1, "publish_unchecked")),
    ("indented", "TocNode.filter(version__status='PUBLISHED').delete()\n", (1, "published_edited")),
    ("braces", "model Node {\n  id Int\n  parentId Int?\n  @@map('§nodes')\n}\n", (3, "parent_id")),
    ("braces", "model TocNode {\n  children Json\n}\n", (2, "json_tree")),
    ("braces", "model TocNode {\n  path String\n}\n", (2, "materialised_path")),
    ("braces", "@Entity('§nodes')\nexport class Node {\n  @Column() parentId: string;\n}\n", (3, "parent_id")),
    ("braces", "knex.schema.createTable('§nodes', (t) => {\n  t.uuid('parent_id');\n});\n", (2, "parent_id")),
    ("braces", "const a = 1\nawait db\n  .from('§nodes')\n  .insert({ parent_id: a })\n", (4, "parent_id")),
    ("braces", "await sql`\n  UPDATE §versions\n  SET status = 'DRAFT'`;\n", (2, "published_edited")),
    ("braces", "db.from('§versions').update({ status: 'DRAFT' }).eq('id', id);\n", (1, "published_edited")),
    ("braces", "db.from('§nodes').delete().eq('status', 'PUBLISHED');\n", (1, "published_edited")),
]


@pytest.mark.parametrize(("language", "text", "finding"), BLOCKED_CODE)
def test_code_that_breaks_a_rule_is_blocked_under_its_rule(
    language: Language, text: str, finding: tuple[int, str]
) -> None:
    assert finding in blocked(text, language)


ALLOWED_CODE: list[tuple[Language, str]] = [
    ("indented", "class Menu(Base):\n    parent_id = Column()\n\n\nclass Node(Base):\n    __tablename__ = '§nodes'\n"),
    (
        "indented",
        "class Node(Base):\n    __tablename__ = '§nodes'\n\n    def menu(self):\n        return x.parent_id\n",
    ),
    ("indented", "raise ValueError('use §edges, not parent_id')\n"),
    ("indented", '"""Why §nodes have no parent_id."""\nx = "§nodes"  # not parent_id\n'),
    ("indented", "rows = load('§nodes')\nother = menu.parent_id\n"),
    ("indented", "TocNode.exclude(status='PUBLISHED').update(title='x')\n"),
    ("indented", "PATH = Path('§nodes.csv')\n"),
    ("braces", "interface Menu { parentId: string }\nconst rows = db.from('§nodes').select();\n"),
    ("braces", "function a() {\n  const n = db.from('§nodes');\n  return menu.parentId;\n}\n"),
    ("braces", "describe('x', () => {\n  load('§nodes');\n  expect(menu.parentId).toBe(1);\n});\n"),
    ("braces", "interface TocNodeProps { children: ReactNode; path: string }\n"),
    ("braces", "throw new Error('Use §edges table, not parent_id');\n"),
    (
        "braces",
        "await db.from('§versions')\n  .update({ status: 'PUBLISHED', published_at: new Date() })\n"
        "  .eq('id', id)\n  .eq('status', 'DRAFT');\n",
    ),
    ("braces", "await db.from('§nodes').update({ title }).neq('status', 'PUBLISHED');\n"),
]


@pytest.mark.parametrize(("language", "text"), ALLOWED_CODE)
def test_code_that_only_looks_like_it_is_not_blocked(language: Language, text: str) -> None:
    assert blocked(text, language) == []


def test_a_parent_id_of_another_table_is_no_finding() -> None:
    assert scan("CREATE TABLE menus (\n  parent_id int);\nCREATE INDEX i ON menus (parent_id);") == []
    assert scan("CREATE TABLE menus (id int, §node_id int REFERENCES §nodes (id), parent_id int);") == []
    assert scan("SELECT m.parent_id FROM menus m JOIN §nodes n ON n.id = m.node_id WHERE n.tenant_id = 1;") == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sql", "DROP TRIGGER IF EXISTS §frozen;\nCREATE TRIGGER §frozen BEFORE UPDATE OF a ON public.§nodes BEGIN;"),
        ("sql", "DROP TRIGGER IF EXISTS Frozen ON §nodes;\nCREATE OR REPLACE TRIGGER frozen BEFORE UPDATE ON §nodes;"),
        (
            "indented",
            "def upgrade():\n    op.execute('CREATE TRIGGER frozen BEFORE UPDATE ON §nodes')\n\n\n"
            "def downgrade():\n    op.execute('DROP TRIGGER frozen ON §nodes')\n",
        ),
    ],
)
def test_a_trigger_that_the_same_file_creates_may_be_dropped_but_is_looked_at(language: Language, text: str) -> None:
    found = {(one.verdict, one.rule) for one in scan(text, language)}

    assert found == {("LOOK", "published_edited"), ("LOOK", "not_understood")}


def test_a_trigger_of_another_table_may_be_dropped() -> None:
    assert scan("DROP TRIGGER §sync ON menus;") == []
    assert scan("DROP TRIGGER frozen ON menus;\nSELECT id FROM §nodes WHERE tenant_id = 1;") == []


def test_what_cannot_be_told_from_a_statement_alone_is_looked_at() -> None:
    text = "CREATE TABLE §edges (id int);\nDELETE FROM §nodes;\nCREATE TABLE §extras (id int, notes jsonb);"

    assert {(one.line, one.rule) for one in scan(text) if one.verdict == "LOOK"} == {
        (1, "edge_not_unique"),
        (1, "no_tenant"),
        (2, "no_tenant"),
        (3, "json_tree"),
        (3, "no_tenant"),
    }


def test_a_finding_says_what_to_do_instead() -> None:
    (found,) = scan("CREATE TABLE §nodes (tenant_id int, parent_id int);")

    assert found.path == "file"
    assert found.text.startswith("Build Rule 2: ")
    assert "toc_edges" in found.text


def test_the_language_of_a_file_with_another_name_is_told_by_its_statements() -> None:
    text = "CREATE TABLE §nodes (parent_id int)".replace("§", "toc_")

    assert [one.rule for one in check_code("V1__nodes", text) if one.verdict == "BLOCKED"] == ["parent_id"]


@pytest.mark.slow
def test_nothing_in_this_repository_is_blocked_but_changes_that_its_triggers_refuse() -> None:
    folders = [str(ROOT / name) for name in ("src", "tests", "bench", "reference", "docs")]
    found = [
        (one.path, one.line, one.rule)
        for file in read_source_files(folders, SUFFIXES)
        for one in check_code(file.name, file.text)
        if one.verdict == "BLOCKED" and one.rule != "draft_not_checked"
    ]

    assert found == []
