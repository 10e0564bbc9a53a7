-- name: page_rows
-- The fields of the nodes of a page, and their sort keys. The numbers are computed first: under row level security
-- PostgreSQL does not seek by values that it would have to compute on the way.
WITH wanted (n) AS MATERIALIZED (
    SELECT e.value
      FROM each_number(:ns) AS e
)
SELECT c.n, c.id, c.summary, c.resolved, c.outcome, c.state, p.id AS parent, c.depth, c.properties, c.claimed_by,
       c.claimed_at, c.claimed_until, c.is_ready, c.priority, c.changed_rev
  FROM wanted
 CROSS JOIN work_nodes AS c
  LEFT JOIN work_nodes AS p
    ON p.tenant_id = c.tenant_id
   AND p.project_id = c.project_id
   AND p.n = c.parent_n
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = wanted.n;
