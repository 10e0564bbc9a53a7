-- name: project_overviews
-- The goals of some projects, the numbers of their nodes, and of their open top-level nodes.
SELECT p.project_id, r.summary, r.open_children, p.total, p.resolved, p.total - p.resolved AS unresolved, p.blocked,
       p.actionable, p.dropped
  FROM work_projects AS p
  JOIN work_nodes AS r
    ON r.tenant_id = p.tenant_id
   AND r.project_id = p.project_id
   AND r.n = 1
 WHERE p.tenant_id = :tenant_id
   AND p.project_id IN (SELECT value FROM each(:project_ids));

-- name: own_claims
-- The live claims of the actor, the latest first; of very many, those of the highest rank.
SELECT held.id, held.summary, held.claimed_at
  FROM (SELECT c.n, c.id, c.summary, c.claimed_at
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.claimed_by = :actor_id
           AND (c.claimed_until IS NULL OR c.claimed_until > :now)
         ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
         LIMIT :looked_through) AS held
 ORDER BY held.claimed_at DESC, held.n DESC;

-- name: claims_of_others
-- The latest live claims of other actors, and how many there are.
SELECT c.id, c.summary, c.claimed_by, count(*) OVER () AS total
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND c.claimed_by <> :actor_id
   AND (c.claimed_until IS NULL OR c.claimed_until > :now)
 ORDER BY c.claimed_at DESC, c.n DESC
 LIMIT :at_most;

-- name: top_level
-- Children of the root, the open ones first; of very many, only the oldest and the newest are considered.
SELECT c.id, c.summary, c.resolved, c.outcome, c.open_children
  FROM (SELECT oldest.n
          FROM (SELECT a.n
                  FROM work_nodes AS a
                 WHERE a.tenant_id = :tenant_id
                   AND a.project_id = :project_id
                   AND a.parent_n = 1
                 ORDER BY a.n
                 LIMIT :looked_through) AS oldest
        UNION
        SELECT newest.n
          FROM (SELECT b.n
                  FROM work_nodes AS b
                 WHERE b.tenant_id = :tenant_id
                   AND b.project_id = :project_id
                   AND b.parent_n = 1
                 ORDER BY b.n DESC
                 LIMIT :looked_through) AS newest) AS either
  JOIN work_nodes AS c
    ON c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = either.n
 ORDER BY c.resolved, c.n
 LIMIT :at_most;

-- part: blocked
c.n, c.id, c.summary, c.open_deps, c.held_reason, c.is_blocked, c.priority, c.depth, c.changed_rev

-- name: recently_blocked
-- Blocked nodes among those that changed last, by rank, and those that were claimed before they were blocked, which are
-- in no index by change. `= true` keeps SQLite from reading every blocked node for them.
SELECT late.n, late.id, late.summary, late.open_deps, late.held_reason
  FROM (SELECT *
          FROM (SELECT {blocked}
                  FROM work_nodes AS c
                 WHERE c.tenant_id = :tenant_id
                   AND c.project_id = :project_id
                   AND c.claimed_by IS NULL
                 ORDER BY c.changed_rev DESC, c.n DESC
                 LIMIT :looked_through) AS unclaimed
         UNION ALL
        SELECT *
          FROM (SELECT {blocked}
                  FROM work_nodes AS c
                 WHERE c.tenant_id = :tenant_id
                   AND c.project_id = :project_id
                   AND c.claimed_by IS NOT NULL
                   AND c.is_blocked = true
                 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
                 LIMIT :at_most) AS claimed) AS late
 WHERE late.is_blocked
 ORDER BY late.priority DESC, late.depth DESC, late.changed_rev, late.n
 LIMIT :at_most;

-- name: blocking_ancestor
-- The nearest ancestor that waits and blocks what is below it.
WITH RECURSIVE above (n, id, parent_n, held_reason, holds_back, distance) AS (
    SELECT c.n, c.id, c.parent_n, c.held_reason, false, 0
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.n, c.id, c.parent_n, c.held_reason,
           (c.open_deps > 0 OR c.held_reason IS NOT NULL)
           AND (:inherits OR (c.kind IS NOT NULL AND c.kind = 'feature')),
           above.distance + 1
      FROM above
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = above.parent_n
     WHERE NOT above.holds_back
       AND above.distance < :looked_through
)
SELECT n, id, held_reason
  FROM above
 WHERE holds_back;

-- name: open_dependencies
-- The open dependencies of a node; of very many dependencies, only the oldest are considered.
SELECT t.id, t.summary
  FROM (SELECT d.to_n
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n = :n
           AND d.type = 'depends_on'
         ORDER BY d.to_n
         LIMIT :looked_through) AS waited
  JOIN work_nodes AS t
    ON t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.n = waited.to_n
 WHERE NOT t.resolved
 ORDER BY t.n
 LIMIT :at_most;

-- name: summaries
-- The summaries of some nodes, also of those that were merged into others. By id alone: with the project, SQLite would read
-- all of its nodes.
SELECT c.id, c.summary
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids))
 UNION ALL
SELECT m.id, m.summary
  FROM work_merged_texts AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.id IN (SELECT value FROM each(:ids));
