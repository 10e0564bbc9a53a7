-- name: add_run
-- Insert a draft.
INSERT INTO pciv_runs (tenant_id, project_id, created_by, sole_writer, {run})
VALUES (:tenant_id, :project_id, :actor_id, :actor_id, {run:values});

-- name: change_owner
-- Set the user of a draft, or null for a shared one.
UPDATE pciv_runs
   SET user_id = :user_id,
       sole_writer = CASE WHEN sole_writer = :actor_id THEN sole_writer END,
       updated_at = :now,
       rev = rev + 1
 WHERE tenant_id = :tenant_id
   AND id = :run_id;

-- name: sole_writer
-- The only actor that has written to a draft, or null if there are several.
SELECT sole_writer
  FROM pciv_runs
 WHERE tenant_id = :tenant_id
   AND id = :run_id;

-- name: insert_deleted_run
-- Mark a run as deleted.
INSERT INTO pciv_deleted_runs (tenant_id, run_id, project_id, deleted_at, deleted_by, deleter_kind)
VALUES (:tenant_id, :run_id, :project_id, :now, :actor_id, :deleter_kind);

-- name: remove_suggestions
-- Delete the suggestions of a draft.
DELETE FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id;

-- name: remove_links
-- Delete the links of a draft.
DELETE FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id;

-- name: remove_constraints
-- Delete the constraints of a draft.
DELETE FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id;

-- name: remove_inputs
-- Delete the inputs of a draft.
DELETE FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id;

-- name: remove_sources
-- Delete the sources of a draft.
DELETE FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id;

-- name: remove_artifacts
-- Delete the artifacts of a draft.
DELETE FROM pciv_artifacts
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id;

-- name: remove_run
-- Delete a draft, after all rows below it.
DELETE FROM pciv_runs
 WHERE tenant_id = :tenant_id
   AND id = :run_id;

-- name: runs
-- Return the runs of a project after a position, newest first: all of them, or one user's and the shared ones.
SELECT {r.run}
  FROM pciv_runs AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.created_at <= :before
   AND (r.created_at < :before OR r.id > :after_id)
   AND (r.status = :status OR :any_status)
   AND (:any_user OR r.user_id = :user_id OR r.user_id IS NULL)
   AND NOT EXISTS (SELECT 1
                     FROM pciv_deleted_runs AS d
                    WHERE d.tenant_id = r.tenant_id
                      AND d.project_id = r.project_id
                      AND d.run_id = r.id)
 ORDER BY r.created_at DESC, r.id
 LIMIT :at_most;
