-- name: counts
-- The number of the newest node, and the total of nodes.
SELECT last_n, total
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: add_feature
-- Add the task counters of a new feature.
INSERT INTO work_features (tenant_id, project_id, n, tasks, tasks_closed, tasks_dropped)
VALUES (:tenant_id, :project_id, :n, 0, 0, 0);

-- columns: texts
-- The texts of a container, and the columns derived from them.
summary, properties, priority, complexity

-- name: update_texts
-- Store the texts of a node with its next revision.
UPDATE work_nodes
   SET rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id,
       {texts:set}
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: set_pipelines
-- Set the pipelines of a project.
UPDATE work_projects
   SET pipelines = :pipelines
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: subtree
-- A node and its descendants.
WITH RECURSIVE below (n) AS (
    SELECT CAST(:n AS bigint)
    UNION ALL
    SELECT c.n
      FROM below AS walk
      {join_children}
)
SELECT c.n, c.id, c.resolved, c.claimed_by, c.claimed_until
  FROM below AS walk
  {join_node};

-- name: edges_into
-- Every edge to some nodes, with the node it comes from. Unordered: with an ORDER BY, SQLite would read all edges.
SELECT d.from_n, o.id, d.type, d.to_n
  FROM work_edges AS d
  JOIN work_nodes AS o
    ON o.tenant_id = d.tenant_id
   AND o.project_id = d.project_id
   AND o.n = d.from_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_edges_from
-- Delete every edge from some nodes. Edges to them are a separate statement, because SQLite would read all edges
-- for a combined one.
DELETE FROM work_edges
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND from_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_edges_to
-- Delete every edge to some nodes.
DELETE FROM work_edges
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND to_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_section_tags_of
-- Delete the tags of the sections of some nodes.
DELETE FROM work_section_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND section_id IN (SELECT s.id
                        FROM work_sections AS s
                       WHERE s.tenant_id = :tenant_id
                         AND s.project_id = :project_id
                         AND s.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns)));

-- name: record_deleted_sections
-- Record the sections of some nodes as deleted.
INSERT INTO work_deleted (tenant_id, id, project_id, thing)
SELECT s.tenant_id, s.id, s.project_id, 'section'
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_sections_of
-- Delete the sections of some nodes.
DELETE FROM work_sections
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_tags_of
-- Delete the tags of some nodes.
DELETE FROM work_node_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_evidence_of
-- Delete the evidence of some nodes; their history keeps it.
DELETE FROM work_evidence
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_features_of
-- Delete the task counters of those nodes that are features.
DELETE FROM work_features
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_merged_texts_of
-- Delete the words of nodes that were merged into some nodes.
DELETE FROM work_merged_texts
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: remove_nodes
-- Delete some nodes; their children must be among them.
DELETE FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: record_deleted_nodes
-- Record a node as deleted.
INSERT INTO work_deleted (tenant_id, id, project_id, thing)
VALUES (:tenant_id, :id, :project_id, 'node');

-- name: describe_root
-- Set the properties of the root of a new project.
UPDATE work_nodes
   SET rev = rev + 1,
       properties = :properties
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = 1
RETURNING id;
