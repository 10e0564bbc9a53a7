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

-- name: any_fact
-- A row if the run has an input or a constraint.
SELECT 1
 WHERE EXISTS (SELECT 1 FROM pciv_inputs WHERE tenant_id = :tenant_id AND run_id = :run_id)
    OR EXISTS (SELECT 1 FROM pciv_constraints WHERE tenant_id = :tenant_id AND run_id = :run_id);

-- name: commit_run
-- Make a draft final.
UPDATE pciv_runs
   SET status = :status,
       allow_partial = :allow_partial,
       committed_at = :committed_at,
       committed_by = :actor_id,
       committer_kind = :committer_kind,
       replaced_run_id = :replaced_run_id,
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
 ORDER BY key;

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

-- name: displaced
-- Return what a person entered in a run and another run displaces, with its value before.
SELECT pointer, key, change, value_kind, value_string, value_number, value_boolean, value_enum, value_json
  FROM pciv_displaced
 WHERE tenant_id = :tenant_id
   AND before_run_id = :before_id
   AND run_id = :run_id
 ORDER BY CASE WHEN pointer IS NULL THEN 1 ELSE 0 END, coalesce(pointer, key);

-- part: same_value
n.value_kind = p.value_kind
   AND coalesce(coalesce(n.value_string, n.value_enum, n.value_json)
                = coalesce(p.value_string, p.value_enum, p.value_json),
                n.value_number = p.value_number, n.value_boolean = p.value_boolean, false)

-- part: repeated_entries_of_inputs
FROM pciv_inputs AS p
  JOIN pciv_inputs AS n
    ON n.tenant_id = p.tenant_id
   AND n.run_id = :run_id
   AND n.pointer = p.pointer
 WHERE p.tenant_id = :tenant_id
   AND p.run_id = :before_id
   AND p.provenance = 'user-entered'
   AND n.provenance <> 'user-entered'
   AND {same_value}
 ORDER BY p.pointer

-- name: entered_inputs
-- Return the inputs that a person entered in a run, and whose values another run repeats with a lower provenance.
SELECT p.id, p.run_id, p.pointer, {p.input}, {p.value}
  {repeated_entries_of_inputs};

-- name: repeated_inputs
-- Return the inputs that repeat them, in the same order.
SELECT n.id, n.run_id, n.pointer, {n.input}, {n.value}
  {repeated_entries_of_inputs};

-- name: inputs_with_sources
-- Return the ids of the inputs of a run that cite sources.
SELECT DISTINCT input_id
  FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id;

-- name: keep_input
-- Restore the entry of a person.
UPDATE pciv_inputs
   SET {input:set},
       provenance = :provenance
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- part: repeated_entries_of_constraints
FROM pciv_constraints AS p
  JOIN pciv_constraints AS n
    ON n.tenant_id = p.tenant_id
   AND n.run_id = :run_id
   AND n.key = p.key
 WHERE p.tenant_id = :tenant_id
   AND p.run_id = :before_id
   AND p.provenance = 'user-entered'
   AND n.provenance <> 'user-entered'
   AND {same_value}
 ORDER BY p.key

-- name: entered_constraints
-- Return the constraints that a person entered in a run, and whose values another run repeats with a lower provenance.
SELECT p.id, p.run_id, {p.constraint}, {p.value}, p.created_at
  {repeated_entries_of_constraints};

-- name: repeated_constraints
-- Return the constraints that repeat them, in the same order.
SELECT n.id, n.run_id, {n.constraint}, {n.value}, n.created_at
  {repeated_entries_of_constraints};

-- name: keep_constraint
-- Restore the entry of a person.
UPDATE pciv_constraints
   SET {constraint:set},
       provenance = :provenance
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

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

-- name: drafts_of_project
-- Return the drafts of a project, newest first.
SELECT r.id
  FROM pciv_runs AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.status = 'draft'
   AND NOT EXISTS (SELECT 1
                     FROM pciv_deleted_runs AS d
                    WHERE d.tenant_id = r.tenant_id
                      AND d.project_id = r.project_id
                      AND d.run_id = r.id)
 ORDER BY r.created_at DESC, r.id;

-- name: inputs_by_pointer
-- Return the inputs with some pointers in some runs, with one index seek for each pointer and run.
SELECT i.pointer AS ref, 'fact' AS kind, i.label AS title
  FROM each(:run_ids) AS r
 CROSS JOIN each(:pointers) AS k
 CROSS JOIN pciv_inputs AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.run_id = r.value
   AND i.pointer = k.value;

-- name: pointers_of_runs
-- Return pointers of inputs of some runs, to suggest them for unknown ones.
SELECT DISTINCT i.pointer
  FROM each(:run_ids) AS r
 CROSS JOIN pciv_inputs AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.run_id = r.value
 ORDER BY i.pointer
 LIMIT :at_most;
