-- name: open_nodes
-- Every open node of a project, with what determines whether it can be started, and its properties if one may be an
-- estimate.
SELECT c.n, c.parent_n, c.kind, c.feature_n, c.depth, c.open_children, c.open_deps, c.blocked_above,
       c.held_reason IS NOT NULL AS is_held,
       c.status IS NULL OR c.status = 'ACTIVE' AS may_start,
       CASE WHEN c.properties LIKE '%"estimate"%' THEN c.properties END AS properties
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND NOT c.resolved
 ORDER BY c.n;

-- name: open_dependencies
-- The dependencies of every open node of a project that waits for one. Such a node is blocked, and the blocked have an
-- index.
SELECT d.from_n, d.to_n
  FROM work_nodes AS c
 CROSS JOIN work_edges AS d
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.is_blocked
   AND c.open_deps > 0
   AND d.tenant_id = c.tenant_id
   AND d.project_id = c.project_id
   AND d.from_n = c.n
   AND d.type = 'depends_on';
