-- part: has_wanted_properties
-- Differs from SQLite, whose json_each has columns of its own.
NOT EXISTS (
        SELECT 1
          FROM json_array_elements(:wanted::json) AS w (value)
         WHERE EXISTS (
            SELECT 1
              FROM json_each(c.properties::json) AS has
             WHERE has.key = w.value ->> 0
               AND CASE w.value ->> 1
                   WHEN 'null' THEN true
                   WHEN 'number' THEN json_typeof(has.value) = 'number'
                        AND has.value::text::numeric = (w.value ->> 2)::numeric
                   WHEN 'string' THEN json_typeof(has.value) = 'string' AND has.value #>> '{}' = w.value ->> 2
                   WHEN 'json' THEN json_typeof(has.value) IN ('array', 'object') AND has.value::text = w.value ->> 2
                   ELSE has.value::text = w.value ->> 1
                   END
         ) = (w.value ->> 1 = 'null')
     )

-- name: node_with_property
-- Differs from SQLite, whose json_each takes text.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND EXISTS (SELECT 1 FROM json_each(c.properties::json) AS has WHERE has.key = :name)
 LIMIT 1;
