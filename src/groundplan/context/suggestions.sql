-- name: suggestion
-- Return one suggestion of a run.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: own_suggestion_for_input
-- Return the actor's pending suggestion for an input.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id = :about
   AND created_by = :actor_id
   AND status = 'pending';

-- name: own_suggestion_for_constraint
-- Return the actor's pending suggestion for a constraint.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND constraint_id = :about
   AND created_by = :actor_id
   AND status = 'pending';

-- name: decide_suggestion
-- Store a person's decision on a suggestion.
UPDATE pciv_suggestions
   SET status = :status,
       decided_at = :now,
       decided_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_suggestion
-- Delete a suggestion.
DELETE FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

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
