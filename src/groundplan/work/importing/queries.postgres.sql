-- name: save_imports
-- Differs from SQLite, where a statement costs next to nothing: here many rows are sent at once.
INSERT INTO work_imports (tenant_id, project_id, tool, source_id, node_n, digest, base)
SELECT :tenant_id, r.project_id, r.tool, r.source_id, r.node_n, r.digest, r.base
  FROM json_populate_recordset(NULL::work_imports, :rows::json) AS r
    ON CONFLICT (tenant_id, project_id, tool, source_id)
    DO UPDATE SET node_n = CASE WHEN work_imports.base = '' THEN excluded.node_n ELSE work_imports.node_n END,
                  digest = excluded.digest,
                  base = excluded.base;

-- name: add_edges
-- Differs from SQLite for the same reason.
INSERT INTO work_edges (tenant_id, project_id, from_n, type, to_n)
SELECT :tenant_id, r.project_id, r.from_n, r.type, r.to_n
  FROM json_populate_recordset(NULL::work_edges, :rows::json) AS r
    ON CONFLICT DO NOTHING;

-- name: add_tags
-- Differs from SQLite for the same reason.
INSERT INTO work_node_tags (tenant_id, project_id, node_n, tag)
SELECT :tenant_id, r.project_id, r.node_n, r.tag
  FROM json_populate_recordset(NULL::work_node_tags, :rows::json) AS r
    ON CONFLICT DO NOTHING;

-- name: add_sections
-- Differs from SQLite for the same reason.
INSERT INTO work_sections (tenant_id, project_id, id, node_n, ordinal, version, title, usage_description,
                           content_format, content, created_at, created_by, modified_at, modified_by)
SELECT :tenant_id, r.project_id, r.id, r.node_n, r.ordinal, 1, r.title, '', 'MARKDOWN', r.content, :now, :actor_id, :now,
       :actor_id
  FROM json_populate_recordset(NULL::work_sections, :rows::json) AS r;

-- name: set_positions
-- Differs from SQLite for the same reason.
UPDATE work_nodes
   SET parent_n = r.parent_n,
       depth = r.depth,
       feature_n = r.feature_n,
       open_children = r.open_children,
       open_deps = r.open_deps,
       blocked_above = r.blocked_above
  FROM json_populate_recordset(NULL::work_nodes, :rows::json) AS r
 WHERE work_nodes.tenant_id = :tenant_id
   AND work_nodes.project_id = r.project_id
   AND work_nodes.n = r.n;

-- name: add_aliases
-- Differs from SQLite for the same reason.
INSERT INTO work_aliases (tenant_id, project_id, alias, node_n)
SELECT :tenant_id, r.project_id, r.alias, r.node_n
  FROM json_populate_recordset(NULL::work_aliases, :rows::json) AS r;
