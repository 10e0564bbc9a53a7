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
