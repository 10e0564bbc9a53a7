-- name: dropped
-- Return the names of what a run has and another run has not: inputs, constraints, sources, artifacts.
SELECT b.pointer AS name
  FROM pciv_inputs AS b
 WHERE b.tenant_id = :tenant_id
   AND b.run_id = :before_id
   AND NOT EXISTS (SELECT 1
                     FROM pciv_inputs AS n
                    WHERE n.tenant_id = b.tenant_id
                      AND n.run_id = :run_id
                      AND n.pointer = b.pointer)
UNION ALL
SELECT 'constraint:' || b.key
  FROM pciv_constraints AS b
 WHERE b.tenant_id = :tenant_id
   AND b.run_id = :before_id
   AND NOT EXISTS (SELECT 1
                     FROM pciv_constraints AS n
                    WHERE n.tenant_id = b.tenant_id
                      AND n.run_id = :run_id
                      AND n.key = b.key)
UNION ALL
SELECT 'source:' || coalesce(b.origin_id, b.id)
  FROM pciv_sources AS b
 WHERE b.tenant_id = :tenant_id
   AND b.run_id = :before_id
   AND coalesce(b.origin_id, b.id) NOT IN (SELECT coalesce(n.origin_id, n.id)
                                             FROM pciv_sources AS n
                                            WHERE n.tenant_id = b.tenant_id
                                              AND n.run_id = :run_id)
UNION ALL
SELECT 'artifact:' || coalesce(b.origin_id, b.id)
  FROM pciv_artifacts AS b
 WHERE b.tenant_id = :tenant_id
   AND b.run_id = :before_id
   AND coalesce(b.origin_id, b.id) NOT IN (SELECT coalesce(n.origin_id, n.id)
                                             FROM pciv_artifacts AS n
                                            WHERE n.tenant_id = b.tenant_id
                                              AND n.run_id = :run_id)
 ORDER BY name;

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
       base_run_id = :base_run_id,
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
 ORDER BY key;

-- name: count_pending_suggestions
-- Count the pending suggestions of a run.
SELECT count(*)
  FROM pciv_suggestions
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND status = 'pending';

-- part: same_value
n.value_kind = p.value_kind
   AND coalesce(coalesce(n.value_string, n.value_enum, n.value_json)
                = coalesce(p.value_string, p.value_enum, p.value_json),
                n.value_number = p.value_number, n.value_boolean = p.value_boolean, false)

-- part: rank_before
CASE p.provenance WHEN 'user-entered' THEN 3 WHEN 'source-backed' THEN 2 ELSE 1 END

-- part: rank_now
CASE n.provenance WHEN 'user-entered' THEN 3 WHEN 'source-backed' THEN 2 ELSE 1 END

-- part: is_persons_entry
-- Whether a person set a value, and another run repeats it with a lower provenance or by somebody else.
(p.provenance = 'user-entered' OR p.updated_by = 'user')
   AND ({rank_now} < {rank_before} OR (p.updated_by = 'user' AND n.updated_by <> 'user'))
   AND {same_value}

-- part: repeated_entries_of_inputs
FROM pciv_inputs AS p
  JOIN pciv_inputs AS n
    ON n.tenant_id = p.tenant_id
   AND n.run_id = :run_id
   AND n.pointer = p.pointer
 WHERE p.tenant_id = :tenant_id
   AND p.run_id = :before_id
   AND {is_persons_entry}
 ORDER BY p.pointer

-- name: entered_inputs
-- Return the inputs that a person set in a run, and whose values another run repeats.
SELECT p.id, p.run_id, p.pointer, {p.input}, {p.value}
  {repeated_entries_of_inputs};

-- name: repeated_inputs
-- Return the inputs that repeat them, in the same order.
SELECT n.id, n.run_id, n.pointer, {n.input}, {n.value}
  {repeated_entries_of_inputs};

-- name: facts_with_sources
-- Return the ids of the inputs and constraints of a run that cite sources.
SELECT input_id
  FROM pciv_input_sources
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
 UNION
SELECT id
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND source_id IS NOT NULL;

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
   AND {is_persons_entry}
 ORDER BY p.key

-- name: entered_constraints
-- Return the constraints that a person set in a run, and whose values another run repeats.
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
