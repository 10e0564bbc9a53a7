-- name: project_of_run
-- Return the project of a run.
SELECT project_id
  FROM pciv_runs
 WHERE tenant_id = :tenant_id
   AND id = :run_id;

-- name: project_of_removed_draft
-- Return the project of a deleted run.
SELECT project_id
  FROM pciv_deleted_runs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id;

-- name: run
-- Return one run of a project.
SELECT {r.run}
  FROM pciv_runs AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.id = :run_id
   AND {not_deleted};

-- name: latest_committed
-- Return the run in force.
SELECT {r.run}
  FROM pciv_runs AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.status <> 'draft'
   AND {not_deleted}
 ORDER BY r.committed_at DESC, r.updated_at DESC, r.id
 LIMIT 1;

-- name: latest_committed_of_user
-- Return the run in force among those of one user and the shared ones.
SELECT {r.run}
  FROM pciv_runs AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.status <> 'draft'
   AND (r.user_id = :user_id OR r.user_id IS NULL)
   AND {not_deleted}
 ORDER BY r.committed_at DESC, r.updated_at DESC, r.id
 LIMIT 1;

-- name: latest_draft
-- Return a draft to show where nothing was committed: the newest of the actor, else the newest. Every run has a time of
-- creation; the condition on it lets SQLite choose the index by creation.
SELECT {r.run}
  FROM pciv_runs AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.created_at > ''
   AND r.status = 'draft'
   AND {not_deleted}
 ORDER BY CASE WHEN r.user_id = :actor_id THEN 0 ELSE 1 END, r.created_at DESC, r.id
 LIMIT 1;

-- name: suggestions_of_run
-- Return the pending suggestions of a run, with the pointer or key of their fact.
SELECT s.id, i.pointer, c.key, s.constraint_id, {s.value}, s.source_ids, s.snippet, s.rationale, s.created_at,
       s.created_by, s.author_kind AS updated_by
  FROM pciv_suggestions AS s
  LEFT JOIN pciv_inputs AS i
    ON i.tenant_id = s.tenant_id
   AND i.run_id = s.run_id
   AND i.id = s.input_id
  LEFT JOIN pciv_constraints AS c
    ON c.tenant_id = s.tenant_id
   AND c.run_id = s.run_id
   AND c.id = s.constraint_id
 WHERE s.tenant_id = :tenant_id
   AND s.run_id = :run_id
   AND s.status = 'pending'
 ORDER BY coalesce(i.pointer, c.key), s.created_at, s.id;

-- name: required_unset
-- Return the pointers of required inputs without a value.
SELECT pointer
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND required
   AND value_string IS NULL
   AND value_number IS NULL
   AND value_boolean IS NULL
   AND value_enum IS NULL
   AND value_json IS NULL
 ORDER BY pointer;

-- name: replaced_run
-- Return the run that a run replaced when it was committed, also of a deleted run.
SELECT replaced_run_id
  FROM pciv_runs
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :run_id;
