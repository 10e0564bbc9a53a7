-- Versions, their content and observations.

-- columns: node
node_type, title, description, narrative, owner, metadata

-- columns: edge
edge_type, mechanism, confidence

-- columns: assumption
assumption_text, risk_level, owner, review_by

-- columns: indicator
name, unit, direction, baseline, baseline_verified, target, method, frequency, owner

-- columns: measurement
value, as_of, source, note

-- columns: review
status, reason, evidence

-- columns: waiver
code, refs, reason, owner, due

-- columns: decision
text, rationale, about, outcome, supersedes_rev, supersedes_n, answers_rev, answers_n

-- columns: request
question, about, asked_of

-- name: nodes_of_version
-- Return the nodes of a version.
SELECT id, key, {node}
  FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: edges_of_version
-- Return the edges of a version.
SELECT id, source_node_id AS source, target_node_id AS target, {edge}
  FROM toc_edges
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: assumptions_of_version
-- Return the assumptions on nodes of a version.
SELECT id, key, node_id AS node, NULL AS edge, {assumption}
  FROM toc_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: edge_assumptions_of_version
-- Return the assumptions on edges of a version.
SELECT id, key, NULL AS node, edge_id AS edge, {assumption}
  FROM toc_edge_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: indicators_of_version
-- Return the indicators of a version.
SELECT id, key, node_id AS node, {indicator}
  FROM toc_indicators
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: last_number
-- Return the last number used with a prefix.
SELECT last_number
  FROM toc_keys
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND prefix = :prefix;

-- name: reserve_keys
-- Reserve the next numbers with a prefix, and return the last one.
INSERT INTO toc_keys (tenant_id, project_id, prefix, last_number)
VALUES (:tenant_id, :project_id, :prefix, :count)
    ON CONFLICT (tenant_id, project_id, prefix) DO UPDATE SET last_number = toc_keys.last_number + excluded.last_number
RETURNING last_number;
