-- Columns and parts that the queries of work share.

-- columns: position
-- Set when a node is created; changed later only by dedicated statements.
n, id, parent_n, kind, feature_n, depth, open_children, open_deps, blocked_above

-- columns: content
-- Set when a node is created, and rewritten by each change.
summary, properties, priority, complexity, context_links

-- columns: progress
-- Empty when a node is planned, and rewritten by each change.
resolved, outcome, status, held_reason, blocked_reason, state, claimed_by, claimed_at, claimed_until

-- columns: imported
-- The part of the progress that a node can have when it is created, because another tool says so.
resolved, outcome, status, held_reason, state

-- columns: stamps
-- Set by the statements themselves.
rev, claim_number, created_at, created_by, updated_at, changed_rev

-- part: node
-- All fields of a node `c`, as in WorkNodeRow.
{c.position}, {c.content}, {c.progress}, {c.stamps}, {evidence_total}, {merged_total}

-- part: evidence_total
-- The amount of evidence of a node `c`: the last number, because evidence is only removed together with its node.
(SELECT coalesce(max(e.k), 0)
          FROM work_evidence AS e
         WHERE e.tenant_id = c.tenant_id
           AND e.project_id = c.project_id
           AND e.node_n = c.n) AS evidence_total

-- part: merged_total
-- The number of nodes that were merged into a node `c`.
(SELECT count(*)
          FROM work_merged_texts AS m
         WHERE m.tenant_id = c.tenant_id
           AND m.project_id = c.project_id
           AND m.node_n = c.n) AS merged_total

-- columns: evidence
node_n, k, type, ref, agent, at, checked, rev

-- part: join_children
-- The children of each node that a walk has reached.
JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = walk.n

-- part: join_parent
-- The parent of each node that a walk has reached.
JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = walk.parent_n

-- part: join_node
-- Each node that a walk has reached.
JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = walk.n

-- part: walk_above
-- A node and its ancestors, with the number of steps to each.
WITH RECURSIVE above (n, parent_n, step) AS (
    SELECT c.n, c.parent_n, 0
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.n, c.parent_n, walk.step + 1
      FROM above AS walk
      {join_parent}
)

-- part: blocked_ancestors
-- The ancestors of that walk which wait, and so block everything below them, the nearest first.
FROM above AS walk
  {join_node}
 WHERE walk.step > 0
   AND (c.open_deps > 0 OR c.held_reason IS NOT NULL)
   AND (:inherits OR c.kind = 'feature')
 ORDER BY walk.step
 LIMIT :at_most

-- part: first_open_dependency
-- The first open node that a node of a walk depends on.
SELECT c.n
          FROM work_edges AS d
          JOIN work_nodes AS c
            ON c.tenant_id = d.tenant_id
           AND c.project_id = d.project_id
           AND c.n = d.to_n
           AND NOT c.resolved
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n = walk.n
           AND d.type = 'depends_on'
         LIMIT 1

-- part: first_open_child
-- The first open child of a node of a walk.
SELECT c.n
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.parent_n = walk.n
           AND NOT c.resolved
         LIMIT 1

-- part: others_work
-- Whether others work on a node of the project now. It depends on no row, so it is evaluated once.
(EXISTS (SELECT 1 FROM work_nodes AS c WHERE {is_claimed_by_others})
           OR EXISTS (SELECT 1 FROM work_nodes AS c WHERE {is_active_unclaimed})) AS others_work

-- part: is_claimed_by_others
-- Whether another actor's claim of a node `c` is live, and the node waits for nothing.
c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.claimed_by IS NOT NULL
           AND c.claimed_by <> :actor_id
           AND coalesce(c.claimed_until > :now, true)
           AND c.open_children = 0
           AND NOT c.is_blocked

-- part: is_active_unclaimed
-- Whether a node `c` is ACTIVE without a live claim, last changed by another actor, and waits for nothing.
c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.status = 'ACTIVE'
           AND (c.kind IS NULL OR c.kind <> 'feature')
           AND NOT coalesce(c.claimed_until > :now, c.claimed_by IS NOT NULL)
           AND c.updated_by <> :actor_id
           AND c.open_children = 0
           AND NOT c.is_blocked

-- part: flags
-- The state of a node as a number, of the flags that `state_changes.py` names.
CASE WHEN resolved THEN 1 ELSE 0 END
       + CASE WHEN outcome IS NOT NULL THEN 2 ELSE 0 END
       + CASE WHEN is_ready THEN 4 ELSE 0 END
       + CASE WHEN is_blocked THEN 8 ELSE 0 END
       + CASE WHEN kind IS NULL OR kind = 'task' THEN 32 WHEN kind = 'feature' THEN 16 ELSE 0 END

-- name: resolve_nodes
-- Resolve nodes; everything below them must be resolved with them.
UPDATE work_nodes
   SET resolved = true,
       outcome = :outcome,
       status = NULL,
       open_children = 0,
       claimed_by = NULL,
       claimed_at = NULL,
       claimed_until = NULL,
       rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));
