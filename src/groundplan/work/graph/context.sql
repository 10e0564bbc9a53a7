-- name: dependencies
-- The first dependencies of a node after one of them, and whether they are resolved.
SELECT t.n, t.resolved
  FROM (SELECT d.to_n
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n = :n
           AND d.type = 'depends_on'
           AND d.to_n > :after
         ORDER BY d.to_n
         LIMIT :at_most) AS waited
  JOIN work_nodes AS t
    ON t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.n = waited.to_n
 ORDER BY t.n;

-- name: dependents
-- The first dependents of a node after one of them, and whether they are resolved.
SELECT f.n, f.resolved
  FROM (SELECT d.from_n
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.to_n = :n
           AND d.type = 'depends_on'
           AND d.from_n > :after
         ORDER BY d.from_n
         LIMIT :at_most) AS waiting
  JOIN work_nodes AS f
    ON f.tenant_id = :tenant_id
   AND f.project_id = :project_id
   AND f.n = waiting.from_n
 ORDER BY f.n;

-- name: count_dependencies
-- The number of the dependencies of a node after one of them.
SELECT count(*)
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n = :n
   AND d.type = 'depends_on'
   AND d.to_n > :after;

-- name: count_dependents
-- The number of the dependents of a node after one of them.
SELECT count(*)
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n = :n
   AND d.type = 'depends_on'
   AND d.from_n > :after;

-- name: related_out
-- The targets of the other edges of a node after one of them. Two ranges of types, so that dependencies are skipped at
-- no cost.
SELECT t.n, t.id, d.type, t.summary
  FROM (SELECT a.type, a.to_n
          FROM work_edges AS a
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = :project_id
           AND a.from_n = :n
           AND a.type < 'depends_on'
           AND (a.type, a.to_n) > (:type, :after)
        UNION ALL
        SELECT b.type, b.to_n
          FROM work_edges AS b
         WHERE b.tenant_id = :tenant_id
           AND b.project_id = :project_id
           AND b.from_n = :n
           AND b.type > 'depends_on'
           AND (b.type, b.to_n) > (:type, :after)
         ORDER BY type, to_n
         LIMIT :at_most) AS d
  JOIN work_nodes AS t
    ON t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.n = d.to_n
 ORDER BY d.type, t.n;

-- name: related_in
-- The sources of the other edges that lead to a node, after one of them.
SELECT f.n, f.id, d.type, f.summary
  FROM (SELECT a.type, a.from_n
          FROM work_edges AS a
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = :project_id
           AND a.to_n = :n
           AND a.type < 'depends_on'
           AND (a.type, a.from_n) > (:type, :after)
        UNION ALL
        SELECT b.type, b.from_n
          FROM work_edges AS b
         WHERE b.tenant_id = :tenant_id
           AND b.project_id = :project_id
           AND b.to_n = :n
           AND b.type > 'depends_on'
           AND (b.type, b.from_n) > (:type, :after)
         ORDER BY type, from_n
         LIMIT :at_most) AS d
  JOIN work_nodes AS f
    ON f.tenant_id = :tenant_id
   AND f.project_id = :project_id
   AND f.n = d.from_n
 ORDER BY d.type, f.n;

-- name: count_related_out
-- The number of these targets.
SELECT count(*)
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n = :n
   AND d.type <> 'depends_on'
   AND (d.type, d.to_n) > (:type, :after);

-- name: count_related_in
-- The number of these sources.
SELECT count(*)
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n = :n
   AND d.type <> 'depends_on'
   AND (d.type, d.from_n) > (:type, :after);
