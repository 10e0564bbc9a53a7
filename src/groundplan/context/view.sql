-- name: displaced
-- Return what a person entered in a run and another run displaces, with its value before.
SELECT pointer, key, change, value_kind, value_string, value_number, value_boolean, value_enum, value_json
  FROM pciv_displaced
 WHERE tenant_id = :tenant_id
   AND before_run_id = :before_id
   AND run_id = :run_id
 ORDER BY CASE WHEN pointer IS NULL THEN 1 ELSE 0 END, coalesce(pointer, key);
