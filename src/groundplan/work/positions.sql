-- name: nodes_and_ancestors
-- These nodes and all of their ancestors, each once.
WITH RECURSIVE chain (n, parent_n, kind, is_waiting, depth, feature_n, blocked_above) AS (
    SELECT c.n, c.parent_n, c.kind, {is_waiting}, c.depth, c.feature_n, c.blocked_above
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
    UNION
    SELECT c.n, c.parent_n, c.kind, {is_waiting}, c.depth, c.feature_n, c.blocked_above
      FROM chain AS walk
      {join_parent}
)
SELECT n, parent_n, kind, is_waiting, depth, feature_n, blocked_above
  FROM chain;

-- part: is_waiting
(c.open_deps > 0 OR c.held_reason IS NOT NULL)

-- name: outdated_positions
-- The nodes below these whose position does not follow from the position of their parent, with the differences. The
-- positions of the given nodes are right. Below a node whose position is right, the search ends.
WITH RECURSIVE walked (n, depth_by, blocked_by, leaves_feature, depth, feature_n, feature_below, blocked_below) AS (
    SELECT c.n, CAST(0 AS bigint), CAST(0 AS bigint), false, c.depth, c.feature_n,
           CASE WHEN c.kind = 'feature' THEN c.n ELSE c.feature_n END,
           c.blocked_above + {is_blocking}
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
    UNION ALL
    SELECT c.n, walk.depth + 1 - c.depth, walk.blocked_below - c.blocked_above,
           coalesce(c.feature_n, 0) <> coalesce(walk.feature_below, 0), walk.depth + 1, walk.feature_below,
           CASE WHEN c.kind = 'feature' THEN c.n ELSE walk.feature_below END,
           walk.blocked_below + {is_blocking}
      FROM walked AS walk
      {join_children}
     WHERE c.depth <> walk.depth + 1
        OR c.blocked_above <> walk.blocked_below
        OR coalesce(c.feature_n, 0) <> coalesce(walk.feature_below, 0)
)
SELECT n, depth_by, blocked_by, feature_n, leaves_feature
  FROM walked
 WHERE depth_by <> 0
    OR blocked_by <> 0
    OR leaves_feature;

-- part: is_blocking
-- 1 if a node blocks everything below it, else 0.
CASE WHEN {is_waiting} AND (:inherits OR coalesce(c.kind = 'feature', false))
                THEN 1 ELSE 0 END

-- name: changes_of_blocked_above
-- Every node whose number of ancestors that block it differs from the stored one, with the difference: waiting features
-- block, and with `inherits` all waiting ancestors. A walk over the whole project, which joins nothing to what it found:
-- PostgreSQL would read the project for each node, for as long as it was not analyzed.
WITH RECURSIVE held (n, stored, blocked_above, passes_on) AS (
    SELECT c.n, c.blocked_above, CAST(0 AS bigint), {is_blocking}
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = 1
    UNION ALL
    SELECT c.n, c.blocked_above, walk.blocked_above + walk.passes_on, {is_blocking}
      FROM held AS walk
      {join_children}
)
SELECT n, blocked_above - stored
  FROM held
 WHERE blocked_above <> stored;

-- name: shift_depth
-- Add to the depth of nodes.
UPDATE work_nodes
   SET depth = depth + :depth_by
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: shift_blocked_above
-- Add to the number of ancestors that block these nodes.
UPDATE work_nodes
   SET blocked_above = blocked_above + :blocked_by
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: shift_positions
-- Add to the depth of nodes and to the number of ancestors that block them, and set their feature if it changes.
UPDATE work_nodes
   SET depth = depth + :depth_by,
       blocked_above = blocked_above + :blocked_by,
       feature_n = CASE WHEN :leaves_feature THEN CAST(:feature_n AS bigint) ELSE feature_n END
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: ancestors_to_depth
-- A node and its ancestors, up to a depth.
WITH RECURSIVE chain (n, parent_n, depth) AS (
    SELECT c.n, c.parent_n, c.depth
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.n, c.parent_n, c.depth
      FROM chain AS walk
      {join_parent}
     WHERE walk.depth > :depth
)
SELECT n
  FROM chain;

-- name: ids_from_below
-- Return the ids of some nodes of a project, the deepest first.
SELECT c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids))
   AND c.project_id = :project_id
 ORDER BY c.depth DESC, c.n;
