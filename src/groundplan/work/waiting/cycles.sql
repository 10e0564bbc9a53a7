-- name: nodes_with_open_dependencies
-- Every open node of a project that depends on an open node. Such a node is blocked, and the blocked have an index.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.is_blocked
   AND c.open_deps > 0;

-- name: waiting_moments
-- Some moments of open nodes, and every moment that waits for one of them, directly or not. Each node has a start, which
-- is twice its number, and a finish, which is one more. The finish of a node waits for its start, the finish of a parent
-- for the finishes of its children, the start of a dependent for the finish of its target. With `inherits` the start of
-- a node waits for the start of its parent, else for the start of its feature.
WITH RECURSIVE reached (moment) AS (
    SELECT CAST(value AS bigint)
      FROM each(:moments) AS start
    UNION
    SELECT reached.moment + 1
      FROM reached
     WHERE reached.moment % 2 = 0
    UNION
    SELECT c.parent_n * 2 + 1
      FROM reached
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = reached.moment / 2
     WHERE reached.moment % 2 = 1
       AND c.parent_n IS NOT NULL
    UNION
    SELECT d.from_n * 2
      FROM reached
     CROSS JOIN work_edges AS d
        ON d.tenant_id = :tenant_id
       AND d.project_id = :project_id
       AND d.to_n = reached.moment / 2
       AND d.type = 'depends_on'
      JOIN work_nodes AS c
        ON c.tenant_id = d.tenant_id
       AND c.project_id = d.project_id
       AND c.n = d.from_n
       AND NOT c.resolved
     WHERE reached.moment % 2 = 1
    UNION
    SELECT c.n * 2
      FROM reached
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = reached.moment / 2
       AND NOT c.resolved
     WHERE reached.moment % 2 = 0
       AND :inherits
    UNION
    SELECT c.n * 2
      FROM reached
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.feature_n = reached.moment / 2
       AND NOT c.resolved
     WHERE reached.moment % 2 = 0
       AND NOT :inherits
)
SELECT moment
  FROM reached
 LIMIT :at_most;

-- name: awaited_moments
-- Some moments of open nodes, and every moment that one of them waits for, directly or not: see waiting_moments.
WITH RECURSIVE reached (moment) AS (
    SELECT CAST(value AS bigint)
      FROM each(:moments) AS start
    UNION
    SELECT reached.moment - 1
      FROM reached
     WHERE reached.moment % 2 = 1
    UNION
    SELECT c.n * 2 + 1
      FROM reached
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = reached.moment / 2
       AND NOT c.resolved
     WHERE reached.moment % 2 = 1
    UNION
    SELECT d.to_n * 2 + 1
      FROM reached
     CROSS JOIN work_edges AS d
        ON d.tenant_id = :tenant_id
       AND d.project_id = :project_id
       AND d.from_n = reached.moment / 2
       AND d.type = 'depends_on'
      JOIN work_nodes AS c
        ON c.tenant_id = d.tenant_id
       AND c.project_id = d.project_id
       AND c.n = d.to_n
       AND NOT c.resolved
     WHERE reached.moment % 2 = 0
    UNION
    SELECT CASE WHEN :inherits THEN c.parent_n ELSE c.feature_n END * 2
      FROM reached
      JOIN work_nodes AS c
        ON c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = reached.moment / 2
     WHERE reached.moment % 2 = 0
       AND CASE WHEN :inherits THEN c.parent_n ELSE c.feature_n END IS NOT NULL
)
SELECT moment
  FROM reached
 LIMIT :at_most;

-- name: chain_of_waits
-- A node, the first open node that it waits for, the first one that this waits for, and so on: each with its first open
-- dependency, or else its first open child. The chain ends at a node that waits for nothing, or before it repeats.
WITH RECURSIVE chain (n) AS (
    SELECT CAST(:n AS bigint)
    UNION
    SELECT coalesce(({first_open_dependency}), ({first_open_child}))
      FROM chain AS walk
     WHERE walk.n IS NOT NULL
)
SELECT walk.n, ({first_open_dependency}) AS dependency, ({first_open_child}) AS child
  FROM chain AS walk
 WHERE walk.n IS NOT NULL
 LIMIT :at_most;

-- name: parents_among
-- The parents and features of some nodes. The root is included: with a condition on the parent, SQLite would read every
-- node that has one.
SELECT c.n, c.parent_n, c.feature_n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: dependents_among
-- The dependencies on some nodes.
SELECT d.from_n, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND d.type = 'depends_on';

-- name: dependencies_among
-- The dependencies of some nodes.
SELECT d.from_n, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND d.type = 'depends_on';

-- name: node_ids
-- The ids of some nodes.
SELECT c.n, c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));
