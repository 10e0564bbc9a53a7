-- columns: step
-- The columns that a change of status writes.
resolved, outcome, status, held_reason, blocked_reason, claimed_by, claimed_at, claimed_until, claim_number

-- name: node_numbers
-- The numbers of some nodes, by their ids.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids));

-- name: update_node_status
-- Store the status, hold and claim of a node with its next revision.
UPDATE work_nodes
   SET rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id,
       {step:set}
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;
