-- name: counts
-- The numbers of nodes in a project.
SELECT total, resolved, total - resolved AS unresolved, blocked, actionable, dropped
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: open_children_of
-- A few open children of a node.
SELECT c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = :n
   AND NOT c.resolved
 ORDER BY c.n
 LIMIT :at_most;

-- part: from_resolved_dependencies
FROM work_edges AS d
  JOIN work_nodes AS c
    ON c.tenant_id = d.tenant_id
   AND c.project_id = d.project_id
   AND c.n = d.to_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n = :n
   AND d.type = 'depends_on'
   AND c.resolved
 ORDER BY c.changed_rev DESC, c.n

-- name: root_id
-- The id of the root of the project.
SELECT id
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = 1;

-- part: children_of_b
CROSS JOIN work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = b.n

-- part: node_chosen
CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = chosen.n
