-- name: node_with_property
-- Differs from SQLite, whose json_each takes text.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND EXISTS (SELECT 1 FROM json_each(c.properties::json) AS has WHERE has.key = :name)
 LIMIT 1;
