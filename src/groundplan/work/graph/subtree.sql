-- name: children_after
-- The first children of a node after one of them, in order of creation.
SELECT c.parent_n, c.n, c.id, c.summary, c.resolved, c.outcome, c.state
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = :n
   AND c.n > :after
 ORDER BY c.n
 LIMIT :at_most;

-- name: count_children_after
-- The number of these children.
SELECT count(*)
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = :n
   AND c.n > :after;

-- name: children_by_number
-- Some nodes that are children of others.
SELECT c.parent_n, c.n, c.id, c.summary, c.resolved, c.outcome, c.state
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

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
SELECT c.parent_n, c.n, c.id, c.summary, c.resolved, c.outcome, c.state
  FROM wanted
  JOIN work_nodes AS c
    ON c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = wanted.parent_n
   AND c.n < coalesce(wanted.behind_n, 9223372036854775807)
 ORDER BY c.n;
