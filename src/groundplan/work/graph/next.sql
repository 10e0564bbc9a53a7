-- name: open_targets_of
-- A few open dependencies of a node.
SELECT t.id, t.summary
  FROM work_edges AS d
  JOIN work_nodes AS t
    ON t.tenant_id = d.tenant_id
   AND t.project_id = d.project_id
   AND t.n = d.to_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n = :n
   AND d.type = 'depends_on'
   AND NOT t.resolved
 ORDER BY d.to_n
 LIMIT :at_most;

-- name: blocked_ancestors_of
-- The ancestors that block a node, the nearest first.
{walk_above}
SELECT c.n, c.id, c.summary, c.held_reason
  {blocked_ancestors};

-- name: node_with_property
-- A node with a property of this name. It reads all nodes if there is none, so ask only about a filter that found none.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND EXISTS (SELECT 1 FROM json_each(c.properties) AS has WHERE has.key = :name)
 LIMIT 1;

-- part: may_be_offered
-- Whether a claimed node may be offered to the actor: the claim is the actor's own, or expired.
(c.claimed_by = :actor_id OR c.claimed_until <= :now)

-- part: is_ready
c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.is_ready

-- part: order_by_rank
ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n

-- name: ready_node
-- A node, if it is ready.
SELECT c.n
  FROM work_nodes AS c
 WHERE {is_ready}
           AND c.n = :n;

-- name: next_nodes
-- The best ready nodes that are unclaimed, and the best whose claim is the actor's own or expired, merged: two seeks. The
-- first of them says whether others work in the project.
SELECT *
  FROM (SELECT *
          FROM (SELECT {node}, NULL AS parent, {others_work}
                  FROM work_nodes AS c
                 WHERE {is_ready}
                   AND c.claimed_by IS NULL
                 {order_by_rank}
                 LIMIT :at_most) AS unclaimed
         UNION ALL
        SELECT *
          FROM (SELECT {node}, NULL AS parent, CAST(NULL AS boolean) AS others_work
                  FROM work_nodes AS c
                 WHERE {is_ready}
                   AND c.claimed_by IS NOT NULL
                   AND {may_be_offered}
                 {order_by_rank}
                 LIMIT :at_most) AS claimed) AS c
 {order_by_rank}
 LIMIT :at_most;

-- name: next_matching
-- The same among nodes with the wanted properties.
SELECT *
  FROM (SELECT *
          FROM (SELECT {node}
                  FROM work_nodes AS c
                 WHERE {is_ready}
                   AND c.claimed_by IS NULL
                   AND {has_wanted_properties}
                   AND {has_wanted_claim}
                 {order_by_rank}
                 LIMIT :at_most) AS unclaimed
         UNION ALL
        SELECT *
          FROM (SELECT {node}
                  FROM work_nodes AS c
                 WHERE {is_ready}
                   AND c.claimed_by IS NOT NULL
                   AND {may_be_offered}
                   AND {has_wanted_properties}
                   AND {has_wanted_claim}
                 {order_by_rank}
                 LIMIT :at_most) AS claimed) AS c
 {order_by_rank}
 LIMIT :at_most;

-- name: next_below
-- The same among the nodes below another. Below a resolved node nothing is open, so the walk stops there.
WITH RECURSIVE below (n) AS (
    SELECT CAST(:scope AS bigint)
    UNION ALL
    SELECT c.n
      FROM below AS walk
      {join_children}
     WHERE NOT c.resolved
)
SELECT {node}
  FROM below AS walk
  {join_node}
 WHERE c.is_ready
   AND c.n <> :scope
   AND (c.claimed_by IS NULL OR {may_be_offered})
   AND {has_wanted_properties}
   AND {has_wanted_claim}
 {order_by_rank}
 LIMIT :at_most;

-- name: surroundings
-- The ancestors of a node from `first_n` on with their links, of very many the nearest; and its resolved dependencies
-- before `before`, the last planned first, which have no depth here. One statement, because each is a round trip on a
-- server.
WITH RECURSIVE above (n, parent_n, id, summary, resolved, outcome, context_links, depth, step) AS (
    SELECT c.n, c.parent_n, c.id, c.summary, c.resolved, c.outcome, c.context_links, c.depth, 1
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = CAST(:first_n AS bigint)
    UNION ALL
    SELECT c.n, c.parent_n, c.id, c.summary, c.resolved, c.outcome, c.context_links, c.depth, walk.step + 1
      FROM above AS walk
      {join_parent}
     WHERE walk.step < :at_most
)
SELECT n, parent_n, id, summary, resolved, outcome, context_links, depth, 0 AS evidence_total, 0 AS changed_rev
  FROM above
 UNION ALL
SELECT *
  FROM (SELECT c.n, c.parent_n, c.id, c.summary, c.resolved, c.outcome, '[]' AS context_links, -1 AS depth, {evidence_total},
               c.changed_rev
          {from_resolved_dependencies_before}
         ORDER BY d.to_n DESC
         LIMIT :at_most) AS dependencies;

-- name: count_resolved_dependencies
-- The number of these dependencies of a node.
SELECT count(*)
  {from_resolved_dependencies_before};

-- part: from_resolved_dependencies_before
-- The resolved dependencies of a node before one of them.
FROM work_edges AS d
  JOIN work_nodes AS c
    ON c.tenant_id = d.tenant_id
   AND c.project_id = d.project_id
   AND c.n = d.to_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n = :n
   AND d.type = 'depends_on'
   AND d.to_n < :before
   AND c.resolved
