-- name: add_edges
-- Differs from SQLite, which inserts a row at a time: here one statement takes them all.
INSERT INTO work_edges (tenant_id, project_id, from_n, type, to_n)
SELECT :tenant_id, r.project_id, r.from_n, r.type, r.to_n
  FROM json_populate_recordset(NULL::work_edges, :rows::json) AS r;
