-- Queries of dependencies and relations.

-- name: is_related
-- A row if two nodes are related, in either direction.
SELECT 1
  FROM work_edges
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND from_n = :a_n
   AND type = 'relates_to'
   AND to_n = :b_n
UNION ALL
SELECT 1
  FROM work_edges
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND from_n = :b_n
   AND type = 'relates_to'
   AND to_n = :a_n;

-- part: other_end_columns
o.id, o.kind, o.summary, d.type, o.resolved, o.outcome, o.status, o.claimed_by, o.claimed_until, count(*) OVER () AS total

-- name: dependencies_of_container
-- The first dependencies and related containers of a container, and their total.
SELECT {other_end_columns}
  FROM (SELECT e.type, e.to_n AS n
          FROM work_edges AS e
         WHERE e.tenant_id = :tenant_id
           AND e.project_id = :project_id
           AND e.from_n = :n
           AND e.type IN ('depends_on', 'relates_to')
         UNION
        SELECT e.type, e.from_n
          FROM work_edges AS e
         WHERE e.tenant_id = :tenant_id
           AND e.project_id = :project_id
           AND e.to_n = :n
           AND e.type = 'relates_to') AS d
  JOIN work_nodes AS o
    ON o.tenant_id = :tenant_id
   AND o.project_id = :project_id
   AND o.n = d.n
 ORDER BY d.type, o.n
 LIMIT :at_most;

-- name: dependents_of_container
-- The first dependents and related containers of a container, and their total.
SELECT {other_end_columns}
  FROM (SELECT e.type, e.from_n AS n
          FROM work_edges AS e
         WHERE e.tenant_id = :tenant_id
           AND e.project_id = :project_id
           AND e.to_n = :n
           AND e.type IN ('depends_on', 'relates_to')
         UNION
        SELECT e.type, e.to_n
          FROM work_edges AS e
         WHERE e.tenant_id = :tenant_id
           AND e.project_id = :project_id
           AND e.from_n = :n
           AND e.type = 'relates_to') AS d
  JOIN work_nodes AS o
    ON o.tenant_id = :tenant_id
   AND o.project_id = :project_id
   AND o.n = d.n
 ORDER BY d.type, o.n
 LIMIT :at_most;

-- name: related_numbers
-- The related containers of a container, in either direction.
SELECT o.n, o.id
  FROM (SELECT e.to_n AS n
          FROM work_edges AS e
         WHERE e.tenant_id = :tenant_id
           AND e.project_id = :project_id
           AND e.from_n = :n
           AND e.type = 'relates_to'
         UNION
        SELECT e.from_n
          FROM work_edges AS e
         WHERE e.tenant_id = :tenant_id
           AND e.project_id = :project_id
           AND e.to_n = :n
           AND e.type = 'relates_to') AS d
  JOIN work_nodes AS o
    ON o.tenant_id = :tenant_id
   AND o.project_id = :project_id
   AND o.n = d.n;
