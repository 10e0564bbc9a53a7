-- Edit a draft.

-- part: of_draft
AND toc_version_id IN (SELECT id FROM toc_versions WHERE tenant_id = :tenant_id AND id = :version_id AND status = 'DRAFT')

-- name: touch_version
-- Increment the revision of a draft, and return it.
UPDATE toc_versions
   SET rev = rev + 1,
       sole_writer = CASE WHEN sole_writer = :actor_id THEN sole_writer END,
       updated_at = :now
 WHERE tenant_id = :tenant_id
   AND id = :version_id
RETURNING rev;

-- name: nodes_by_ref
-- Return the nodes of a version with these keys or row ids.
SELECT id, key, {node}
  FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND key IN (SELECT value FROM each(:refs))
 UNION
SELECT id, key, {node}
  FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id IN (SELECT value FROM each(:refs));

-- name: edges_between
-- Return the edges between these nodes.
SELECT id, source_node_id AS source, target_node_id AS target, {edge}
  FROM toc_edges
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND source_node_id IN (SELECT value FROM each(:node_ids))
   AND target_node_id IN (SELECT value FROM each(:node_ids));

-- name: edges_at_node
-- Return the edges that begin or end at a node, with the keys and types of both ends.
SELECT e.id, e.source_node_id AS source, e.target_node_id AS target, {e.edge}, s.key AS source_key,
       s.node_type AS source_type, t.key AS target_key, t.node_type AS target_type
  FROM toc_edges AS e
  JOIN toc_nodes AS s ON s.tenant_id = e.tenant_id AND s.toc_version_id = e.toc_version_id AND s.id = e.source_node_id
  JOIN toc_nodes AS t ON t.tenant_id = e.tenant_id AND t.toc_version_id = e.toc_version_id AND t.id = e.target_node_id
 WHERE e.tenant_id = :tenant_id
   AND e.toc_version_id = :version_id
   AND e.source_node_id = :node_id
 UNION ALL
SELECT e.id, e.source_node_id AS source, e.target_node_id AS target, {e.edge}, s.key AS source_key,
       s.node_type AS source_type, t.key AS target_key, t.node_type AS target_type
  FROM toc_edges AS e
  JOIN toc_nodes AS s ON s.tenant_id = e.tenant_id AND s.toc_version_id = e.toc_version_id AND s.id = e.source_node_id
  JOIN toc_nodes AS t ON t.tenant_id = e.tenant_id AND t.toc_version_id = e.toc_version_id AND t.id = e.target_node_id
 WHERE e.tenant_id = :tenant_id
   AND e.toc_version_id = :version_id
   AND e.target_node_id = :node_id;

-- name: causal_edges
-- Return the ids of the nodes at both ends of all causal edges, and their types. Not joined with the nodes: as long as the tables were not
-- analyzed, PostgreSQL would read all nodes for each edge.
SELECT source_node_id, target_node_id, edge_type
  FROM toc_edges
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND edge_type <> 'FEEDBACK';

-- name: node_keys
-- Return the ids, keys and types of all nodes.
SELECT id, key, node_type
  FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: node_key
-- Return the key of a node.
SELECT key
  FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :node_id;

-- name: edge_name
-- Return the keys of both ends of an edge, and its type.
SELECT s.key, t.key, e.edge_type
  FROM toc_edges AS e
  JOIN toc_nodes AS s ON s.tenant_id = e.tenant_id AND s.toc_version_id = e.toc_version_id AND s.id = e.source_node_id
  JOIN toc_nodes AS t ON t.tenant_id = e.tenant_id AND t.toc_version_id = e.toc_version_id AND t.id = e.target_node_id
 WHERE e.tenant_id = :tenant_id
   AND e.toc_version_id = :version_id
   AND e.id = :edge_id;

-- name: version_of_row
-- Return the number of the published version that a row belongs to, and the key of the row.
SELECT v.version_number, r.key
  FROM (SELECT tenant_id, toc_version_id, id, key FROM toc_nodes
         WHERE tenant_id = :tenant_id AND id = :row_id
         UNION ALL
        SELECT tenant_id, toc_version_id, id, key FROM toc_assumptions
         WHERE tenant_id = :tenant_id AND id = :row_id
         UNION ALL
        SELECT tenant_id, toc_version_id, id, key FROM toc_edge_assumptions
         WHERE tenant_id = :tenant_id AND id = :row_id
         UNION ALL
        SELECT tenant_id, toc_version_id, id, key FROM toc_indicators
         WHERE tenant_id = :tenant_id AND id = :row_id) AS r
  JOIN toc_versions AS v ON v.tenant_id = r.tenant_id AND v.id = r.toc_version_id
 WHERE v.tenant_id = :tenant_id
   AND v.project_id = :project_id
   AND v.status = 'PUBLISHED';

-- name: add_node
-- Insert a node.
INSERT INTO toc_nodes (tenant_id, project_id, toc_version_id, id, key, {node})
VALUES (:tenant_id, :project_id, :version_id, :id, :key, {node:values});

-- name: change_node
-- Update a node.
UPDATE toc_nodes
   SET {node:set}
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: remove_indicators_on_node
-- Delete the indicators of a node, and return them.
DELETE FROM toc_indicators
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND node_id = :id
   {of_draft}
RETURNING id, key, node_id AS node, {indicator};

-- name: remove_assumptions_on_node
-- Delete the assumptions on a node, and return them.
DELETE FROM toc_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND node_id = :id
   {of_draft}
RETURNING id, key, node_id AS node, NULL AS edge, {assumption}, NULL AS edge_id;

-- name: remove_assumptions_on_edges_at_node
-- Delete the assumptions on the edges that begin or end at a node, and return them.
DELETE FROM toc_edge_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND edge_id IN (SELECT id
                     FROM toc_edges
                    WHERE tenant_id = :tenant_id
                      AND toc_version_id = :version_id
                      AND (source_node_id = :id OR target_node_id = :id))
   {of_draft}
RETURNING id, key, NULL AS node, NULL AS edge, {assumption}, edge_id;

-- name: remove_edges_at_node
-- Delete the edges that begin or end at a node.
DELETE FROM toc_edges
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND (source_node_id = :id OR target_node_id = :id)
   {of_draft};

-- name: remove_node
-- Delete a node on which nothing is any more.
DELETE FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: add_edge
-- Insert an edge.
INSERT INTO toc_edges (tenant_id, project_id, toc_version_id, id, source_node_id, target_node_id, {edge})
VALUES (:tenant_id, :project_id, :version_id, :id, :source_node_id, :target_node_id, {edge:values});

-- name: change_edge
-- Update an edge.
UPDATE toc_edges
   SET {edge:set}
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: remove_assumptions_on_edge
-- Delete the assumptions on an edge, and return them.
DELETE FROM toc_edge_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND edge_id = :id
   {of_draft}
RETURNING id, key, NULL AS node, NULL AS edge, {assumption}, edge_id;

-- name: remove_edge
-- Delete an edge without assumptions.
DELETE FROM toc_edges
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: assumptions_by_ref
-- Return the assumptions with these keys or row ids, on nodes and on edges.
SELECT id, key, node_id AS node, NULL AS edge, {assumption}, NULL AS edge_id
  FROM toc_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND (key IN (SELECT value FROM each(:refs)) OR id IN (SELECT value FROM each(:refs)))
 UNION ALL
SELECT id, key, NULL, NULL, {assumption}, edge_id
  FROM toc_edge_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND (key IN (SELECT value FROM each(:refs)) OR id IN (SELECT value FROM each(:refs)));

-- name: add_assumption
-- Insert an assumption on a node.
INSERT INTO toc_assumptions (tenant_id, project_id, toc_version_id, id, key, node_id, {assumption})
VALUES (:tenant_id, :project_id, :version_id, :id, :key, :on_id, {assumption:values});

-- name: add_edge_assumption
-- Insert an assumption on an edge.
INSERT INTO toc_edge_assumptions (tenant_id, project_id, toc_version_id, id, key, edge_id, {assumption})
VALUES (:tenant_id, :project_id, :version_id, :id, :key, :on_id, {assumption:values});

-- name: change_assumption
-- Update an assumption on a node.
UPDATE toc_assumptions
   SET {assumption:set}
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: change_edge_assumption
-- Update an assumption on an edge.
UPDATE toc_edge_assumptions
   SET {assumption:set}
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: remove_assumption
-- Delete an assumption on a node.
DELETE FROM toc_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: remove_edge_assumption
-- Delete an assumption on an edge.
DELETE FROM toc_edge_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: indicators_by_ref
-- Return the indicators with these keys or row ids.
SELECT id, key, node_id AS node, {indicator}
  FROM toc_indicators
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND (key IN (SELECT value FROM each(:refs)) OR id IN (SELECT value FROM each(:refs)));

-- name: add_indicator
-- Insert an indicator.
INSERT INTO toc_indicators (tenant_id, project_id, toc_version_id, id, key, node_id, {indicator})
VALUES (:tenant_id, :project_id, :version_id, :id, :key, :node_id, {indicator:values});

-- name: change_indicator
-- Update an indicator.
UPDATE toc_indicators
   SET {indicator:set}
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};

-- name: remove_indicator
-- Delete an indicator.
DELETE FROM toc_indicators
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND id = :id
   {of_draft};
