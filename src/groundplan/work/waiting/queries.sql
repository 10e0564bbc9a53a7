-- name: ending_claims
-- Return the claims of a project that end before a moment, and those without an end from before another, oldest first.
SELECT c.id, c.summary, c.claimed_by, c.claimed_at, c.claimed_until
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND c.claimed_at >= :since
   AND (c.claimed_until <= :ends_before OR (c.claimed_until IS NULL AND c.claimed_at <= :held_before))
 ORDER BY c.claimed_at, c.n
 LIMIT :at_most;
