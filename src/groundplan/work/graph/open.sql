-- name: counts_of_projects
-- The goal of each project, and the numbers of its nodes.
SELECT c.project_id, c.summary, w.total, w.resolved, w.dropped
  FROM work_projects AS w
  JOIN work_nodes AS c
    ON c.tenant_id = w.tenant_id
   AND c.project_id = w.project_id
   AND c.n = 1
 WHERE w.tenant_id = :tenant_id
   AND w.project_id IN (SELECT value FROM each(:project_ids));

-- name: recompute_counts
-- Recount the blocked and the actionable nodes.
UPDATE work_projects
   SET blocked = (SELECT count(*)
                    FROM work_nodes AS c
                   WHERE c.tenant_id = :tenant_id
                     AND c.project_id = :project_id
                     AND c.is_blocked),
       actionable = (SELECT count(*)
                       FROM work_nodes AS c
                      WHERE c.tenant_id = :tenant_id
                        AND c.project_id = :project_id
                        AND c.is_ready)
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;
