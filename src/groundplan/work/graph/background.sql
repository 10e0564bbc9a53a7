-- name: lineage
-- A node and its nearest ancestors with their links, nearest first.
WITH RECURSIVE above (n, id, context_links, parent_n, distance) AS (
    SELECT c.n, c.id, c.context_links, c.parent_n, 1
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.n, c.id, c.context_links, c.parent_n, above.distance + 1
      FROM above
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = above.parent_n
     WHERE above.distance < :at_most
)
SELECT n, id, context_links
  FROM above
 ORDER BY distance;

-- name: resolved_dependencies
-- The resolved dependencies of a node, the latest first, and how many there are.
SELECT c.n, c.id, c.summary, c.outcome, c.state, count(*) OVER () AS total
  {from_resolved_dependencies}
 LIMIT :at_most;

-- name: inherited_dependencies
-- The resolved dependencies of the ancestors of a node that are not its own, those of the nearest ancestor first, then
-- the latest; and how many there are.
SELECT c.n, c.id, c.summary, c.outcome, c.state, count(*) OVER () AS total
  FROM (SELECT d.to_n AS n, max(a.depth) AS depth
          FROM each_number(:ancestors) AS ancestor
          CROSS JOIN work_nodes AS a
          CROSS JOIN work_edges AS d
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = :project_id
           AND a.n = ancestor.value
           AND d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n = a.n
           AND d.type = 'depends_on'
         GROUP BY d.to_n) AS inherited
  JOIN work_nodes AS c
    ON c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = inherited.n
 WHERE c.resolved
   AND NOT EXISTS (SELECT 1
                     FROM work_edges AS own
                    WHERE own.tenant_id = :tenant_id
                      AND own.project_id = :project_id
                      AND own.from_n = :n
                      AND own.type = 'depends_on'
                      AND own.to_n = c.n)
 ORDER BY inherited.depth DESC, c.changed_rev DESC, c.n
 LIMIT :at_most;

-- name: resolved_siblings
-- The resolved ones among the siblings that were planned just before a node, the nearest first.
SELECT near.n, near.id, near.summary, near.outcome, near.state, 0 AS total
  FROM (SELECT c.n, c.id, c.summary, c.outcome, c.state, c.resolved
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.parent_n = :parent_n
           AND c.n < :n
         ORDER BY c.n DESC
         LIMIT :looked_through) AS near
 WHERE near.resolved
 ORDER BY near.n DESC;
