-- name: lineage
-- A node and its nearest ancestors with their links, nearest first.
WITH RECURSIVE above (id, context_links, parent_n, distance) AS (
    SELECT c.id, c.context_links, c.parent_n, 1
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.id, c.context_links, c.parent_n, above.distance + 1
      FROM above
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = above.parent_n
     WHERE above.distance < :at_most
)
SELECT id, context_links
  FROM above
 ORDER BY distance;

-- name: resolved_dependencies
-- The resolved dependencies of a node, the latest first, and how many there are.
SELECT c.n, c.id, c.summary, count(*) OVER () AS total
  {from_resolved_dependencies}
 LIMIT :at_most;

-- name: resolved_siblings
-- The resolved ones among the siblings that were planned just before a node, the nearest first.
SELECT near.n, near.id, near.summary, 0 AS total
  FROM (SELECT c.n, c.id, c.summary, c.resolved
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.parent_n = :parent_n
           AND c.n < :n
         ORDER BY c.n DESC
         LIMIT :looked_through) AS near
 WHERE near.resolved
 ORDER BY near.n DESC;
