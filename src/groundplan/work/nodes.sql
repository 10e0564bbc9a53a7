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

-- name: evidence_after
-- The evidence of a node after its first :k.
SELECT {evidence}
  FROM work_evidence
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n
   AND k > :k
 ORDER BY k;

-- name: remove_evidence_after
-- Remove the evidence of a node after its first :k.
DELETE FROM work_evidence
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n
   AND k > :k;

-- name: best_of_nodes
-- The ids and summaries of some nodes, in the order in which they are offered, and whether they had a dependency that was
-- dropped.
SELECT c.n, c.id, c.summary,
       EXISTS (SELECT 1
                 FROM work_edges AS d
                 JOIN work_nodes AS t
                   ON t.tenant_id = d.tenant_id
                  AND t.project_id = d.project_id
                  AND t.n = d.to_n
                  AND t.outcome IS NOT NULL
                WHERE d.tenant_id = :tenant_id
                  AND d.project_id = :project_id
                  AND d.from_n = c.n
                  AND d.type = 'depends_on') AS has_lost
  FROM (SELECT b.n, b.id, b.summary, b.priority, b.depth, b.changed_rev
          FROM work_nodes AS b
         WHERE b.tenant_id = :tenant_id
           AND b.project_id = :project_id
           AND b.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
         ORDER BY b.priority DESC, b.depth DESC, b.changed_rev, b.n
         LIMIT :at_most) AS c
 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n;

-- name: dropped_dependencies
-- The first dropped nodes that each of some nodes depends on, and how many there are.
SELECT n, id, total
  FROM (SELECT d.from_n AS n, t.id, count(*) OVER (PARTITION BY d.from_n) AS total,
               row_number() OVER (PARTITION BY d.from_n ORDER BY d.to_n) AS place
          FROM work_edges AS d
          JOIN work_nodes AS t
            ON t.tenant_id = d.tenant_id
           AND t.project_id = d.project_id
           AND t.n = d.to_n
           AND t.outcome IS NOT NULL
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
           AND d.type = 'depends_on') AS placed
 WHERE place <= :of_each
 ORDER BY n, place;

-- name: node_by_number
-- All fields of a node, by its number.
SELECT {node}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = :n;

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

-- name: node_summaries
-- The ids and summaries of some nodes.
SELECT c.n, c.id, c.summary
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: tags_of_nodes
-- The tags of some nodes.
SELECT t.node_n, t.tag
  FROM work_node_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY t.node_n, t.tag;

-- name: add_tags
-- Add tags to a node.
INSERT INTO work_node_tags (tenant_id, project_id, node_n, tag)
SELECT :tenant_id, :project_id, :n, given.value
  FROM each(:tags) AS given;

-- name: remove_tags
-- Remove tags from a node.
DELETE FROM work_node_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n
   AND tag IN (SELECT value FROM each(:tags));

-- name: merged_nodes
-- The nodes that were merged into some nodes, the last :at_most of each, in the order of the merges.
SELECT node_n, id, summary, description, rev
  FROM (SELECT m.node_n, m.id, m.summary, m.description, m.rev,
               row_number() OVER (PARTITION BY m.node_n ORDER BY m.rev DESC, m.id DESC) AS place
          FROM work_merged_texts AS m
         WHERE m.tenant_id = :tenant_id
           AND m.project_id = :project_id
           AND m.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))) AS placed
 WHERE place <= :at_most
 ORDER BY node_n, rev, id;

-- name: nodes_by_own_ids
-- All fields of the nodes of the project with some ids.
SELECT {node}
  FROM each(:ids) AS k
 CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id = k.value
   AND (c.project_id = :project_id) IS TRUE;
