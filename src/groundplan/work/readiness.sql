-- part: conditions
-- Whether an open node could be started but for its open children and dependencies, and whether it is blocked by
-- something else than them, of the flags that `state_changes.py` names.
CASE WHEN NOT resolved AND blocked_above = 0 AND held_reason IS NULL AND parent_n IS NOT NULL
                 AND kind IS DISTINCT FROM 'feature' AND (status IS NULL OR status = 'ACTIVE')
            THEN 1 ELSE 0 END
       + CASE WHEN NOT resolved AND (blocked_above > 0 OR held_reason IS NOT NULL) THEN 2 ELSE 0 END

-- part: neighbour
n, {flags} AS flags, feature_n, open_children, open_deps, {conditions} AS conditions

-- name: flags_around
-- The state of a node and of its parent, and of the nodes that depend on it. Two seeks by number: for IN, SQLite makes a
-- table of the two numbers first.
SELECT {neighbour}, 0 AS is_dependent
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n
 UNION ALL
SELECT {neighbour}, 0 AS is_dependent
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :parent_n
 UNION ALL
SELECT {neighbour}, 1 AS is_dependent
  FROM work_edges AS d
  JOIN work_nodes AS c
    ON c.tenant_id = d.tenant_id
   AND c.project_id = d.project_id
   AND c.n = d.from_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n = :n
   AND d.type = 'depends_on';

-- name: adjust_open_children
-- Add to the number of open children of these nodes.
UPDATE work_nodes
   SET open_children = open_children + :by
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: adjust_open_children_of_one
-- Add to the number of open children of one node: a list takes SQLite half as long again.
UPDATE work_nodes
   SET open_children = open_children + :by
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: adjust_open_dependencies_of_one
-- Add to the number of open dependencies of one node.
UPDATE work_nodes
   SET open_deps = open_deps + :by
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: adjust_open_dependencies
-- Add to the number of open dependencies of these nodes.
UPDATE work_nodes
   SET open_deps = open_deps + :by
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: adjust_and_list_waiting
-- Do the same, and return the nodes: those that start or stop waiting may block what is below them.
UPDATE work_nodes
   SET open_deps = open_deps + :by
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns))
RETURNING n, open_deps, kind, held_reason;

-- name: resolved_nodes_among
-- The nodes among these that are resolved.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND c.resolved;

-- name: resolved_ancestors
-- A node and its ancestors, up to the first that is not resolved.
WITH RECURSIVE chain (n, parent_n) AS (
    SELECT c.n, c.parent_n
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
       AND c.resolved
    UNION ALL
    SELECT c.n, c.parent_n
      FROM chain AS walk
      {join_parent}
     WHERE c.resolved
)
SELECT n, parent_n
  FROM chain;

-- name: nodes_to_reopen
-- Nodes as they are before they are reopened.
SELECT c.n, c.id, c.kind, c.outcome
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: reopen_nodes
-- Reopen nodes. A reopened feature becomes active, because it was worked on.
UPDATE work_nodes
   SET resolved = false,
       outcome = NULL,
       status = CASE WHEN kind = 'feature' THEN 'ACTIVE' END,
       rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: finished_parents
-- The nodes among these with nothing left to do: features without open children, and other nodes that could be started
-- if no ancestor blocks them. The stored number of these ancestors may be outdated here.
SELECT c.n, c.parent_n, c.id, c.kind, c.status, c.claimed_by, c.claimed_at, c.claimed_until, c.blocked_above,
       {evidence_total}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND NOT c.resolved
   AND c.open_children = 0
   AND (c.kind = 'feature'
        OR (c.open_deps = 0
            AND c.held_reason IS NULL
            AND c.parent_n IS NOT NULL
            AND (c.status IS NULL OR c.status = 'ACTIVE')));

-- name: feature_has_done_node
-- Whether a node of a feature was resolved and not dropped. A walk, because stored features of nodes may be outdated.
WITH RECURSIVE below (n, is_nested_feature, is_done) AS (
    SELECT c.n, false, false
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.n, coalesce(c.kind = 'feature', false), c.resolved AND c.outcome IS NULL
      FROM below AS walk
      {join_children}
     WHERE NOT walk.is_nested_feature
)
SELECT 1
  FROM below
 WHERE is_done
 LIMIT 1;

-- name: begin_feature
-- Make a new feature active, because work on one of its tasks began.
UPDATE work_nodes
   SET status = 'ACTIVE',
       rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n
   AND status IS NULL
   AND NOT resolved
RETURNING id, feature_n;

-- name: has_started_node
-- Whether one of these nodes or a node below them, other than a feature, was started and is still open.
WITH RECURSIVE below (n, is_started) AS (
    SELECT c.n, {is_started}
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
       AND NOT c.resolved
    UNION ALL
    SELECT c.n, {is_started}
      FROM below AS walk
      {join_children}
     WHERE NOT c.resolved
)
SELECT 1
  FROM below
 WHERE is_started
 LIMIT 1;

-- part: is_started
(c.kind IS NULL OR c.kind <> 'feature')
           AND coalesce(c.status = 'ACTIVE', c.claimed_by IS NOT NULL AND coalesce(c.claimed_until > :now, true))

-- name: is_new_feature
-- Whether a feature is open and work on it has not begun.
SELECT 1
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = :n
   AND c.status IS NULL
   AND NOT c.resolved;
