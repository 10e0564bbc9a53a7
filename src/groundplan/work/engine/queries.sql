-- The queries of the rules of the work graph.

-- name: nodes
-- Nodes by number, each with the id of its parent.
SELECT {node}, p.id AS parent
  FROM work_nodes AS c
  LEFT JOIN work_nodes AS p
    ON p.tenant_id = c.tenant_id
   AND p.project_id = c.project_id
   AND p.n = c.parent_n
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: kind_of_node
-- The kind of a node of any project.
SELECT c.kind
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = :n;

-- name: newest_evidence
-- The newest evidence of some nodes, a few of each, in the order in which it was added.
SELECT {e.evidence}
  FROM work_evidence AS e
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   AND e.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND e.k > (SELECT max(m.k)
                FROM work_evidence AS m
               WHERE m.tenant_id = :tenant_id
                 AND m.project_id = :project_id
                 AND m.node_n = e.node_n) - CAST(:at_most AS bigint)
 ORDER BY e.node_n, e.k;

-- name: node_by_id
-- The project, number and id of a node.
SELECT project_id, n, id
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: nodes_by_alias
-- The nodes with an alias: the project, number and id of each.
SELECT c.project_id, c.n, c.id
  FROM work_aliases AS a
  JOIN work_nodes AS c
    ON c.tenant_id = a.tenant_id
   AND c.project_id = a.project_id
   AND c.n = a.node_n
 WHERE a.tenant_id = :tenant_id
   AND a.alias = :alias
 ORDER BY c.id;

-- name: link_targets
-- The id, kind and summary of the nodes of a project with these ids.
SELECT c.id, c.kind, c.summary
  FROM each(:ids) AS k
 CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id = k.value
   AND c.project_id = :project_id;

-- name: nodes_by_prefix
-- Nodes whose id is between two texts: those with the same prefix.
SELECT project_id, n, id
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND id >= :first
   AND id < :behind
 ORDER BY id
 LIMIT :at_most;

-- name: removed_node
-- The project of a node that was merged away or deleted, and the node it was merged into.
SELECT project_id, into_id
  FROM work_merged
 WHERE tenant_id = :tenant_id
   AND id = :id
UNION ALL
SELECT project_id, NULL
  FROM work_deleted
 WHERE tenant_id = :tenant_id
   AND id = :id
   AND thing = 'node';

-- name: find_unused_ids
-- The ids among these that no node of the organization has, or had before a merge or a deletion.
SELECT proposed.value
  FROM each(:ids) AS proposed
 WHERE NOT EXISTS (SELECT 1 FROM work_nodes AS c WHERE c.tenant_id = :tenant_id AND c.id = proposed.value)
   AND NOT EXISTS (SELECT 1 FROM work_merged AS m WHERE m.tenant_id = :tenant_id AND m.id = proposed.value)
   AND NOT EXISTS (SELECT 1 FROM work_deleted AS g WHERE g.tenant_id = :tenant_id AND g.id = proposed.value);

-- name: add_work_project
-- Add the row with the counts of a project. No row means that the number is in use.
INSERT INTO work_projects (tenant_id, project_id, number, last_n, total, resolved, blocked, actionable, pipelines,
                           features, tasks, tasks_closed, tasks_dropped, is_ordered)
VALUES (:tenant_id, :project_id, :number, 1, 1, 0, 0, 0, :pipelines, 0, 0, 0, 0, true)
    ON CONFLICT DO NOTHING;

-- name: add_nodes
-- Insert new nodes, parents first.
INSERT INTO work_nodes (tenant_id, project_id, {position}, {content}, {imported}, order_key,
                        rev, claim_number, changed_rev, created_at, created_by, updated_at, updated_by)
VALUES (:tenant_id, :project_id, {position:values}, {content:values}, {imported:values}, :order_key, 1, 0, :changed_rev,
        :now, :actor_id, :now, :actor_id);

-- name: index_summaries
-- Add the summaries of new nodes to the text index. The key of a text is made of the project's and the node's number.
INSERT INTO work_text (rowid, summary)
VALUES (:key, lower(:summary));

-- name: project_number
-- The number of a project, with which the keys of its texts begin.
SELECT number
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: add_edge
-- Add an edge. No row means that it exists already.
INSERT INTO work_edges (tenant_id, project_id, from_n, type, to_n)
VALUES (:tenant_id, :project_id, :from_n, :type, :to_n)
    ON CONFLICT DO NOTHING;

-- name: remove_edge
-- Remove an edge.
DELETE FROM work_edges
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND from_n = :from_n
   AND type = :type
   AND to_n = :to_n;

-- name: add_evidence
-- Append evidence to a node.
INSERT INTO work_evidence (tenant_id, project_id, {evidence})
VALUES (:tenant_id, :project_id, {evidence:values});

-- name: update_counts
-- Add the changes of a write to the counts of a project.
UPDATE work_projects
   SET last_n = last_n + :made,
       total = total + :total,
       resolved = resolved + :resolved,
       blocked = blocked + :blocked,
       actionable = actionable + :actionable,
       features = features + :features,
       tasks = tasks + :tasks,
       tasks_closed = tasks_closed + :tasks_closed,
       tasks_dropped = tasks_dropped + :tasks_dropped
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: update_feature_counts
-- Add the changes of a write to the counts of a feature.
UPDATE work_features
   SET tasks = tasks + :tasks,
       tasks_closed = tasks_closed + :tasks_closed,
       tasks_dropped = tasks_dropped + :tasks_dropped
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- part: flags
-- The state of a node as a number, of the flags that `state_changes.py` names.
CASE WHEN resolved THEN 1 ELSE 0 END
       + CASE WHEN outcome IS NOT NULL THEN 2 ELSE 0 END
       + CASE WHEN is_ready THEN 4 ELSE 0 END
       + CASE WHEN is_blocked THEN 8 ELSE 0 END
       + CASE WHEN kind IS NULL OR kind = 'task' THEN 32 WHEN kind = 'feature' THEN 16 ELSE 0 END

-- name: node_flags
-- The state of some nodes, and their features.
SELECT n, {flags}, feature_n
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

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

-- name: node_summaries
-- The ids and summaries of some nodes.
SELECT c.n, c.id, c.summary
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: best_of_nodes
-- The ids and summaries of some nodes, in the order in which they are offered.
SELECT c.id, c.summary
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
 LIMIT :at_most;

-- name: node_by_number
-- All fields of a node, by its number.
SELECT {node}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = :n;

-- name: node_by_own_id
-- All fields of a node of the project, by its whole id. `IS TRUE` keeps PostgreSQL from reading the whole project, which
-- it takes for empty as long as the table was not analyzed.
SELECT {node}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id = :id
   AND (c.project_id = :project_id) IS TRUE;

-- name: update_node
-- Write the fields of a node under its next revision.
UPDATE work_nodes
   SET rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id,
       {content:set}, {progress:set}
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: update_progress
-- Do the same for a node whose content is as before: SQLite updates every index of a column that is set, whether its
-- value changes or not.
UPDATE work_nodes
   SET rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id,
       {progress:set}
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: touch_node
-- Increment the revision of a node for a change outside its row, such as a new edge.
UPDATE work_nodes
   SET rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

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

-- name: dependents
-- The nodes that depend on these, once per dependency. The caller counts: with GROUP BY, SQLite would read every edge.
SELECT d.from_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND d.type = 'depends_on';

-- name: open_nodes_among
-- The nodes among these that are open.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND NOT c.resolved;

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

-- name: resolve_nodes
-- Resolve nodes; everything below them must be resolved with them.
UPDATE work_nodes
   SET resolved = true,
       outcome = :outcome,
       status = NULL,
       open_children = 0,
       claimed_by = NULL,
       claimed_at = NULL,
       claimed_until = NULL,
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
SELECT c.n, c.parent_n, c.id, c.kind, c.status, c.claimed_by, c.claimed_until, c.blocked_above, {evidence_total}
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

-- name: set_parent
-- Move nodes under another parent.
UPDATE work_nodes
   SET parent_n = :parent_n,
       rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: open_subtree
-- A node and every open node below it. Below a resolved node nothing is open.
WITH RECURSIVE below (n, id, parent_n) AS (
    SELECT c.n, c.id, c.parent_n
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.n, c.id, c.parent_n
      FROM below AS walk
      {join_children}
     WHERE NOT c.resolved
)
SELECT n, id, parent_n
  FROM below;

-- name: live_claims_of_others
-- The live claims of other actors. In no order, so that SQLite takes the index of the claimed and not the order of the key.
SELECT c.n, c.id, c.claimed_by, c.claimed_until
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND c.claimed_by <> :actor_id
   AND coalesce(c.claimed_until > :now, true);

-- name: add_evidence_to_all
-- Append the same evidence to many nodes.
INSERT INTO work_evidence (tenant_id, project_id, {evidence})
SELECT c.tenant_id, c.project_id, c.n,
       (SELECT coalesce(max(e.k), 0) + 1
          FROM work_evidence AS e
         WHERE e.tenant_id = c.tenant_id
           AND e.project_id = c.project_id
           AND e.node_n = c.n),
       :type, :ref, :actor_id, :now
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: children
-- The children of a node.
SELECT c.n, c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = :n
 ORDER BY c.n;

-- name: edges_of_node
-- Every edge of a node, with the id of the node at its other end and whether that node is open.
SELECT d.from_n, d.type, d.to_n, o.id AS other_id, NOT o.resolved AS other_is_open
  FROM work_edges AS d
  JOIN work_nodes AS o
    ON o.tenant_id = d.tenant_id
   AND o.project_id = d.project_id
   AND o.n = d.to_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n = :n
UNION ALL
SELECT d.from_n, d.type, d.to_n, o.id AS other_id, NOT o.resolved AS other_is_open
  FROM work_edges AS d
  JOIN work_nodes AS o
    ON o.tenant_id = d.tenant_id
   AND o.project_id = d.project_id
   AND o.n = d.from_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n = :n;

-- name: evidence_of_node
-- All evidence of a node, oldest first.
SELECT {evidence}
  FROM work_evidence
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n
 ORDER BY k;

-- name: remove_evidence
-- Remove the evidence of a node that is merged into another.
DELETE FROM work_evidence
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n;

-- name: remove_node
-- Remove a node that was merged into another or deleted.
DELETE FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: remove_feature
-- Remove the task counts of a feature that is being removed.
DELETE FROM work_features
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: sections_of
-- The sections of a node, in their order.
SELECT id, title
  FROM work_sections
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n
 ORDER BY ordinal;

-- name: next_ordinal
-- The ordinal after the last section of a node, and the number of its sections.
SELECT coalesce(max(ordinal) + 1, 0), count(*)
  FROM work_sections
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n;

-- name: move_sections
-- Move the sections of a node after those of another.
UPDATE work_sections
   SET node_n = :to_n,
       ordinal = ordinal + :by,
       version = version + 1,
       modified_at = :now,
       modified_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n;

-- name: tags_of_node
-- The tags of a node.
SELECT tag
  FROM work_node_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n
 ORDER BY tag;

-- name: add_tag
-- Add a tag to a node, unless it has the tag already.
INSERT INTO work_node_tags (tenant_id, project_id, node_n, tag)
VALUES (:tenant_id, :project_id, :n, :tag)
    ON CONFLICT DO NOTHING;

-- name: remove_tags
-- Remove the tags of a node.
DELETE FROM work_node_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n;

-- name: record_merge
-- Record which node a node was merged into.
INSERT INTO work_merged (tenant_id, id, project_id, into_id)
VALUES (:tenant_id, :id, :project_id, :into_id);

-- name: leases_after
-- The claims of a project that end after a moment.
SELECT c.n, c.id AS node_id, c.claimed_until
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND c.claimed_until > :moment;

-- name: move_lease
-- Store another end of a claim, with the next revision of its node.
UPDATE work_nodes
   SET claimed_until = :claimed_until,
       rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;
