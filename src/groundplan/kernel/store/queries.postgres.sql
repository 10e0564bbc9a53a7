-- name: lock_project
-- Differs from SQLite, where this does not wait: here it takes the lock, and returns the revision and the time after the
-- wait, by the clock of the database unless a clock is given. The time limit of the write begins after the wait as well.
UPDATE projects
   SET rev = rev + 1,
       updated_at = gp_write_time(updated_at, :clock)
 WHERE tenant_id = :tenant_id
   AND id = :project_id
RETURNING rev, updated_at, set_config('statement_timeout', :statement_timeout, true);

-- name: lock_organization
-- Differs from SQLite for the same reasons.
UPDATE organizations
   SET rev = rev + 1,
       updated_at = gp_write_time(updated_at, :clock)
 WHERE id = :tenant_id
RETURNING rev, updated_at, set_config('statement_timeout', :statement_timeout, true);

-- name: sweep_answers
-- Differs from SQLite, which has no policies: here an actor sees only its own answers, so a function of the owner of the
-- schema deletes those of all actors.
SELECT gp_sweep_answers(:kept_since, :kept_until, :later_min, :at_most);

-- part: last_answer
-- Differs from SQLite for the same reason: the last answer may be another actor's.
(SELECT gp_last_answer())

-- name: add_events
-- Differs from SQLite, which takes row by row: here one statement takes all of them, and the policies are evaluated once.
INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes, decision)
SELECT :tenant_id, r.project_id, r.rev, r.n, r.v, :now, :actor_id, r.op, r.subject, r.changes, r.decision
  FROM json_to_recordset(:rows::json)
    AS r (project_id text, rev bigint, n bigint, v bigint, op text, subject text, changes text, decision text);

-- name: add_alike_events
-- Differs from SQLite, where the elements of a JSON array have their position as a key.
INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes, decision)
SELECT :tenant_id, :project_id, :rev, :first::bigint + r.place - 1, :v::bigint, :now, :actor_id, :op::text, r.subject,
       :changes::text, :decision::text
  FROM json_array_elements_text(:subjects::json) WITH ORDINALITY AS r (subject, place);

-- name: tables_with_prefix
-- Differs from SQLite, which has another catalog.
SELECT relname::text
  FROM pg_class
 WHERE relnamespace = current_schema()::regnamespace
   AND relkind IN ('r', 'p')
   AND left(relname, length(:prefix::text)) = :prefix::text
 ORDER BY relname::text COLLATE "C";

-- name: live_structures
-- Differs from SQLite, which has another catalog.
SELECT t.relname::text,
       json_build_object(
           'columns',
           coalesce(
               (SELECT json_object_agg(a.attname, format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)
                  FROM pg_attribute AS a
                 WHERE a.attrelid = t.oid
                   AND a.attnum > 0
                   AND NOT a.attisdropped),
               '{}'
           ),
           'keys',
           coalesce(
               (SELECT json_agg(ARRAY(SELECT a.attname
                                        FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
                                        JOIN pg_attribute AS a
                                          ON a.attrelid = t.oid
                                         AND a.attnum = k.attnum
                                       ORDER BY k.place)
                                ORDER BY i.indexrelid)
                  FROM pg_index AS i
                 WHERE i.indrelid = t.oid
                   AND i.indisunique
                   AND i.indpred IS NULL
                   AND i.indexprs IS NULL),
               '[]'
           ),
           'references',
           coalesce(
               (SELECT json_agg(json_build_object(
                                    'columns', ARRAY(SELECT a.attname
                                                       FROM unnest(r.conkey) WITH ORDINALITY AS k (attnum, place)
                                                       JOIN pg_attribute AS a
                                                         ON a.attrelid = t.oid
                                                        AND a.attnum = k.attnum
                                                      ORDER BY k.place),
                                    'table', (SELECT f.relname FROM pg_class AS f WHERE f.oid = r.confrelid)
                                )
                                ORDER BY r.conname)
                  FROM pg_constraint AS r
                 WHERE r.conrelid = t.oid
                   AND r.contype = 'f'),
               '[]'
           )
       )::text
  FROM pg_class AS t
 WHERE t.relnamespace = current_schema()::regnamespace
   AND t.relkind IN ('r', 'p')
   AND t.relname::text IN (SELECT value FROM each(:names));

-- name: live_row_security
-- Differs from SQLite, which has no row level security. A missing table is returned as unprotected; only permissive
-- policies for the current role are returned.
SELECT asked.value,
       json_build_object(
           'enabled', coalesce(t.relrowsecurity, false),
           'forced', coalesce(t.relforcerowsecurity, false),
           'policies',
           coalesce(
               (SELECT json_agg(json_build_object(
                                    'name', p.polname,
                                    'command', CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT'
                                                             WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE'
                                                             ELSE 'ALL' END,
                                    'reads', pg_get_expr(p.polqual, p.polrelid),
                                    'writes', pg_get_expr(p.polwithcheck, p.polrelid)
                                )
                                ORDER BY p.polname)
                  FROM pg_policy AS p
                 WHERE p.polrelid = t.oid
                   AND p.polpermissive
                   AND EXISTS (SELECT 1 FROM unnest(p.polroles) AS role WHERE role = 0 OR pg_has_role(role, 'USAGE'))),
               '[]'
           ),
           'owned', coalesce(pg_has_role(t.relowner, 'MEMBER'), false),
           'is_superuser', EXISTS (SELECT 1 FROM pg_roles AS r WHERE r.rolsuper AND pg_has_role(r.oid, 'MEMBER')),
           'bypasses_policies', EXISTS (SELECT 1
                                          FROM pg_roles AS r
                                         WHERE r.rolbypassrls
                                           AND pg_has_role(r.oid, 'MEMBER'))
       )::text
  FROM each(:names) AS asked
  LEFT JOIN pg_class AS t
    ON t.relname::text = asked.value
   AND t.relnamespace = current_schema()::regnamespace
   AND t.relkind IN ('r', 'p');
