-- name: pending_suggestions
-- Return the pending suggestions in the drafts of a project that were made at or after a moment, oldest first.
SELECT s.id, s.run_id, coalesce(i.pointer, c.key) AS about, {s.value}, s.created_at, s.created_by
  FROM pciv_runs AS r
 CROSS JOIN pciv_suggestions AS s
  LEFT JOIN pciv_inputs AS i
    ON i.tenant_id = s.tenant_id
   AND i.run_id = s.run_id
   AND i.id = s.input_id
  LEFT JOIN pciv_constraints AS c
    ON c.tenant_id = s.tenant_id
   AND c.run_id = s.run_id
   AND c.id = s.constraint_id
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.status = 'draft'
   AND s.tenant_id = r.tenant_id
   AND s.run_id = r.id
   AND s.status = 'pending'
   AND s.created_at >= :since
 ORDER BY s.created_at, s.id
 LIMIT :at_most;
