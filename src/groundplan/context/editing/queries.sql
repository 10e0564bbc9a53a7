-- Queries that edit a draft. Rows are read and written back as a whole.

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
SELECT id, run_id, {source}, created_at
  FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: existing_sources
-- Return those of the given sources that are in a run.
SELECT id
  FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id IN (SELECT value FROM each(:ids));

-- name: add_source
-- Insert a source, unless its id is in use.
INSERT INTO pciv_sources (tenant_id, project_id, run_id, id, {source}, created_at)
VALUES (:tenant_id, :project_id, :run_id, :id, {source:values}, :created_at)
    ON CONFLICT DO NOTHING;

-- name: change_source
-- Update a source.
UPDATE pciv_sources
   SET {source:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: inputs_at
-- Return the inputs of a run at the given pointers.
SELECT id, run_id, pointer, {input}, {value}
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND pointer IN (SELECT value FROM each(:pointers));

-- name: input
-- Return one input of a run.
SELECT id, run_id, pointer, {input}, {value}
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: add_input
-- Insert an input, unless its id is in use.
INSERT INTO pciv_inputs (tenant_id, project_id, run_id, id, pointer, {input}, {value})
VALUES (:tenant_id, :project_id, :run_id, :id, :pointer, {input:values}, {value:values})
    ON CONFLICT DO NOTHING;

-- name: change_input
-- Update an input.
UPDATE pciv_inputs
   SET {input:set}, {value:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

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

-- name: change_constraint
-- Update a constraint.
UPDATE pciv_constraints
   SET {constraint:set}, {value:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: artifact
-- Return one artifact of a run.
SELECT id, run_id, {artifact}, created_at
  FROM pciv_artifacts
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: add_artifact
-- Insert an artifact, unless its id is in use.
INSERT INTO pciv_artifacts (tenant_id, project_id, run_id, id, {artifact}, created_at)
VALUES (:tenant_id, :project_id, :run_id, :id, {artifact:values}, :created_at)
    ON CONFLICT DO NOTHING;

-- name: change_artifact
-- Update an artifact.
UPDATE pciv_artifacts
   SET {artifact:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

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

-- name: add_suggestion
-- Insert a suggestion.
INSERT INTO pciv_suggestions (tenant_id, project_id, run_id, id, {value}, {suggestion})
VALUES (:tenant_id, :project_id, :run_id, :id, {value:values}, {suggestion:values});

-- name: decide_suggestion
-- Store a person's decision on a suggestion.
UPDATE pciv_suggestions
   SET status = :status,
       decided_at = :now,
       decided_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_artifact
-- Delete an artifact.
DELETE FROM pciv_artifacts
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: suggestions_for_input
-- Return all suggestions for an input, decided or not.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id = :about
 ORDER BY id;

-- name: suggestions_for_constraint
-- Return all suggestions for a constraint, decided or not.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND constraint_id = :about
 ORDER BY id;

-- name: remove_suggestion
-- Delete a suggestion.
DELETE FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_links_of_input
-- Delete all links of an input.
DELETE FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id = :input_id;

-- name: remove_input
-- Delete an input.
DELETE FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_constraint
-- Delete a constraint.
DELETE FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_source
-- Delete a source that nothing cites any more.
DELETE FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: values_with_only_this_source
-- Return the pointers and keys of source-backed values that have no other source.
SELECT i.pointer
  FROM pciv_input_sources AS l
  JOIN pciv_inputs AS i
    ON i.tenant_id = l.tenant_id
   AND i.run_id = l.run_id
   AND i.id = l.input_id
 WHERE l.tenant_id = :tenant_id
   AND l.run_id = :run_id
   AND l.source_id = :source_id
   AND i.provenance = 'source-backed'
   AND (coalesce(i.value_string, i.value_enum, i.value_json) IS NOT NULL
        OR i.value_number IS NOT NULL OR i.value_boolean IS NOT NULL)
   AND NOT EXISTS (SELECT 1
                     FROM pciv_input_sources AS o
                    WHERE o.tenant_id = l.tenant_id
                      AND o.run_id = l.run_id
                      AND o.input_id = l.input_id
                      AND o.source_id <> l.source_id)
UNION ALL
SELECT key
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_id = :source_id
   AND provenance = 'source-backed'
   AND (coalesce(value_string, value_enum, value_json) IS NOT NULL
        OR value_number IS NOT NULL OR value_boolean IS NOT NULL);

-- name: user_values_citing
-- Return the ids of user-entered values that cite a source.
SELECT i.id
  FROM pciv_input_sources AS l
  JOIN pciv_inputs AS i
    ON i.tenant_id = l.tenant_id
   AND i.run_id = l.run_id
   AND i.id = l.input_id
 WHERE l.tenant_id = :tenant_id
   AND l.run_id = :run_id
   AND l.source_id = :source_id
   AND i.provenance = 'user-entered'
   AND (coalesce(i.value_string, i.value_enum, i.value_json) IS NOT NULL
        OR i.value_number IS NOT NULL OR i.value_boolean IS NOT NULL)
UNION ALL
SELECT id
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_id = :source_id
   AND provenance = 'user-entered'
   AND (coalesce(value_string, value_enum, value_json) IS NOT NULL
        OR value_number IS NOT NULL OR value_boolean IS NOT NULL);

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

-- name: clear_constraint_source
-- Clear the source of a constraint.
UPDATE pciv_constraints
   SET source_id = NULL
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: suggestion_sources
-- Return the suggestions of a run with their sources.
SELECT id, source_ids
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_ids <> '[]'
 ORDER BY id;

-- name: set_suggestion_sources
-- Replace the sources of a suggestion.
UPDATE pciv_suggestions
   SET source_ids = :source_ids
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;
