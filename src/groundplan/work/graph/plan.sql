-- name: nodes_by_id
-- Nodes by whole id, with the fields that a plan needs. In any project: limited to one, SQLite would read all of it.
SELECT {existing_node_columns}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids));

-- name: root
-- The root of the project, with the fields that a plan needs.
SELECT {existing_node_columns}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = 1;

-- part: existing_node_columns
c.project_id, c.id, c.n, c.kind, c.feature_n, c.depth, c.resolved, c.blocked_above,
       c.open_deps > 0 OR c.held_reason IS NOT NULL AS waits, c.order_key

-- name: add_edges
-- Insert the dependencies of new nodes.
INSERT INTO work_edges (tenant_id, project_id, from_n, type, to_n)
VALUES (:tenant_id, :project_id, :from_n, :type, :to_n);

-- name: last_n
-- The number of the newest node.
SELECT last_n
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;
