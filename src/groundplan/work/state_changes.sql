-- name: update_counts
-- Add the changes of a write to the counts of a project.
UPDATE work_projects
   SET last_n = last_n + :made,
       total = total + :total,
       resolved = resolved + :resolved,
       dropped = dropped + :dropped,
       blocked = blocked + :blocked,
       actionable = actionable + :actionable,
       features = features + :features,
       tasks = tasks + :tasks,
       tasks_closed = tasks_closed + :tasks_closed,
       tasks_dropped = tasks_dropped + :tasks_dropped
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: update_feature_counts
-- Add the changes of a write to the counts of a feature.
UPDATE work_features
   SET tasks = tasks + :tasks,
       tasks_closed = tasks_closed + :tasks_closed,
       tasks_dropped = tasks_dropped + :tasks_dropped
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: node_flags
-- The state of some nodes, and their features.
SELECT n, {flags}, feature_n
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));
