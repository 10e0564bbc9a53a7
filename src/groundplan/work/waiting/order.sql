-- name: is_ordered
-- Whether the keys of a project grow along every wait.
SELECT is_ordered
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: feature_count
-- The number of features of a project.
SELECT features
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: set_ordered
-- Mark a project as ordered, or as not ordered.
UPDATE work_projects
   SET is_ordered = :is_ordered
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: order_keys
-- The keys of some nodes, and whether these are resolved.
SELECT c.n, c.order_key, c.resolved
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: set_order_keys
-- Write the key of a node. It is no change of the node, so the revision stays.
UPDATE work_nodes
   SET order_key = :order_key
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: awaited_steps
-- The open nodes that some nodes wait for directly, with their keys: children and dependencies.
SELECT c.parent_n AS waiting, c.n AS awaited, c.order_key AS key
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND NOT c.resolved
UNION ALL
SELECT d.from_n, d.to_n, c.order_key
  FROM work_edges AS d
 CROSS JOIN work_nodes AS c
    ON c.tenant_id = d.tenant_id
   AND c.project_id = d.project_id
   AND c.n = d.to_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND d.type = 'depends_on'
   AND NOT c.resolved
 LIMIT :at_most;

-- name: waiting_steps
-- The open nodes that wait directly for some nodes, with their keys: parents and dependents.
SELECT p.n AS waiting, c.n AS awaited, p.order_key AS key
  FROM work_nodes AS c
 CROSS JOIN work_nodes AS p
    ON p.tenant_id = c.tenant_id
   AND p.project_id = c.project_id
   AND p.n = c.parent_n
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND NOT c.resolved
   AND NOT p.resolved
UNION ALL
SELECT d.from_n, d.to_n, c.order_key
  FROM work_edges AS d
 CROSS JOIN work_nodes AS c
    ON c.tenant_id = d.tenant_id
   AND c.project_id = d.project_id
   AND c.n = d.from_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND d.type = 'depends_on'
   AND NOT c.resolved
 LIMIT :at_most;

-- name: parents_of_open_nodes
-- Every open node of a project, with its parent.
SELECT c.n, c.parent_n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND NOT c.resolved
 ORDER BY c.n;

-- name: resolved_nodes
-- Every resolved node of a project.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.resolved;

-- name: dependencies
-- Every dependency of a project.
SELECT d.from_n, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.type = 'depends_on'
 ORDER BY d.from_n, d.to_n;

-- name: waits_of_nodes
-- Who waits directly for whom, where one of the two is among these nodes: parents and dependents, and their own targets.
-- Of resolved nodes the parent is left out, else SQLite would read the index of all parents.
SELECT c.parent_n AS waiting, c.n AS awaited
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND NOT c.resolved
UNION ALL
SELECT d.from_n, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND d.type = 'depends_on'
UNION ALL
SELECT d.from_n, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND d.type = 'depends_on';
