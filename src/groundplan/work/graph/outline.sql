-- name: live_claims
-- Returns the numbers of the nodes in progress: claimed, and the claim has not ended. The best come first.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND (c.claimed_until IS NULL OR c.claimed_until > :now)
 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
 LIMIT :at_most;

-- name: claim_counts
-- How many nodes are claimed now, and how many of them are ready.
SELECT count(*) AS live, coalesce(sum(CASE WHEN c.is_ready THEN 1 ELSE 0 END), 0) AS ready
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND (c.claimed_until IS NULL OR c.claimed_until > :now);

-- name: ready_count
-- The stored number of ready nodes, claimed or not.
SELECT actionable
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- part: end_of_walk
LIMIT :at_most

-- name: counts_below
-- How many nodes are below each of some nodes, and how many of them are open or dropped; of the first nodes of the walk.
WITH RECURSIVE below (top, n) AS (
    SELECT e.value, e.value
      FROM each_number(:ns) AS e
     UNION ALL
    SELECT b.top, c.n
      FROM below AS b
     {children_of_b}
     {end_of_walk}
)
SELECT chosen.top, count(*) AS walked, sum(CASE WHEN c.resolved OR c.n = chosen.top THEN 0 ELSE 1 END) AS open_below,
       sum(CASE WHEN c.outcome IS NULL OR c.n = chosen.top THEN 0 ELSE 1 END) AS dropped_below
  FROM (SELECT below.top, below.n
          FROM below
         LIMIT :at_most) AS chosen
 {node_chosen}
 GROUP BY chosen.top;

-- name: outline_rows
-- The fields of the nodes of an outline, and their sort keys.
WITH wanted (n) AS MATERIALIZED (
    SELECT e.value
      FROM each_number(:ns) AS e
)
SELECT c.n, c.id, c.summary, p.id AS parent, p.summary AS parent_summary, c.kind, c.status, c.resolved, c.outcome,
       c.held_reason, c.claimed_by, c.claimed_until, c.is_ready, c.is_blocked, c.open_children, c.depth, c.priority, c.changed_rev,
       (SELECT count(*)
          FROM work_nodes AS k
         WHERE k.tenant_id = c.tenant_id
           AND k.project_id = c.project_id
           AND k.parent_n = c.n) AS children,
       (SELECT count(*)
          FROM work_nodes AS k
         WHERE k.tenant_id = c.tenant_id
           AND k.project_id = c.project_id
           AND k.parent_n = c.n
           AND k.outcome IS NOT NULL) AS dropped_children
  FROM wanted
 CROSS JOIN work_nodes AS c
  LEFT JOIN work_nodes AS p
    ON p.tenant_id = c.tenant_id
   AND p.project_id = c.project_id
   AND p.n = c.parent_n
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = wanted.n;
