-- name: evidence_before
-- The evidence of a node before an entry, the newest first.
SELECT {evidence}
  FROM work_evidence
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n
   AND k < :before
 ORDER BY k DESC
 LIMIT :at_most;

-- part: from_merged_before
-- The nodes that were merged into a node before another one.
FROM work_merged_texts AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.node_n = :n
   AND (m.rev < :rev OR (m.rev = :rev AND m.id < :id))

-- name: merged_before
-- Those nodes, the last merged first.
SELECT m.node_n, m.id, m.summary, m.description, m.rev
  {from_merged_before}
 ORDER BY m.rev DESC, m.id DESC
 LIMIT :at_most;

-- name: count_merged_before
-- The number of these nodes.
SELECT count(*)
  {from_merged_before};

-- name: ancestors
-- A node and its nearest ancestors, beginning with the node.
WITH RECURSIVE above (n, parent_n, id, summary, resolved, outcome, context_links, depth, step) AS (
    SELECT c.n, c.parent_n, c.id, c.summary, c.resolved, c.outcome, c.context_links, c.depth, 1
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.n, c.parent_n, c.id, c.summary, c.resolved, c.outcome, c.context_links, c.depth, walk.step + 1
      FROM above AS walk
      {join_parent}
     WHERE walk.step < :at_most
)
SELECT n, parent_n, id, summary, resolved, outcome, context_links, depth
  FROM above
 ORDER BY step;

-- name: root_ancestor
-- The root of the project.
SELECT c.n, c.parent_n, c.id, c.summary, c.resolved, c.outcome, c.context_links, c.depth
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = 1;
