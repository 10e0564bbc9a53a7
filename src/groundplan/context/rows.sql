-- name: existing_sources
-- Return those of the given sources that are in a run.
SELECT id
  FROM pciv_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND id IN (SELECT value FROM each(:ids));

-- name: values_of_persons_citing
-- Return the ids of values that a person set and that cite a source.
SELECT i.id
  FROM pciv_input_sources AS l
  JOIN pciv_inputs AS i
    ON i.tenant_id = l.tenant_id
   AND i.run_id = l.run_id
   AND i.id = l.input_id
 WHERE l.tenant_id = :tenant_id
   AND l.run_id = :run_id
   AND l.source_id = :source_id
   AND (i.provenance = 'user-entered' OR i.updated_by = 'user')
   AND (coalesce(i.value_string, i.value_enum, i.value_json) IS NOT NULL
        OR i.value_number IS NOT NULL OR i.value_boolean IS NOT NULL)
UNION ALL
SELECT id
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_id = :source_id
   AND (provenance = 'user-entered' OR updated_by = 'user')
   AND (coalesce(value_string, value_enum, value_json) IS NOT NULL
        OR value_number IS NOT NULL OR value_boolean IS NOT NULL);
