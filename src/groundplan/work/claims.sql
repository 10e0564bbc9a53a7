-- name: claim_node
-- Claim a node that may be claimed. No row means that another actor has claimed it. It returns nothing, which the caller
-- knows: RETURNING takes SQLite a quarter of the time of the change.
UPDATE work_nodes
   SET claimed_by = :actor_id,
       claimed_at = :now,
       claimed_until = :claimed_until,
       claim_number = claim_number + 1,
       rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n
   AND is_ready
   AND (claimed_by IS NULL OR claimed_by = :actor_id OR claimed_until <= :now);

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
