-- name: nodes_and_ancestors
-- Returns some nodes and all their ancestors, with the distance to the node, nearest first.
WITH RECURSIVE above (start_n, n, parent_n, id, distance) AS (
    SELECT c.n, c.n, c.parent_n, c.id, 0
      FROM each(:ns) AS k
     CROSS JOIN work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = CAST(k.value AS bigint)
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
