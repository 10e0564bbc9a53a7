-- name: fact_in_runs
-- Return a fact in the latest runs of a project that have it, newest first.
SELECT r.id AS run_id, r.status, coalesce(r.committed_at, r.updated_at) AS at, r.committed_by AS by, t.label, {t.value}
  FROM pciv_runs AS r {use_run_index}
 CROSS JOIN pciv_inputs AS t
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND {not_deleted}
   AND t.tenant_id = r.tenant_id
   AND t.run_id = r.id
   AND t.pointer = :pointer
 ORDER BY r.created_at DESC, r.id
 LIMIT :at_most;

-- name: ever_committed
-- Return the ids of all runs that were committed, also of those that were deleted since, in the order of precedence.
SELECT id
  FROM pciv_runs
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND status <> 'draft'
 ORDER BY committed_at DESC, updated_at DESC, id;

-- name: values_in_runs
-- Return the values of some facts in some runs, each given as the id of the run, a UUID, and the pointer behind it.
SELECT i.run_id, i.pointer, i.value_kind, i.value_string, i.value_number, i.value_boolean, i.value_enum, i.value_json
  FROM each(:pairs) AS k
 CROSS JOIN pciv_inputs AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.run_id = substr(k.value, 1, 36)
   AND i.pointer = substr(k.value, 37);
