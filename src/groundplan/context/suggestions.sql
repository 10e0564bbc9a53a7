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
-- Return the pending suggestions in the drafts of a project and in its run in force that were made at or after a moment,
-- oldest first, each with the present value of its fact. One of the run in force that a draft has copied, and may have
-- decided, is that of the draft. One that a draft has copied, and that was decided in force since, waits no more.
SELECT s.id, s.run_id, r.status AS run_status, coalesce(i.pointer, c.key) AS about, {s.value}, s.created_at,
       s.created_by, coalesce(i.value_kind, c.value_kind) AS current_kind,
       coalesce(i.value_string, c.value_string) AS current_string,
       coalesce(i.value_number, c.value_number) AS current_number,
       coalesce(i.value_boolean, c.value_boolean) AS current_boolean,
       coalesce(i.value_enum, c.value_enum) AS current_enum,
       coalesce(i.value_json, c.value_json) AS current_json,
       coalesce(i.provenance, c.provenance) AS current_provenance
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
   AND (r.status = 'draft' OR r.id = :in_force_id)
   AND s.tenant_id = r.tenant_id
   AND s.run_id = r.id
   AND s.status = 'pending'
   AND s.created_at >= :since
   AND (r.status = 'draft'
        OR NOT EXISTS (SELECT 1
                         FROM pciv_runs AS d
                        CROSS JOIN pciv_suggestions AS o
                         LEFT JOIN pciv_inputs AS oi
                           ON oi.tenant_id = o.tenant_id
                          AND oi.run_id = o.run_id
                          AND oi.id = o.input_id
                         LEFT JOIN pciv_constraints AS oc
                           ON oc.tenant_id = o.tenant_id
                          AND oc.run_id = o.run_id
                          AND oc.id = o.constraint_id
                        WHERE d.tenant_id = r.tenant_id
                          AND d.project_id = r.project_id
                          AND d.status = 'draft'
                          AND o.tenant_id = d.tenant_id
                          AND o.run_id = d.id
                          AND o.created_by = s.created_by
                          AND o.created_at = s.created_at
                          AND coalesce(oi.pointer, oc.key) = coalesce(i.pointer, c.key)))
   AND NOT (r.status = 'draft'
            AND EXISTS (SELECT 1
                              FROM pciv_suggestions AS o
                              LEFT JOIN pciv_inputs AS oi
                                ON oi.tenant_id = o.tenant_id
                               AND oi.run_id = o.run_id
                               AND oi.id = o.input_id
                              LEFT JOIN pciv_constraints AS oc
                                ON oc.tenant_id = o.tenant_id
                               AND oc.run_id = o.run_id
                               AND oc.id = o.constraint_id
                             WHERE o.tenant_id = r.tenant_id
                               AND o.run_id = r.base_run_id
                               AND o.status = 'pending'
                               AND o.created_by = s.created_by
                               AND o.created_at = s.created_at
                               AND coalesce(oi.pointer, oc.key) = coalesce(i.pointer, c.key))
            AND NOT EXISTS (SELECT 1
                              FROM pciv_suggestions AS o
                              LEFT JOIN pciv_inputs AS oi
                                ON oi.tenant_id = o.tenant_id
                               AND oi.run_id = o.run_id
                               AND oi.id = o.input_id
                              LEFT JOIN pciv_constraints AS oc
                                ON oc.tenant_id = o.tenant_id
                               AND oc.run_id = o.run_id
                               AND oc.id = o.constraint_id
                             WHERE o.tenant_id = r.tenant_id
                               AND o.run_id = :in_force_id
                               AND o.status = 'pending'
                               AND o.created_by = s.created_by
                               AND o.created_at = s.created_at
                               AND coalesce(oi.pointer, oc.key) = coalesce(i.pointer, c.key)))
 ORDER BY s.created_at, s.id
 LIMIT :at_most;
