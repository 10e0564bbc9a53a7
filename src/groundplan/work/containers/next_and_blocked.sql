-- part: task_rank_columns
c.priority, c.complexity, c.created_at, c.n

-- name: next_tasks
-- The best unclaimed task, and the best task with a lapsed claim. Two index seeks; the caller picks one.
SELECT *
  FROM (SELECT {task_rank_columns}
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.is_ready
           AND c.claimed_by IS NULL
           {in_priority_range}
         ORDER BY c.priority DESC, c.complexity, c.n
         LIMIT 1) AS unclaimed
 UNION ALL
SELECT *
  FROM (SELECT {task_rank_columns}
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.is_ready
           AND c.claimed_by IS NOT NULL
           AND c.claimed_until <= :now
           {in_priority_range}
         ORDER BY c.priority DESC, c.complexity, c.n
         LIMIT 1) AS lapsed;

-- name: next_tasks_of_feature
-- The same as next_tasks, within one feature.
SELECT *
  FROM (SELECT {task_rank_columns}
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.feature_n = :feature_n
           AND c.is_ready
           AND c.claimed_by IS NULL
           {in_priority_range}
         ORDER BY c.priority DESC, c.complexity, c.n
         LIMIT 1) AS unclaimed
 UNION ALL
SELECT *
  FROM (SELECT {task_rank_columns}
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.feature_n = :feature_n
           AND c.is_ready
           AND c.claimed_by IS NOT NULL
           AND c.claimed_until <= :now
           {in_priority_range}
         ORDER BY c.priority DESC, c.complexity, c.n
         LIMIT 1) AS lapsed;

-- name: next_features
-- The best active feature and the best new feature, neither blocked.
SELECT *
  FROM (SELECT 0 AS is_new, c.priority, c.created_at, c.n
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.kind = 'feature'
           AND c.status = 'ACTIVE'
           AND NOT c.is_blocked
           {in_priority_range}
         ORDER BY c.priority DESC, c.n
         LIMIT 1) AS begun
 UNION ALL
SELECT *
  FROM (SELECT 1 AS is_new, c.priority, c.created_at, c.n
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.kind = 'feature'
           AND c.status IS NULL
           AND NOT c.resolved
           AND NOT c.is_blocked
           {in_priority_range}
         ORDER BY c.priority DESC, c.n
         LIMIT 1) AS fresh;

-- part: is_of_type
-- Whether a node is a feature, or a task if :is_feature is false. The root is neither.
c.n <> 1
           AND CAST(:is_feature AS boolean) = (c.kind IS NOT NULL AND c.kind = 'feature')

-- name: blocked_containers
-- Blocked tasks or features, highest priority first, and their total number.
SELECT c.priority, c.created_at, c.n, count(*) OVER () AS total
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.is_blocked
   AND {is_of_type}
   AND (CAST(:feature_n AS bigint) IS NULL OR c.feature_n = CAST(:feature_n AS bigint))
 ORDER BY c.priority DESC, c.n
 LIMIT :at_most;
