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
