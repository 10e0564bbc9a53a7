-- name: leases_after
-- The claims of a project that end after a moment.
SELECT c.n, c.id AS node_id, c.claimed_until
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND c.claimed_until > :moment;

-- name: move_lease
-- Store another end of a claim, with the next revision of its node.
UPDATE work_nodes
   SET claimed_until = :claimed_until,
       rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

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
