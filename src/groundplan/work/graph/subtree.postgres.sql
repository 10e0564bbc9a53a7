-- name: first_children
-- Differs from SQLite, which has no LATERAL: no other form tells PostgreSQL that only a few rows per node are wanted.
SELECT c.parent_n, c.n, c.id, c.summary, c.resolved, c.outcome, c.state
  FROM each_number(:ns) AS wanted
 CROSS JOIN LATERAL (
    SELECT c.parent_n, c.n, c.id, c.summary, c.resolved, c.outcome, c.state
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = wanted.value
     ORDER BY c.n
     LIMIT :of_each
 ) AS c
 ORDER BY c.n;
