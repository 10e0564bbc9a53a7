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
-- Record the sections of some nodes as deleted. One may have been deleted before, and brought back.
INSERT INTO work_deleted (tenant_id, id, project_id, thing)
SELECT s.tenant_id, s.id, s.project_id, 'section'
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
    ON CONFLICT DO NOTHING;

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
-- Record a node as deleted. It may have been deleted before, and brought back.
INSERT INTO work_deleted (tenant_id, id, project_id, thing)
VALUES (:tenant_id, :id, :project_id, 'node')
    ON CONFLICT DO NOTHING;

-- name: add_removed
-- Keep what a removed node held.
INSERT INTO work_removed (tenant_id, project_id, id, rev, content)
VALUES (:tenant_id, :project_id, :id, :write_rev, :content);

-- name: removed_contents
-- What some nodes held when they were removed last.
SELECT r.id, r.content
  FROM work_removed AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.id IN (SELECT value FROM each(:ids))
   AND r.rev = (SELECT max(last.rev)
                  FROM work_removed AS last
                 WHERE last.tenant_id = r.tenant_id
                   AND last.project_id = r.project_id
                   AND last.id = r.id);

-- name: edges_from
-- Every edge from some nodes.
SELECT d.from_n, d.type, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: edges_with_ids
-- Every edge from some nodes, with the id of the node to which it leads.
SELECT d.from_n, d.type, d.to_n, t.id AS to_id
  FROM work_edges AS d
  JOIN work_nodes AS t
    ON t.tenant_id = d.tenant_id
   AND t.project_id = d.project_id
   AND t.n = d.to_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: edges_to
-- Every edge to some nodes.
SELECT d.from_n, d.type, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: children
-- The children of a node.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = :n
 ORDER BY c.n;

-- name: sections_of
-- The sections of some nodes, in their order.
SELECT id, node_n, ordinal, version, title, usage_description, content_format, content,
       created_at, created_by, modified_at, modified_by
  FROM work_sections
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY node_n, ordinal;

-- name: aliases_of
-- The aliases of some nodes.
SELECT node_n, alias
  FROM work_aliases
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY node_n, alias;

-- name: imports_of
-- The imported items that are some nodes, and what the import said about them.
SELECT node_n, tool, source_id, digest, base
  FROM work_imports
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY node_n, tool, source_id;

-- name: forget_imports_of
-- Forget what imports said about some nodes. Without a base, an item counts as never imported.
UPDATE work_imports
   SET node_n = NULL,
       base = ''
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: merged_into
-- The ids of the nodes that were merged into a node.
SELECT id
  FROM work_merged_texts
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n
 ORDER BY id;

-- name: restore_node
-- Insert a removed node again, under its number and id. Its revision goes on.
INSERT INTO work_nodes (tenant_id, project_id, {position}, {content}, {progress}, order_key,
                        rev, claim_number, changed_rev, created_at, created_by, updated_at, updated_by)
VALUES (:tenant_id, :project_id, {position:values}, {content:values}, {progress:values}, :order_key,
        :rev, :claim_number, :write_rev, :created_at, :created_by, :now, :actor_id);

-- name: restore_feature
-- Add the task counters of a feature again.
INSERT INTO work_features (tenant_id, project_id, n, tasks, tasks_closed, tasks_dropped)
VALUES (:tenant_id, :project_id, :n, 0, 0, 0);

-- name: restore_section
-- Insert a section of a removed node again.
INSERT INTO work_sections (tenant_id, project_id, id, node_n, ordinal, version, title, usage_description,
                           content_format, content, created_at, created_by, modified_at, modified_by)
VALUES (:tenant_id, :project_id, :id, :n, :ordinal, :version, :title, :usage_description, :content_format, :content,
        :created_at, :created_by, :modified_at, :modified_by);

-- name: restore_alias
-- Give an alias back to a node. No row means that another node of the project has it.
INSERT INTO work_aliases (tenant_id, project_id, alias, node_n)
VALUES (:tenant_id, :project_id, :alias, :n)
    ON CONFLICT DO NOTHING;

-- name: restore_import
-- Record again that an imported item is a node. No row means that it was imported again.
UPDATE work_imports
   SET node_n = :n,
       digest = :digest,
       base = :base
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND tool = :tool
   AND source_id = :source_id
   AND base = '';

-- name: referring_nodes
-- The ids of the children of some nodes, and of the nodes with an edge to them.
SELECT c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 UNION
SELECT c.id
  FROM work_edges AS d
  JOIN work_nodes AS c
    ON c.tenant_id = d.tenant_id
   AND c.project_id = d.project_id
   AND c.n = d.from_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns));
