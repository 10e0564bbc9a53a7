-- What is written into a draft. Rows are read and written back whole.

-- name: touch_run
-- A draft was written to.
UPDATE pciv_runs
   SET updated_at = :now,
       rev = rev + 1
 WHERE tenant_id = :tenant_id
   AND id = :run_id
RETURNING rev;

-- name: source
-- One source of a run.
SELECT id, run_id, {source}, created_at
  FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: existing_sources
-- Which of these sources are in a run.
SELECT id
  FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id IN (SELECT value FROM each(:ids));

-- name: add_source
-- A source that was not there.
INSERT INTO pciv_sources (tenant_id, project_id, run_id, id, {source}, created_at)
VALUES (:tenant_id, :project_id, :run_id, :id, {source:values}, :created_at)
    ON CONFLICT DO NOTHING;

-- name: change_source
-- A source as it shall be.
UPDATE pciv_sources
   SET {source:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: inputs_at
-- The inputs of a run at some pointers.
SELECT id, run_id, pointer, {input}, {value}
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND pointer IN (SELECT value FROM each(:pointers));

-- name: input
-- One input of a run.
SELECT id, run_id, pointer, {input}, {value}
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: add_input
-- An input that was not there.
INSERT INTO pciv_inputs (tenant_id, project_id, run_id, id, pointer, {input}, {value})
VALUES (:tenant_id, :project_id, :run_id, :id, :pointer, {input:values}, {value:values})
    ON CONFLICT DO NOTHING;

-- name: change_input
-- An input as it shall be.
UPDATE pciv_inputs
   SET {input:set}, {value:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: links_of_inputs
-- From which sources some inputs were taken.
SELECT input_id, source_id
  FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id IN (SELECT value FROM each(:ids))
 ORDER BY input_id, source_id;

-- name: add_link
-- That an input was taken from a source.
INSERT INTO pciv_input_sources (tenant_id, project_id, run_id, input_id, source_id)
VALUES (:tenant_id, :project_id, :run_id, :input_id, :source_id);

-- name: remove_link
-- That it was not.
DELETE FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id = :input_id
   AND source_id = :source_id;

-- name: constraint
-- One constraint of a run.
SELECT id, run_id, {constraint}, {value}, created_at
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: add_constraint
-- A constraint that was not there.
INSERT INTO pciv_constraints (tenant_id, project_id, run_id, id, {constraint}, {value}, created_at)
VALUES (:tenant_id, :project_id, :run_id, :id, {constraint:values}, {value:values}, :created_at)
    ON CONFLICT DO NOTHING;

-- name: change_constraint
-- A constraint as it shall be.
UPDATE pciv_constraints
   SET {constraint:set}, {value:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: artifact
-- One artifact of a run.
SELECT id, run_id, {artifact}, created_at
  FROM pciv_artifacts
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: add_artifact
-- An artifact that was not there.
INSERT INTO pciv_artifacts (tenant_id, project_id, run_id, id, {artifact}, created_at)
VALUES (:tenant_id, :project_id, :run_id, :id, {artifact:values}, :created_at)
    ON CONFLICT DO NOTHING;

-- name: change_artifact
-- An artifact as it shall be.
UPDATE pciv_artifacts
   SET {artifact:set}
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: suggestion
-- One suggestion of a run.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: own_suggestion_for_input
-- What the actor suggested for an input and nobody has decided yet.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id = :about
   AND created_by = :actor_id
   AND status = 'pending';

-- name: own_suggestion_for_constraint
-- The same for a constraint.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND constraint_id = :about
   AND created_by = :actor_id
   AND status = 'pending';

-- name: add_suggestion
-- A value beside the one that stands.
INSERT INTO pciv_suggestions (tenant_id, project_id, run_id, id, {value}, {suggestion})
VALUES (:tenant_id, :project_id, :run_id, :id, {value:values}, {suggestion:values});

-- name: decide_suggestion
-- A person has decided.
UPDATE pciv_suggestions
   SET status = :status,
       decided_at = :now,
       decided_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_artifact
-- An artifact that shall not be.
DELETE FROM pciv_artifacts
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: suggestions_for_input
-- What was ever suggested for an input.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id = :about
 ORDER BY id;

-- name: suggestions_for_constraint
-- What was ever suggested for a constraint.
SELECT id, run_id, {value}, {suggestion}
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND constraint_id = :about
 ORDER BY id;

-- name: remove_suggestion
-- A suggestion for something that goes.
DELETE FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_links_of_input
-- Where an input that goes was taken from.
DELETE FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND input_id = :input_id;

-- name: remove_input
-- An input that shall not be.
DELETE FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_constraint
-- A constraint that shall not be.
DELETE FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: remove_source
-- A source that nothing cites any more.
DELETE FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: values_with_only_this_source
-- Source-backed values that would be left without a source.
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
-- Values that a person entered and that name a source.
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
-- The inputs that were taken from a source.
SELECT input_id
  FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_id = :source_id
 ORDER BY input_id;

-- name: constraints_citing
-- The constraints that were taken from a source.
SELECT id
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_id = :source_id
 ORDER BY id;

-- name: clear_constraint_source
-- A constraint whose source goes.
UPDATE pciv_constraints
   SET source_id = NULL
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;

-- name: suggestion_sources
-- What suggestions of a run cite.
SELECT id, source_ids
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_ids <> '[]'
 ORDER BY id;

-- name: set_suggestion_sources
-- A suggestion of which one source goes.
UPDATE pciv_suggestions
   SET source_ids = :source_ids
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id = :id;
