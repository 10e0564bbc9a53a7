-- Columns and parts that the queries of work share.

-- columns: position
-- Given when a node is made; later changed only by statements of their own.
n, id, parent_n, kind, feature_n, depth, open_children, open_deps, blocked_above

-- columns: content
-- Given when a node is made, and rewritten by each change.
summary, properties, priority, complexity, context_links

-- columns: progress
-- Empty when a node is made, and rewritten by each change.
resolved, outcome, status, held_reason, blocked_reason, state, claimed_by, claimed_at, claimed_until

-- columns: stamps
-- Written by the statements themselves.
rev, claim_number, created_at, created_by, updated_at

-- part: node
-- All of a node `c`, as NodeRow has it.
{c.position}, {c.content}, {c.progress}, {c.stamps}, {evidence_total}

-- part: evidence_total
-- How much evidence a node `c` has: it is numbered, and never taken away from a node that stays.
(SELECT coalesce(max(e.k), 0)
          FROM work_evidence AS e
         WHERE e.tenant_id = c.tenant_id
           AND e.project_id = c.project_id
           AND e.node_n = c.n) AS evidence_total

-- columns: evidence
node_n, k, type, ref, agent, at

-- part: children
-- The children of each node that a walk has come to.
JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = walk.n

-- part: its_parent
-- The parent of each node that a walk has come to.
JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = walk.parent_n

-- part: itself
-- Each node that a walk has come to.
JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = walk.n
