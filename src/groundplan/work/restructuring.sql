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
WITH RECURSIVE below (n, id, parent_n, status, claimed_by, claimed_at, claimed_until) AS (
    SELECT c.n, c.id, c.parent_n, c.status, c.claimed_by, c.claimed_at, c.claimed_until
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT c.n, c.id, c.parent_n, c.status, c.claimed_by, c.claimed_at, c.claimed_until
      FROM below AS walk
      {join_children}
     WHERE NOT c.resolved
)
SELECT n, id, parent_n, status, claimed_by, claimed_at, claimed_until
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

-- name: open_dependents
-- The first open nodes that depend on each of some dropped nodes, and how many there are.
SELECT dropped_id, waiting_id, total
  FROM (SELECT t.id AS dropped_id, c.id AS waiting_id, d.to_n,
               count(*) OVER (PARTITION BY d.to_n) AS total,
               row_number() OVER (PARTITION BY d.to_n ORDER BY d.from_n) AS place
          FROM work_edges AS d
          JOIN work_nodes AS t
            ON t.tenant_id = d.tenant_id
           AND t.project_id = d.project_id
           AND t.n = d.to_n
           AND t.outcome IS NOT NULL
          JOIN work_nodes AS c
            ON c.tenant_id = d.tenant_id
           AND c.project_id = d.project_id
           AND c.n = d.from_n
           AND NOT c.resolved
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
           AND d.type = 'depends_on') AS placed
 WHERE place <= :of_each
 ORDER BY to_n, place;

-- name: add_evidence_to_all
-- Append the same evidence to many nodes.
INSERT INTO work_evidence (tenant_id, project_id, {evidence})
SELECT c.tenant_id, c.project_id, c.n,
       (SELECT coalesce(max(e.k), 0) + 1
          FROM work_evidence AS e
         WHERE e.tenant_id = c.tenant_id
           AND e.project_id = c.project_id
           AND e.node_n = c.n),
       :type, :ref, :actor_id, :now, NULL, :write_rev
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

-- name: record_merge
-- Record which node a node was merged into.
INSERT INTO work_merged (tenant_id, id, project_id, into_id)
VALUES (:tenant_id, :id, :project_id, :into_id);

-- name: move_merged_texts
-- Give the words of the nodes that were merged into a node to another one.
UPDATE work_merged_texts
   SET node_n = :to_n
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n;

-- name: add_merged_text
-- Keep the words of a node with the one that it is merged into.
INSERT INTO work_merged_texts (tenant_id, project_id, id, node_n, rev, summary, description)
VALUES (:tenant_id, :project_id, :id, :to_n, :write_rev, :summary, :description);
