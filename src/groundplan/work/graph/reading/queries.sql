-- The queries that read nodes with their neighbours. Every answer is bounded: no query here reads more than a few
-- hundred rows, however large the project is; only counting the children of a node walks an index.

-- name: ancestors
-- A node and its nearest ancestors, the farthest first, each with its depth.
WITH RECURSIVE above (id, summary, resolved, depth, parent_n, distance) AS (
    SELECT c.id, c.summary, c.resolved, c.depth, c.parent_n, 0
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.id, c.summary, c.resolved, c.depth, c.parent_n, above.distance + 1
      FROM above
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = above.parent_n
     WHERE above.distance < :at_most
)
SELECT id, summary, resolved, depth
  FROM above
 ORDER BY distance DESC;

-- name: root
-- The root of the project.
SELECT c.id, c.summary, c.resolved, c.depth
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = 1;

-- name: child_counts
-- The number of children of some nodes. One count per node: a join could be planned as a scan of the whole project.
SELECT CAST(wanted.value AS bigint),
       (SELECT count(*)
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.parent_n = CAST(wanted.value AS bigint))
  FROM each(:ns) AS wanted;

-- name: first_children
-- The first children of some nodes, at most `of_each` per node, in order of creation. Materialized, otherwise SQLite
-- would read every node of the project.
WITH wanted (parent_n, behind_n) AS MATERIALIZED (
    SELECT CAST(one.value AS bigint),
           (SELECT c.n
              FROM work_nodes AS c
             WHERE c.tenant_id = :tenant_id
               AND c.project_id = :project_id
               AND c.parent_n = CAST(one.value AS bigint)
             ORDER BY c.n
             LIMIT 1 OFFSET :of_each)
      FROM each(:ns) AS one
)
SELECT c.parent_n, c.n, c.id, c.summary, c.resolved, c.state
  FROM wanted
  JOIN work_nodes AS c
    ON c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = wanted.parent_n
   AND c.n < coalesce(wanted.behind_n, 9223372036854775807)
 ORDER BY c.n;

-- name: dependencies
-- The dependencies of a node, the open ones first; of very many, only the oldest are considered.
SELECT t.n
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
 ORDER BY t.resolved, t.n
 LIMIT :at_most;

-- name: dependents
-- The dependents of a node, the open ones first; of very many, only the oldest are considered.
SELECT f.n
  FROM (SELECT d.from_n
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.to_n = :n
           AND d.type = 'depends_on'
         ORDER BY d.from_n
         LIMIT :looked_through) AS waiting
  JOIN work_nodes AS f
    ON f.tenant_id = :tenant_id
   AND f.project_id = :project_id
   AND f.n = waiting.from_n
 ORDER BY f.resolved, f.n
 LIMIT :at_most;

-- name: edge_counts
-- The numbers of dependencies, dependents and other edges of a node.
SELECT (SELECT count(*)
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n = :n
           AND d.type = 'depends_on'),
       (SELECT count(*)
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.to_n = :n
           AND d.type = 'depends_on'),
       (SELECT count(*)
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n = :n
           AND d.type <> 'depends_on')
     + (SELECT count(*)
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.to_n = :n
           AND d.type <> 'depends_on');

-- name: related_out
-- The targets of the other edges of a node. Two ranges of types, so that dependencies are skipped at no cost.
SELECT t.id, d.type, t.summary
  FROM (SELECT a.type, a.to_n
          FROM work_edges AS a
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = :project_id
           AND a.from_n = :n
           AND a.type < 'depends_on'
        UNION ALL
        SELECT b.type, b.to_n
          FROM work_edges AS b
         WHERE b.tenant_id = :tenant_id
           AND b.project_id = :project_id
           AND b.from_n = :n
           AND b.type > 'depends_on'
         ORDER BY type, to_n
         LIMIT :at_most) AS d
  JOIN work_nodes AS t
    ON t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.n = d.to_n
 ORDER BY d.type, t.n;

-- name: related_in
-- The sources of the other edges that lead to a node.
SELECT f.id, d.type, f.summary
  FROM (SELECT a.type, a.from_n
          FROM work_edges AS a
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = :project_id
           AND a.to_n = :n
           AND a.type < 'depends_on'
        UNION ALL
        SELECT b.type, b.from_n
          FROM work_edges AS b
         WHERE b.tenant_id = :tenant_id
           AND b.project_id = :project_id
           AND b.to_n = :n
           AND b.type > 'depends_on'
         ORDER BY type, from_n
         LIMIT :at_most) AS d
  JOIN work_nodes AS f
    ON f.tenant_id = :tenant_id
   AND f.project_id = :project_id
   AND f.n = d.from_n
 ORDER BY d.type, f.n;

-- name: project_overviews
-- The goals of some projects, the numbers of their nodes, and of their open top-level nodes.
SELECT p.project_id, r.summary, r.open_children, p.total, p.resolved, p.total - p.resolved AS unresolved, p.blocked,
       p.actionable
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

-- name: top_level
-- Children of the root, the open ones first; of very many, only the oldest and the newest are considered.
SELECT c.id, c.summary, c.resolved, c.open_children
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
-- The summaries of some nodes. By id alone: with the project, SQLite would read all of its nodes.
SELECT c.id, c.summary
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids));

-- name: lineage
-- A node and its nearest ancestors with their links, nearest first.
WITH RECURSIVE above (id, context_links, parent_n, distance) AS (
    SELECT c.id, c.context_links, c.parent_n, 1
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.id, c.context_links, c.parent_n, above.distance + 1
      FROM above
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = above.parent_n
     WHERE above.distance < :at_most
)
SELECT id, context_links
  FROM above
 ORDER BY distance;

-- name: resolved_dependencies
-- The resolved dependencies of a node, the latest first, and how many there are.
SELECT c.n, c.id, c.summary, count(*) OVER () AS total
  {from_resolved_dependencies}
 LIMIT :at_most;

-- name: resolved_siblings
-- The resolved ones among the siblings that were planned just before a node, the nearest first.
SELECT near.n, near.id, near.summary, 0 AS total
  FROM (SELECT c.n, c.id, c.summary, c.resolved
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.parent_n = :parent_n
           AND c.n < :n
         ORDER BY c.n DESC
         LIMIT :looked_through) AS near
 WHERE near.resolved
 ORDER BY near.n DESC;
