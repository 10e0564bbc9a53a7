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

-- name: constraint_by_key
-- Return the constraint of a run that has a key.
SELECT id, run_id, {constraint}, {value}, created_at
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND key = :key;
