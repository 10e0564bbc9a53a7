-- Queries that create, commit, list and delete runs.

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

-- name: commit_run
-- Make a draft final.
UPDATE pciv_runs
   SET status = :status,
       allow_partial = :allow_partial,
       committed_at = :now,
       updated_at = :now,
       rev = rev + 1
 WHERE tenant_id = :tenant_id
   AND id = :run_id;

-- name: unbacked_inputs
-- Return the pointers of source-backed inputs without a source.
SELECT i.pointer
  FROM pciv_inputs AS i
 WHERE i.tenant_id = :tenant_id
   AND i.run_id = :run_id
   AND i.provenance = 'source-backed'
   AND (coalesce(i.value_string, i.value_enum, i.value_json) IS NOT NULL
        OR i.value_number IS NOT NULL OR i.value_boolean IS NOT NULL)
   AND NOT EXISTS (SELECT 1
                     FROM pciv_input_sources AS s
                    WHERE s.tenant_id = i.tenant_id
                      AND s.run_id = i.run_id
                      AND s.input_id = i.id)
 ORDER BY i.pointer;

-- name: unbacked_constraints
-- Return the keys of source-backed constraints without a source.
SELECT key
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND provenance = 'source-backed'
   AND source_id IS NULL
   AND (coalesce(value_string, value_enum, value_json) IS NOT NULL
        OR value_number IS NOT NULL OR value_boolean IS NOT NULL)
 ORDER BY key, id;

-- name: count_pending_suggestions
-- Count the pending suggestions of a run.
SELECT count(*)
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND status = 'pending';

-- name: pending_suggestions
-- Return the pending suggestions of a run.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND status = 'pending'
 ORDER BY id;

-- name: overruled_user_values
-- Return the pointers and keys of user-entered values of another run that this run lacks, replaces by a value of
-- lower provenance, or has with an older value.
SELECT p.pointer
  FROM pciv_inputs AS p
  LEFT JOIN pciv_inputs AS n
    ON n.tenant_id = p.tenant_id
   AND n.run_id = :run_id
   AND n.pointer = p.pointer
 WHERE p.tenant_id = :tenant_id
   AND p.run_id = :before_id
   AND p.provenance = 'user-entered'
   AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
        OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL)
   AND (n.provenance IS NULL
        OR n.provenance <> 'user-entered'
        OR (n.updated_at < p.updated_at
            AND (n.value_kind <> p.value_kind
                 OR (coalesce(n.value_string, n.value_enum, n.value_json) IS NULL)
                    <> (coalesce(p.value_string, p.value_enum, p.value_json) IS NULL)
                 OR coalesce(n.value_string, n.value_enum, n.value_json)
                    <> coalesce(p.value_string, p.value_enum, p.value_json)
                 OR (n.value_number IS NULL) <> (p.value_number IS NULL)
                 OR n.value_number <> p.value_number
                 OR (n.value_boolean IS NULL) <> (p.value_boolean IS NULL)
                 OR n.value_boolean <> p.value_boolean)))
UNION ALL
SELECT c.key
  FROM pciv_constraints AS c
 WHERE c.tenant_id = :tenant_id
   AND c.run_id = :before_id
   AND c.provenance = 'user-entered'
   AND (coalesce(c.value_string, c.value_enum, c.value_json) IS NOT NULL
        OR c.value_number IS NOT NULL OR c.value_boolean IS NOT NULL)
   AND NOT EXISTS (SELECT 1
                     FROM pciv_constraints AS o
                    WHERE o.tenant_id = c.tenant_id
                      AND o.run_id = :run_id
                      AND o.key = c.key
                      AND o.provenance = 'user-entered')
 ORDER BY 1;

-- name: insert_deleted_run
-- Mark a run as deleted.
INSERT INTO pciv_deleted_runs (tenant_id, run_id, project_id, deleted_at, deleted_by)
VALUES (:tenant_id, :run_id, :project_id, :now, :actor_id);

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
