-- name: nodes_and_ancestors
-- Returns some nodes and all their ancestors, with the distance to the node, nearest first.
WITH RECURSIVE above (start_n, n, parent_n, id, distance) AS (
    SELECT c.n, c.n, c.parent_n, c.id, 0
      FROM each_number(:ns) AS k
     CROSS JOIN work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = k.value
    UNION ALL
    SELECT a.start_n, p.n, p.parent_n, p.id, a.distance + 1
      FROM above AS a
      JOIN work_nodes AS p
        ON p.tenant_id = :tenant_id
       AND p.project_id = :project_id
       AND p.n = a.parent_n
)
SELECT start_n, id
  FROM above
 ORDER BY start_n, distance;

-- name: count_open_below_root
-- Returns the number of open nodes of a project besides its root.
SELECT p.total - p.resolved - CASE WHEN r.resolved THEN 0 ELSE 1 END
  FROM work_projects AS p
  JOIN work_nodes AS r
    ON r.tenant_id = p.tenant_id
   AND r.project_id = p.project_id
   AND r.n = 1
 WHERE p.tenant_id = :tenant_id
   AND p.project_id = :project_id;

-- name: count_nodes
-- Returns the number of nodes of a project.
SELECT total
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: tree_of_project
-- Returns each node of a project with its parent and whether it is resolved, in no order.
SELECT n, parent_n, resolved
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: ids_of_numbers
-- Returns the ids of some nodes by their numbers.
SELECT c.n, c.id
  FROM each_number(:ns) AS k
 CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = k.value;

-- name: dropped_of_numbers
-- Returns the numbers of those of some nodes that were dropped.
SELECT c.n
  FROM each_number(:ns) AS k
 CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = k.value
   AND c.outcome = 'dropped';
