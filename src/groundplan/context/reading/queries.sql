-- Queries of a part of a run.

-- part: has_value
(value_string IS NOT NULL
        OR value_number IS NOT NULL
        OR value_boolean IS NOT NULL
        OR value_enum IS NOT NULL
        OR value_json IS NOT NULL)

-- name: first_constraints
-- The first constraints of a run by key, and how many there are.
SELECT key AS name, label, {value},
       (SELECT count(*) FROM pciv_constraints WHERE tenant_id = :tenant_id AND run_id = :run_id) AS total
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
 ORDER BY key
 LIMIT :at_most;

-- name: first_facts
-- The first inputs of a run that have a value, some pointers before the others, by label, and how many there are. They
-- are counted apart: for a window SQLite would copy all rows before it sorts them.
SELECT pointer AS name, label, {value},
       (SELECT count(*) FROM pciv_inputs WHERE tenant_id = :tenant_id AND run_id = :run_id AND {has_value}) AS total
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND {has_value}
 ORDER BY CASE WHEN pointer IN (SELECT value FROM each(:linked)) THEN 0 ELSE 1 END, label, pointer
 LIMIT :at_most;

-- name: pointers_with_value
-- Those of some pointers that have a value in a run.
SELECT pointer
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND pointer IN (SELECT value FROM each(:pointers))
   AND {has_value};
