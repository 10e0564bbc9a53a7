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

-- name: root_ancestor
-- The root of the project.
SELECT c.id, c.summary, c.resolved, c.depth
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = 1;

-- name: child_counts
-- The number of children of some nodes. One count per node: a join could be planned as a scan of the whole project.
SELECT wanted.value,
       (SELECT count(*)
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.parent_n = wanted.value)
  FROM each_number(:ns) AS wanted;

-- name: first_children
-- The first children of some nodes, at most `of_each` per node, in order of creation. Materialized, otherwise SQLite
-- would read every node of the project.
WITH wanted (parent_n, behind_n) AS MATERIALIZED (
    SELECT one.value,
           (SELECT c.n
              FROM work_nodes AS c
             WHERE c.tenant_id = :tenant_id
               AND c.project_id = :project_id
               AND c.parent_n = one.value
             ORDER BY c.n
             LIMIT 1 OFFSET :of_each)
      FROM each_number(:ns) AS one
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
