-- Columns and statements that several modules of context use. Deleted runs are never returned.

-- columns: run
id, user_id, status, allow_partial, committed_at, created_at, updated_at, rev, committed_by, committer_kind,
replaced_run_id, base_run_id, starts_empty

-- columns: value
value_kind, value_string, value_number, value_boolean, value_enum, value_json, provenance

-- columns: source
-- The columns of rows below a run that can change.
kind, title, uri, file_id, mime_type, size_bytes, parse_status, excerpt, raw_meta

-- columns: input
label, domain, required, field_type, options, updated_by, updated_at, evidence_snippet

-- columns: constraint
key, domain, label, source_id, snippet, updated_by, updated_at

-- columns: artifact
type, title, payload

-- columns: suggestion
input_id, constraint_id, source_ids, snippet, rationale, created_at, created_by, author_kind, status

-- part: not_deleted
NOT EXISTS (SELECT 1
                     FROM pciv_deleted_runs AS d
                    WHERE d.tenant_id = r.tenant_id
                      AND d.project_id = r.project_id
                      AND d.run_id = r.id)

-- name: sources_of_run
-- The sources of a run, in the order of a view.
SELECT id, run_id, {source}, created_at, origin_id
  FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
 ORDER BY id;

-- name: inputs_of_run
-- The inputs of a run, in the order of a view; their sources are filled in from links_of_run.
SELECT id, run_id, pointer, {input}, {value}, NULL AS source_ids
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
 ORDER BY pointer;

-- name: links_of_run
-- Return the links between inputs and sources of a run.
SELECT input_id, source_id
  FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
 ORDER BY input_id, source_id;

-- name: constraints_of_run
-- The constraints of a run, in the order of a view.
SELECT id, run_id, {constraint}, {value}, created_at
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
 ORDER BY key;

-- name: artifacts_of_run
-- The artifacts of a run, in the order of a view.
SELECT id, run_id, {artifact}, created_at, origin_id
  FROM pciv_artifacts
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
 ORDER BY type, created_at, id;

-- name: touch_run
-- Update the time of last change and the revision of a draft.
UPDATE pciv_runs
   SET updated_at = :now,
       sole_writer = CASE WHEN sole_writer = :actor_id THEN sole_writer END,
       rev = rev + 1
 WHERE tenant_id = :tenant_id
   AND id = :run_id
RETURNING rev;

-- name: source
-- Return one source of a run.
SELECT id, run_id, {source}, created_at, origin_id
  FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: add_source
-- Insert a source, unless its id is in use.
INSERT INTO pciv_sources (tenant_id, project_id, run_id, id, {source}, created_at, origin_id)
VALUES (:tenant_id, :project_id, :run_id, :id, {source:values}, :created_at, :origin_id)
    ON CONFLICT DO NOTHING;

-- name: add_input
-- Insert an input, unless its id is in use.
INSERT INTO pciv_inputs (tenant_id, project_id, run_id, id, pointer, {input}, {value})
VALUES (:tenant_id, :project_id, :run_id, :id, :pointer, {input:values}, {value:values})
    ON CONFLICT DO NOTHING;

-- name: links_of_inputs
-- Return the links between the given inputs and their sources.
SELECT input_id, source_id
  FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id IN (SELECT value FROM each(:ids))
 ORDER BY input_id, source_id;

-- name: add_link
-- Link an input to a source.
INSERT INTO pciv_input_sources (tenant_id, project_id, run_id, input_id, source_id)
VALUES (:tenant_id, :project_id, :run_id, :input_id, :source_id);

-- name: remove_link
-- Delete the link between an input and a source.
DELETE FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id = :input_id
   AND source_id = :source_id;

-- name: constraint
-- Return one constraint of a run.
SELECT id, run_id, {constraint}, {value}, created_at
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: add_constraint
-- Insert a constraint, unless its id is in use.
INSERT INTO pciv_constraints (tenant_id, project_id, run_id, id, {constraint}, {value}, created_at)
VALUES (:tenant_id, :project_id, :run_id, :id, {constraint:values}, {value:values}, :created_at)
    ON CONFLICT DO NOTHING;

-- name: artifact
-- Return one artifact of a run.
SELECT id, run_id, {artifact}, created_at, origin_id
  FROM pciv_artifacts
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: add_artifact
-- Insert an artifact, unless its id is in use.
INSERT INTO pciv_artifacts (tenant_id, project_id, run_id, id, {artifact}, created_at, origin_id)
VALUES (:tenant_id, :project_id, :run_id, :id, {artifact:values}, :created_at, :origin_id)
    ON CONFLICT DO NOTHING;

-- name: add_suggestion
-- Insert a suggestion.
INSERT INTO pciv_suggestions (tenant_id, project_id, run_id, id, {value}, {suggestion})
VALUES (:tenant_id, :project_id, :run_id, :id, {value:values}, {suggestion:values});

-- name: set_constraint_source
-- Set the source of a constraint, or null.
UPDATE pciv_constraints
   SET source_id = :source_id
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: change_input
-- Update an input.
UPDATE pciv_inputs
   SET {input:set}, {value:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: change_constraint
-- Update a constraint.
UPDATE pciv_constraints
   SET {constraint:set}, {value:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: change_source
-- Update a source.
UPDATE pciv_sources
   SET {source:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: change_artifact
-- Update an artifact.
UPDATE pciv_artifacts
   SET {artifact:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: pending_suggestions_of_run
-- Return the pending suggestions of a run.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND status = 'pending'
 ORDER BY id;

-- name: inputs_citing
-- Return the inputs that cite a source.
SELECT input_id
  FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_id = :source_id
 ORDER BY input_id;

-- name: constraints_citing
-- Return the constraints that cite a source.
SELECT id
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_id = :source_id
 ORDER BY id;

-- part: use_run_index
-- Without this, SQLite reads the runs of all projects.
INDEXED BY pciv_runs_by_creation
