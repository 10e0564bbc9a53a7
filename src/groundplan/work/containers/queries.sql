-- Queries of the container dialect that the graph dialect does not share.

-- columns: container
-- The columns of a container row, without the id of its feature.
n, id, project_id, kind, summary, properties, rev, resolved, outcome, status, claimed_by, claimed_until, held_reason,
blocked_reason, priority, open_deps, blocked_above, created_at, updated_at, updated_by

-- part: join_feature
LEFT JOIN work_nodes AS f
    ON f.tenant_id = c.tenant_id
   AND f.project_id = c.project_id
   AND f.n = c.feature_n

-- name: containers
-- Containers by their numbers.
SELECT {c.container}, f.id AS feature_id
  FROM work_nodes AS c
  {join_feature}
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: tags_of
-- The tags of some containers.
SELECT t.node_n, t.tag
  FROM work_node_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY t.node_n, t.tag;

-- name: blockers_of
-- The open dependencies of some containers, the first :at_most of each.
SELECT from_n, id
  FROM (SELECT d.from_n, d.to_n, o.id, row_number() OVER (PARTITION BY d.from_n ORDER BY d.to_n) AS place
          FROM work_edges AS d
          JOIN work_nodes AS o
            ON o.tenant_id = d.tenant_id
           AND o.project_id = d.project_id
           AND o.n = d.to_n
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
           AND d.type = 'depends_on'
           AND NOT o.resolved) AS waits
 WHERE place <= :at_most
 ORDER BY from_n, to_n;

-- name: related_of
-- The related containers of some containers, in either direction, the first :at_most of each and their total.
SELECT n, id, total
  FROM (SELECT r.n, r.other_n, o.id, row_number() OVER (PARTITION BY r.n ORDER BY r.other_n) AS place,
               count(*) OVER (PARTITION BY r.n) AS total
          FROM (SELECT d.from_n AS n, d.to_n AS other_n
                  FROM work_edges AS d
                 WHERE d.tenant_id = :tenant_id
                   AND d.project_id = :project_id
                   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
                   AND d.type = 'relates_to'
                 UNION
                SELECT d.to_n, d.from_n
                  FROM work_edges AS d
                 WHERE d.tenant_id = :tenant_id
                   AND d.project_id = :project_id
                   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
                   AND d.type = 'relates_to') AS r
          JOIN work_nodes AS o
            ON o.tenant_id = :tenant_id
           AND o.project_id = :project_id
           AND o.n = r.other_n) AS relations
 WHERE place <= :at_most
 ORDER BY n, other_n;

-- name: pipelines
-- The pipelines of a project; NULL for the default ones.
SELECT pipelines
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: nodes_outside_pipelines
-- A few nodes whose status is in neither pipeline. Every pipeline contains ACTIVE.
SELECT c.id, c.status
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.status > ''
   AND c.status IS NOT NULL
   AND NOT (c.kind IS NOT NULL AND c.kind = 'feature' AND c.status IN (SELECT value FROM each(:feature_steps))
            OR (c.kind IS NULL OR c.kind <> 'feature') AND c.status IN (SELECT value FROM each(:task_steps)))
 LIMIT 5;

-- name: entities
-- The first of some containers, and their total.
SELECT c.n, c.id, c.kind, c.summary, count(*) OVER () AS total
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY c.n
 LIMIT :at_most;

-- name: open_dependents
-- The first open containers that depend on some nodes, and their total.
SELECT n, id, kind, summary, count(*) OVER () AS total
  FROM (SELECT DISTINCT o.n, o.id, o.kind, o.summary
          FROM work_edges AS d
          JOIN work_nodes AS o
            ON o.tenant_id = d.tenant_id
           AND o.project_id = d.project_id
           AND o.n = d.from_n
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
           AND d.type = 'depends_on'
           AND NOT o.resolved) AS waiting
 ORDER BY n
 LIMIT :at_most;

-- columns: step
-- The columns that a change of status writes.
resolved, outcome, status, held_reason, blocked_reason, claimed_by, claimed_at, claimed_until, claim_number

-- name: waiting_above
-- The blocked ancestors that block a node, the nearest first.
{walk_above}
SELECT c.id
  {blocked_ancestors};

-- part: in_priority_range
AND c.priority >= CAST(:least AS double precision)
           AND c.priority < CAST(:below AS double precision)

-- name: task_counts
-- The task counters of a project.
SELECT tasks, tasks_closed, tasks_dropped
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: task_counts_of_features
-- The task counters of some features.
SELECT n, tasks, tasks_closed, tasks_dropped
  FROM work_features
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: started_counts
-- The number of tasks of a project per stored status. The range on status makes SQLite use the index.
SELECT c.status, count(*)
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.status > ''
   AND c.status IS NOT NULL
   AND (c.kind IS NULL OR c.kind <> 'feature')
 GROUP BY c.status;

-- name: started_counts_of_features
-- The number of tasks of some features per status, for some statuses.
SELECT c.feature_n, c.status, count(*)
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.status IN (SELECT value FROM each(:steps))
   AND c.feature_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND c.status IS NOT NULL
   AND (c.kind IS NULL OR c.kind <> 'feature')
 GROUP BY c.feature_n, c.status;

-- name: claimed_counts
-- The number of tasks with a live claim but no stored status, by feature.
SELECT c.feature_n, count(*)
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND (c.claimed_until IS NULL OR c.claimed_until > :now)
   AND c.status IS NULL
 GROUP BY c.feature_n;

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

-- name: add_tags
-- Add a tag that a container does not have.
INSERT INTO work_node_tags (tenant_id, project_id, node_n, tag)
VALUES (:tenant_id, :project_id, :n, :tag);

-- name: describe_root
-- Set the properties of the root of a new project.
UPDATE work_nodes
   SET rev = rev + 1,
       properties = :properties
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = 1
RETURNING id;

-- part: current_status
-- The current status of a node.
CASE
            WHEN c.resolved AND c.outcome IS NOT NULL THEN 'WILL_NOT_IMPLEMENT'
            WHEN c.resolved THEN 'CLOSED'
            WHEN c.status IS NOT NULL THEN c.status
            WHEN c.claimed_by IS NOT NULL AND (c.claimed_until IS NULL OR c.claimed_until > :now) THEN 'ACTIVE'
            ELSE 'NEW'
        END

-- part: description
CASE WHEN json_type(c.properties, '$.description') = 'text' THEN json_extract(c.properties, '$.description') END

-- part: own_summary
CASE WHEN json_type(c.properties, '$.summary') = 'text' THEN json_extract(c.properties, '$.summary') END

-- part: contains_words
-- Whether every word is in the name, summary or description of a container, ignoring ASCII case.
NOT EXISTS (
            SELECT 1
              FROM each(:words) AS word
             WHERE instr(
                lower(c.summary || ' ' || coalesce({own_summary}, '') || ' '
                      || coalesce({description}, '')),
                word.value
             ) = 0
        )

-- part: matches_filters
-- Whether a container matches the filters; a filter that is not set matches everything.
(CAST(:status AS text) IS NULL OR {current_status} = CAST(:status AS text))
           {in_priority_range}
           AND (CAST(:tags AS text) IS NULL
                OR EXISTS (SELECT 1
                             FROM work_node_tags AS t
                            WHERE t.tenant_id = c.tenant_id
                              AND t.project_id = c.project_id
                              AND t.node_n = c.n
                              AND t.tag IN (SELECT value FROM each(:tags))))
           AND (CAST(:words AS text) IS NULL OR {contains_words})

-- part: tasks_of_projects
c.tenant_id = :tenant_id
   AND c.project_id IN (SELECT value FROM each(:project_ids))
   AND c.n <> 1
   AND (c.kind IS NULL OR c.kind <> 'feature')
   AND {matches_filters}

-- part: features_of_projects
c.tenant_id = :tenant_id
   AND c.project_id IN (SELECT value FROM each(:project_ids))
   AND c.kind = 'feature'
   AND {matches_filters}

-- part: tasks_of_feature
c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.feature_n = :feature_n
   AND (c.kind IS NULL OR c.kind <> 'feature')
   AND {matches_filters}

-- part: page
-- By priority, then the oldest first.
ORDER BY c.priority DESC, c.created_at, c.project_id, c.n
 LIMIT :at_most OFFSET :skipped

-- name: search_tasks
-- A page of the matching tasks of some projects.
SELECT c.project_id, c.n
  FROM work_nodes AS c
 WHERE {tasks_of_projects}
 {page};

-- name: count_tasks
-- The number of rows of search_tasks on all pages.
SELECT count(*)
  FROM work_nodes AS c
 WHERE {tasks_of_projects};

-- name: search_features
-- A page of the matching features of some projects.
SELECT c.project_id, c.n
  FROM work_nodes AS c
 WHERE {features_of_projects}
 {page};

-- name: count_features
-- The number of rows of search_features on all pages.
SELECT count(*)
  FROM work_nodes AS c
 WHERE {features_of_projects};

-- name: search_tasks_of_feature
-- A page of the matching tasks of a feature.
SELECT c.project_id, c.n
  FROM work_nodes AS c
 WHERE {tasks_of_feature}
 {page};

-- name: count_tasks_of_feature
-- The number of rows of search_tasks_of_feature on all pages.
SELECT count(*)
  FROM work_nodes AS c
 WHERE {tasks_of_feature};

-- name: search_projects
-- The summary and description of some projects, filtered by tags.
SELECT c.project_id, c.summary, {description} AS description
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id IN (SELECT value FROM each(:project_ids))
   AND c.n = 1
   AND (CAST(:tags AS text) IS NULL
        OR EXISTS (SELECT 1
                     FROM work_node_tags AS t
                    WHERE t.tenant_id = c.tenant_id
                      AND t.project_id = c.project_id
                      AND t.node_n = c.n
                      AND t.tag IN (SELECT value FROM each(:tags))));
