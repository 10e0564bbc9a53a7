-- Queries of imports.

-- name: last_imports
-- Every item of a tool that was imported into a project, with its node and its digest, unless an undo took that back.
SELECT i.source_id, i.node_n, i.digest
  FROM work_imports AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.tool = :tool
   AND i.base <> '';

-- name: bases
-- What the last import said about some items.
SELECT i.source_id, i.base
  FROM work_imports AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.tool = :tool
   AND i.source_id IN (SELECT value FROM each(:source_ids));

-- name: differing_bases
-- What the last import said about the items for which it wrote something else than the file says.
SELECT i.source_id, i.base
  FROM work_imports AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.tool = :tool
   AND (i.base LIKE '%"written":%' OR i.base LIKE '%"loops":%')
 ORDER BY i.source_id;

-- name: save_imports
-- Keep what an import said about an item. Only an item whose import was taken back gets another node.
INSERT INTO work_imports (tenant_id, project_id, tool, source_id, node_n, digest, base)
VALUES (:tenant_id, :project_id, :tool, :source_id, :node_n, :digest, :base)
    ON CONFLICT (tenant_id, project_id, tool, source_id)
    DO UPDATE SET node_n = CASE WHEN work_imports.base = '' THEN excluded.node_n ELSE work_imports.node_n END,
                  digest = excluded.digest,
                  base = excluded.base;

-- name: graph_nodes
-- Every node of a project, with what follows from the tree and the dependencies as it is stored.
SELECT c.n, c.id, c.parent_n, c.kind, c.resolved, c.outcome IS NOT NULL AS is_dropped,
       c.held_reason IS NOT NULL AS is_held, c.status,
       c.depth, c.feature_n, c.open_children, c.open_deps, c.blocked_above
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
 ORDER BY c.n;

-- name: graph_dependencies
-- Every dependency of a project.
SELECT d.from_n, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.type = 'depends_on'
 ORDER BY d.from_n, d.to_n;

-- name: nodes
-- Nodes by number.
SELECT {node}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: edges_from
-- The edges that begin at some nodes.
SELECT d.from_n, d.type, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: tags_of
-- The tags of some nodes.
SELECT t.node_n, t.tag
  FROM work_node_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY t.node_n, t.tag;

-- name: sections_of
-- The sections of some nodes, in order.
SELECT s.node_n, s.id, s.ordinal, s.title, s.content
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY s.node_n, s.ordinal;

-- name: evidence_of
-- The evidence of some nodes.
SELECT e.node_n, e.type, e.ref
  FROM work_evidence AS e
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
   AND e.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: nodes_without_source
-- The project, the id and the number of those of some nodes that were not imported from a tool.
SELECT c.project_id, c.id, c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids))
   AND NOT EXISTS (SELECT 1
                     FROM work_imports AS i
                    WHERE i.tenant_id = c.tenant_id
                      AND i.project_id = c.project_id
                      AND i.tool = :tool
                      AND i.node_n = c.n);

-- name: add_edges
-- Add edges, unless they exist.
INSERT INTO work_edges (tenant_id, project_id, from_n, type, to_n)
VALUES (:tenant_id, :project_id, :from_n, :type, :to_n)
    ON CONFLICT DO NOTHING;

-- name: remove_edges
-- Remove edges.
DELETE FROM work_edges
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND from_n = :from_n
   AND type = :type
   AND to_n = :to_n;

-- name: add_tags
-- Add tags to nodes, unless they have them.
INSERT INTO work_node_tags (tenant_id, project_id, node_n, tag)
VALUES (:tenant_id, :project_id, :node_n, :tag)
    ON CONFLICT DO NOTHING;

-- name: remove_tags
-- Remove tags from nodes.
DELETE FROM work_node_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :node_n
   AND tag = :tag;

-- name: add_sections
-- Add sections to nodes.
INSERT INTO work_sections (tenant_id, project_id, id, node_n, ordinal, version, title, usage_description,
                           content_format, content, created_at, created_by, modified_at, modified_by)
VALUES (:tenant_id, :project_id, :id, :node_n, :ordinal, 1, :title, '', 'MARKDOWN', :content, :now, :actor_id, :now,
        :actor_id);

-- name: set_section
-- Replace the text of a section.
UPDATE work_sections
   SET content = :content,
       version = version + 1,
       modified_at = :now,
       modified_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id;

-- name: add_features
-- Add the task counters of new features.
INSERT INTO work_features (tenant_id, project_id, n, tasks, tasks_closed, tasks_dropped)
VALUES (:tenant_id, :project_id, :n, 0, 0, 0);

-- name: feature_counts
-- The stored task counters of every feature of a project.
SELECT f.n, f.tasks, f.tasks_closed, f.tasks_dropped
  FROM work_features AS f
 WHERE f.tenant_id = :tenant_id
   AND f.project_id = :project_id;

-- name: set_feature_counts
-- Store the task counters of features.
UPDATE work_features
   SET tasks = :tasks,
       tasks_closed = :tasks_closed,
       tasks_dropped = :tasks_dropped
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: set_counts
-- Store the counts of a project.
UPDATE work_projects
   SET last_n = :last_n,
       total = :total,
       resolved = :resolved,
       dropped = :dropped,
       blocked = :blocked,
       actionable = :actionable,
       features = :features,
       tasks = :tasks,
       tasks_closed = :tasks_closed,
       tasks_dropped = :tasks_dropped
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: last_n
-- The number of the newest node.
SELECT last_n
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: set_positions
-- Store the parents of nodes, and what follows from the tree and the dependencies. The caller counts the revision.
UPDATE work_nodes
   SET parent_n = :parent_n,
       depth = :depth,
       feature_n = :feature_n,
       open_children = :open_children,
       open_deps = :open_deps,
       blocked_above = :blocked_above
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: aliases_among
-- Those of some aliases that nodes of a project have.
SELECT a.alias, a.node_n
  FROM work_aliases AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.alias IN (SELECT value FROM each(:aliases));

-- name: nodes_with_ids
-- The project and id of the nodes, also of removed ones, whose ids are among some texts.
SELECT c.project_id, c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids))
UNION ALL
SELECT m.project_id, m.id
  FROM work_merged AS m
 WHERE m.tenant_id = :tenant_id
   AND m.id IN (SELECT value FROM each(:ids))
UNION ALL
SELECT g.project_id, g.id
  FROM work_deleted AS g
 WHERE g.tenant_id = :tenant_id
   AND g.id IN (SELECT value FROM each(:ids));

-- name: add_aliases
-- Add aliases to nodes.
INSERT INTO work_aliases (tenant_id, project_id, alias, node_n)
VALUES (:tenant_id, :project_id, :alias, :node_n);

-- name: exported_nodes
-- Every node of a project but the root, as an export needs it, in the order of creation.
SELECT c.n, c.id, c.parent_n, c.kind, c.summary, c.resolved, c.outcome, c.held_reason, c.state, c.properties,
       c.context_links, c.priority, c.claimed_by, c.claimed_until, c.created_at, c.updated_at
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n IS NOT NULL
 ORDER BY c.n;

-- name: exported_edges
-- Every edge of a project.
SELECT d.from_n, d.type, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
 ORDER BY d.from_n, d.type, d.to_n;

-- name: exported_tags
-- Every tag of the nodes of a project.
SELECT t.node_n, t.tag
  FROM work_node_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
 ORDER BY t.node_n, t.tag;

-- name: exported_sections
-- Every section of the nodes of a project, in order.
SELECT s.node_n, s.title, s.content
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
 ORDER BY s.node_n, s.ordinal;

-- name: exported_evidence
-- All evidence of the nodes of a project, oldest first.
SELECT e.node_n, e.type, e.ref
  FROM work_evidence AS e
 WHERE e.tenant_id = :tenant_id
   AND e.project_id = :project_id
 ORDER BY e.node_n, e.k;

-- name: imported_items
-- The source ids of the nodes of a project, and what the last import of each tool said about them.
SELECT i.node_n, i.tool, i.source_id, i.base
  FROM work_imports AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.node_n IS NOT NULL;

-- name: node_id
-- The id of a node.
SELECT c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = :n;
