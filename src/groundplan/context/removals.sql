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
