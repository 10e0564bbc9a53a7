"""What people and agents write, in four languages: the verdict on it, and the rule that decides.

The examples write § for the prefix of the tables and ¶ for that of the models: this file is checked as well.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groundplan.purpose.compliance.code_check import check_code, decide

PYTHON = [
    (
        'nodes = Table("§nodes", meta, Column("id", Uuid), Column("up_id", ForeignKey("§nodes.id")))',
        ("BLOCKED", "parent_id"),
    ),
    (
        "class ¶Node(Base):\n    above: Mapped['¶Node'] = relationship(remote_side=[id])",
        ("BLOCKED", "parent_id"),
    ),
    ('op.add_column("§nodes", sa.Column("tree", JSONB))', ("BLOCKED", "json_tree")),
    ('op.add_column("§nodes", sa.Column("above", sa.Uuid()))', ("LOOK", "not_understood")),
    (
        "class ¶Node(Base):\n    __tablename__ = '§nodes'\n    id = Column(Uuid, primary_key=True)\n"
        "    title = Column(Text, nullable=False)\n    tenant_id = Column(Uuid, nullable=False)",
        ("APPROVED", None),
    ),
    (
        "class ¶Node(Base):\n    __tablename__ = '§nodes'\n    superior = Column(Uuid)\n    tenant_id = Column(Uuid)",
        ("LOOK", "not_understood"),
    ),
    ("rows = session.query(¶Node).filter(¶Node.tenant_id == tenant).all()", ("APPROVED", None)),
    ("rows = session.query(¶Node).all()", ("LOOK", "no_tenant")),
    ("session.execute(update(¶Node).where(¶Node.id == i).values(title=t))", ("LOOK", "draft_not_checked")),
    ("¶Node.objects.filter(tenant_id=t, id=i).delete()", ("LOOK", "draft_not_checked")),
    ('cur.execute("UPDATE §nodes SET title = %s WHERE id = %s", (t, i))', ("BLOCKED", "draft_not_checked")),
    ("cur.execute(\"UPDATE §versions SET status = 'DRAFT' WHERE id = %s\", (i,))", ("BLOCKED", "published_edited")),
    ('cur.execute("SELECT id, title FROM §nodes WHERE tenant_id = %s", (t,))', ("APPROVED", None)),
    ('cur.execute(f"SELECT {columns} FROM §nodes WHERE tenant_id = %s", (t,))', ("LOOK", "not_understood")),
    ('cur.execute("SELECT * FROM " + "§nodes" + where)', ("LOOK", "no_tenant")),
    ('sql = "SELECT id, title"\nsql += " FROM §nodes"', ("LOOK", "not_understood")),
    ('cur.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier("§nodes")))', ("LOOK", "not_understood")),
    ('cur.execute("INSERT INTO §nodes (title, tenant_id) VALUES (%s, %s)", row)', ("APPROVED", None)),
    (
        'cur.execute("""UPDATE §nodes SET title = %(title)s\n  WHERE id = %(id)s AND tenant_id = %(tenant)s\n'
        '  AND toc_version_id IN (SELECT id FROM §versions WHERE status = \'DRAFT\')""", row)',
        ("APPROVED", None),
    ),
    ("from app.models import ¶Edge, ¶Node", ("APPROVED", None)),
    ('client.call_tool("§open", {"project": "atlas"})', ("APPROVED", None)),
    ("def count(nodes: list[¶Node]) -> int:\n    return len(nodes)", ("APPROVED", None)),
    ('logger.info("no §nodes were found, only %d §edges", n)', ("APPROVED", None)),
    ('"""Rows are read from §nodes."""', ("APPROVED", None)),
]
TYPESCRIPT = [
    ("await supabase.from('§nodes').update({ title }).eq('id', id);", ("LOOK", "draft_not_checked")),
    ("await supabase.from('§nodes').update({ structure: tree });", ("LOOK", "draft_not_checked")),
    ("await supabase.from('§nodes').upsert(rows);", ("LOOK", "draft_not_checked")),
    ("const { data } = await supabase.from('§nodes').select('id, title').eq('tenant_id', t);", ("APPROVED", None)),
    ("const { data } = await supabase.from('§nodes').select('tenant_id').eq('id', id);", ("LOOK", "no_tenant")),
    ("await supabase.from('§nodes').insert({ title, toc_version_id: v, tenant_id: t });", ("APPROVED", None)),
    ("await supabase.from('§nodes').insert({ title, parent_id: p, tenant_id: t });", ("BLOCKED", "parent_id")),
    (
        "await supabase\n  .from('§versions')\n  .update({ status: 'PUBLISHED', published_at: now })\n"
        "  .eq('id', id)\n  .eq('tenant_id', t)\n  .eq('status', 'DRAFT');",
        ("APPROVED", None),
    ),
    (
        "await supabase.from('§versions').update({ status: 'PUBLISHED' }).eq('id', id);",
        ("BLOCKED", "publish_unchecked"),
    ),
    ("const rows = await knex('§nodes').where({ tenant_id: t }).select('id');", ("APPROVED", None)),
    ("await knex('§edges').where('id', id).del();", ("LOOK", "draft_not_checked")),
    ("await knex('§nodes').where({ id }).update({ tenant_id: t, status: 'DRAFT' });", ("LOOK", "draft_not_checked")),
    (
        "knex.schema.createTable('§nodes', (t) => {\n  t.uuid('id');\n"
        "  t.uuid('up').references('id').inTable('§nodes');\n});",
        ("BLOCKED", "parent_id"),
    ),
    ("knex.schema.alterTable('§nodes', (t) => t.specificType('place', 'ltree'));", ("BLOCKED", "materialised_path")),
    ("await knex.raw('ALTER TABLE §nodes DISABLE ROW LEVEL SECURITY');", ("BLOCKED", "row_security_off")),
    ("await sql`SELECT id FROM §nodes WHERE tenant_id = ${tenant}`;", ("APPROVED", None)),
    ("await sql`SELECT id FROM §nodes WHERE ${filter} AND tenant_id = ${tenant}`;", ("LOOK", "not_understood")),
    ("const rows = await prisma.¶Node.findMany({ where: { tenantId } });", ("APPROVED", None)),
    ("await prisma.¶Node.update({ where: { id }, data: { title } });", ("LOOK", "draft_not_checked")),
    ("model ¶Node {\n  id String @id\n  up String\n  parent ¶Node @relation('t')\n}", ("BLOCKED", "parent_id")),
    ("import type { ¶Node } from './types';", ("APPROVED", None)),
    ("export interface ¶Node { id: string; title: string }", ("APPROVED", None)),
    ("const table = pick('§nodes');", ("LOOK", "not_understood")),
]
RUBY = [
    ("add_reference :§nodes, :parent, type: :uuid", ("BLOCKED", "parent_id")),
    ("add_column :§nodes, :parent_id, :uuid", ("BLOCKED", "parent_id")),
    ("add_foreign_key :§nodes, :§nodes, column: :above", ("BLOCKED", "parent_id")),
    ("remove_column :§nodes, :parent_id, :uuid", ("LOOK", "not_understood")),
    (
        "create_table :§nodes do |t|\n  t.references :above, foreign_key: { to_table: :§nodes }\nend",
        ("BLOCKED", "parent_id"),
    ),
    (
        "create_table :§edges do |t|\n  t.uuid :source_node_id, null: false\n  t.uuid :target_node_id, null: false\n"
        "  t.uuid :tenant_id, null: false\nend",
        ("APPROVED", None),
    ),
    ("class ¶Node < ApplicationRecord\n  has_ancestry\nend", ("BLOCKED", "single_parent")),
    ("class ¶Node < ApplicationRecord\n  belongs_to :parent, class_name: '¶Node'\nend", ("BLOCKED", "parent_id")),
    ("class ¶Node < ApplicationRecord\n  include Treeish\nend", ("LOOK", "not_understood")),
    ("nodes = ¶Node.where(tenant_id: t).order(:title)", ("APPROVED", None)),
    ("nodes = ¶Node.all", ("LOOK", "no_tenant")),
    ("¶Node.find(id).update(title: 'x')", ("LOOK", "draft_not_checked")),
    ("¶Node.destroy_all", ("LOOK", "draft_not_checked")),
    ("¶Version.find(id).update!(status: 'DRAFT')", ("BLOCKED", "published_edited")),
    (
        "¶Version.where(id: id, status: 'DRAFT', tenant_id: t).update_all(status: 'PUBLISHED', published_at: now)",
        ("APPROVED", None),
    ),
    ("¶Version.where(status: 'PUBLISHED').delete_all", ("BLOCKED", "published_edited")),
    ("¶Node.create!(toc_version_id: v, title: 'x', node_type: 'GOAL', tenant_id: t)", ("APPROVED", None)),
    ("execute <<~SQL\n  ALTER TABLE §nodes ADD COLUMN path text;\nSQL", ("BLOCKED", "materialised_path")),
    ('execute "DROP TRIGGER §frozen ON §nodes"', ("BLOCKED", "published_edited")),
    ("execute 'UPDATE §nodes SET title = upper(title)'", ("BLOCKED", "draft_not_checked")),
]
SQL = [
    ("ALTER TABLE §nodes ENABLE ROW LEVEL SECURITY;", ("LOOK", "not_understood")),
    ("CREATE POLICY own ON §nodes USING (tenant_id = current_tenant());", ("LOOK", "not_understood")),
    ("DROP POLICY own ON §nodes;", ("BLOCKED", "row_security_off")),
    (
        "CREATE FUNCTION f() RETURNS void AS $$ BEGIN\n DELETE FROM §nodes WHERE id = 1;\nEND $$ LANGUAGE plpgsql;",
        ("LOOK", "not_understood"),
    ),
    ("DO $$ BEGIN ALTER TABLE §nodes ADD COLUMN parent_id uuid; END $$;", ("BLOCKED", "parent_id")),
    (
        "CREATE TRIGGER t AFTER INSERT ON menus BEGIN UPDATE menus SET a = 1;\n"
        "DELETE FROM §nodes WHERE tenant_id = 1 AND status = 'DRAFT'; END;",
        ("LOOK", "not_understood"),
    ),
    ("SELECT tenant_id, title FROM §nodes;", ("LOOK", "no_tenant")),
    ("SELECT title FROM §nodes WHERE tenant_id = 1 OR true;", ("LOOK", "no_tenant")),
    ("SELECT id FROM §nodes WHERE tenant_id = 1 UNION SELECT id FROM §nodes;", ("LOOK", "no_tenant")),
    ("SELECT n.id FROM §nodes n JOIN §versions v ON v.tenant_id = n.tenant_id;", ("LOOK", "no_tenant")),
    ("SELECT count(*) FROM §nodes n WHERE n.tenant_id = :t AND n.node_type = 'GOAL';", ("APPROVED", None)),
    ("SELECT source_node_id AS parent_id FROM §edges WHERE tenant_id = 1;", ("LOOK", "parent_id")),
    ("ALTER TABLE §nodes RENAME COLUMN above TO parent_id;", ("BLOCKED", "parent_id")),
    ("CREATE TABLE §nodes (tenant_id uuid, up_id uuid REFERENCES §nodes (id));", ("BLOCKED", "parent_id")),
    ("CREATE TABLE §nodes (tenant_id uuid, superior_id uuid);", ("LOOK", "parent_id")),
    ("CREATE TABLE §nodes (tenant_id uuid, id uuid, title text);", ("APPROVED", None)),
    ("ALTER TABLE §nodes DROP COLUMN tenant_id;", ("LOOK", "not_understood")),
    ("DROP TABLE §edges;", ("LOOK", "not_understood")),
    ("CREATE INDEX i ON §nodes (tenant_id, toc_version_id);", ("APPROVED", None)),
    ("CREATE VIEW v AS SELECT * FROM §nodes;", ("LOOK", "no_tenant")),
    ("COMMENT ON TABLE §nodes IS 'has no parent_id';", ("APPROVED", None)),
    ("GRANT SELECT ON §nodes TO app;", ("LOOK", "not_understood")),
    (
        "COPY §nodes (id, title) FROM stdin;\n1\tdon't\n\\.\nDROP TRIGGER frozen ON §nodes;",
        ("BLOCKED", "published_edited"),
    ),
    ("TRUNCATE §nodes;", ("BLOCKED", "draft_not_checked")),
    (
        "DELETE FROM §nodes USING §versions v WHERE v.id = §nodes.toc_version_id AND v.status = 'DRAFT'"
        " AND §nodes.tenant_id = :t;",
        ("APPROVED", None),
    ),
    ("UPDATE §versions SET status = :status WHERE id = :id AND tenant_id = :t;", ("LOOK", "draft_not_checked")),
    ("UPDATE §versions SET (label, status) = ('x', 'DRAFT') WHERE status = 'DRAFT';", ("BLOCKED", "published_edited")),
    (
        "UPDATE §nodes SET metadata = jsonb_build_object('children', :c) WHERE tenant_id = 1 AND status = 'DRAFT';",
        ("LOOK", "json_tree"),
    ),
    ("CREATE TABLE §nodes (tenant_id uuid, ancestor_ids uuid[]);", ("LOOK", "parent_id")),
    ("UPDATE §requests SET answer = 'yes' WHERE tenant_id = :t AND id = :id;", ("APPROVED", None)),
    ("INSERT INTO §assumptions (node_id, assumption_text, tenant_id) VALUES (1, 'x', 2);", ("APPROVED", None)),
    ("INSERT INTO §nodes VALUES (1, 'x', 2);", ("LOOK", "not_understood")),
]
CASES = [
    *((suffix, *case) for suffix, cases in ((".py", PYTHON), (".ts", TYPESCRIPT), (".rb", RUBY)) for case in cases),
    *((".sql", *case) for case in SQL),
]


@pytest.mark.parametrize(("suffix", "code", "expected"), CASES)
def test_the_verdict_on_code_and_the_rule_that_decides(
    suffix: str, code: str, expected: tuple[str, str | None]
) -> None:
    findings = check_code(
        f"file{suffix}", code.replace("§", "toc_").replace("prisma.¶", "prisma.toc").replace("¶", "Toc")
    )
    verdict, rule = expected

    assert decide(findings) == verdict
    assert rule is None or rule in {one.rule for one in findings if one.verdict == verdict}


DOCUMENT = Path(__file__).with_name("toc_graph_engine.txt")
BLOCK = re.compile(r"^ *```(sql|typescript)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def test_no_code_of_the_document_that_the_rules_come_from_is_blocked() -> None:
    blocks = BLOCK.findall(DOCUMENT.read_text(encoding="utf-8"))

    assert len(blocks) == 15
    for language, code in blocks:
        assert decide(check_code("file.sql" if language == "sql" else "file.ts", code)) in ("APPROVED", "LOOK"), code
