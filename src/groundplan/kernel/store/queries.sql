-- Statements of the store itself: authorization, the lock, the events, the stored answers of op_ids.

-- name: projects_for_actor
-- Returns the project with this id and the one with this name, with the role of the actor in each. Two index lookups:
-- with OR, SQLite would read every project of the organization.
SELECT p.id, p.name, p.rev, p.archived_at, p.policies, p.updated_at, p.machine_start, m.role
  FROM projects AS p
  LEFT JOIN project_members AS m
    ON m.tenant_id = p.tenant_id
   AND m.project_id = p.id
   AND m.user_id = :actor_id
 WHERE p.tenant_id = :tenant_id
   AND p.id = :ref
UNION ALL
SELECT p.id, p.name, p.rev, p.archived_at, p.policies, p.updated_at, p.machine_start, m.role
  FROM projects AS p
  LEFT JOIN project_members AS m
    ON m.tenant_id = p.tenant_id
   AND m.project_id = p.id
   AND m.user_id = :actor_id
 WHERE p.tenant_id = :tenant_id
   AND p.name = :ref;

-- name: projects_by_ref
-- Returns the same for an actor with access to all projects.
SELECT id, name, rev, archived_at, policies, updated_at, machine_start, 'owner' AS role
  FROM projects
 WHERE tenant_id = :tenant_id
   AND id = :ref
UNION ALL
SELECT id, name, rev, archived_at, policies, updated_at, machine_start, 'owner' AS role
  FROM projects
 WHERE tenant_id = :tenant_id
   AND name = :ref;

-- name: project_names
-- Returns names to suggest for a misspelled one, for an actor with access to all projects.
SELECT name
  FROM projects
 WHERE tenant_id = :tenant_id
 ORDER BY name
 LIMIT 1000;

-- name: project_names_of_member
-- Returns the same for other actors: only names of projects that the actor may see.
SELECT p.name
  FROM project_members AS m
  JOIN projects AS p
    ON p.tenant_id = m.tenant_id
   AND p.id = m.project_id
 WHERE m.tenant_id = :tenant_id
   AND m.user_id = :actor_id
 LIMIT 1000;

-- name: projects_of_member
-- Returns the ids of the projects that the actor is a member of.
SELECT project_id
  FROM project_members
 WHERE tenant_id = :tenant_id
   AND user_id = :actor_id;

-- name: roles_of_user
-- Returns the projects that a user is a member of, with the role in each.
SELECT project_id, role
  FROM project_members
 WHERE tenant_id = :tenant_id
   AND user_id = :user_id;

-- name: role_of_user
-- Returns the role of a user in a project.
SELECT role
  FROM project_members
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND user_id = :user_id;

-- name: names_of_projects
-- Returns the names of some projects.
SELECT name
  FROM projects
 WHERE tenant_id = :tenant_id
   AND id IN (SELECT value FROM each(:ids))
 LIMIT 1000;

-- name: organization_membership
-- Returns the role of the actor in the organization, if they belong to it.
SELECT role
  FROM user_memberships
 WHERE tenant_id = :tenant_id
   AND user_id = :actor_id;

-- name: organization_exists
-- Returns a row if there is the organization.
SELECT 1
  FROM organizations
 WHERE id = :tenant_id;

-- name: project_creators
-- Returns who may create projects; no row if nobody has set it.
SELECT project_creators
  FROM organization_settings
 WHERE tenant_id = :tenant_id;

-- name: owned_project
-- Returns a row if the actor owns a project.
SELECT 1
  FROM project_members
 WHERE tenant_id = :tenant_id
   AND user_id = :actor_id
   AND role = 'owner'
 LIMIT 1;

-- name: lock_project
-- The first change of every write: it gives the project its next revision, which orders its events, and the time of the
-- write. The transaction has held the lock from its start, so both follow from the row that authorized the write.
UPDATE projects
   SET rev = :write_rev,
       updated_at = :now
 WHERE tenant_id = :tenant_id
   AND id = :project_id;

-- name: lock_organization
-- Does the same for a write to the organization, such as creating a project, and returns its revision and time: never
-- before the last write, unless that is too far ahead of this clock to be right.
UPDATE organizations
   SET rev = rev + 1,
       updated_at = CASE WHEN updated_at > :now AND updated_at <= :latest THEN updated_at ELSE :now END
 WHERE id = :tenant_id
RETURNING rev, updated_at;

-- name: set_machine_start
-- Store which start of its machine the clock of this write knows, and when it was by that clock.
UPDATE projects
   SET machine_start = :machine_start
 WHERE tenant_id = :tenant_id
   AND id = :project_id;

-- name: cursor_key
-- Returns the key that signs the cursors of the organization.
SELECT cursor_key
  FROM organizations
 WHERE id = :tenant_id;

-- name: add_event
-- Append an event of a project.
INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes, decision)
VALUES (:tenant_id, :project_id, :rev, :n, :v, :now, :actor_id, :op, :subject, :changes, :decision);

-- name: add_events
-- Append many events of a project: the same row by row, because SQLite would parse a list of rows once for each column.
INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes, decision)
VALUES (:tenant_id, :project_id, :rev, :n, :v, :now, :actor_id, :op, :subject, :changes, :decision);

-- name: add_alike_events
-- Append events that differ in nothing but their subject: half the time of `add_events`, because no row is parsed.
INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes, decision)
SELECT :tenant_id, :project_id, :rev, :first + r.key, :v, :now, :actor_id, :op, r.value, :changes, :decision
  FROM each(:subjects) AS r;

-- name: add_organization_event
-- Append an event of the organization.
INSERT INTO organization_events (tenant_id, rev, n, v, at, actor_id, op, subject, changes, decision)
VALUES (:tenant_id, :rev, :n, :v, :now, :actor_id, :op, :subject, :changes, :decision);

-- name: stored_answer
-- Returns the stored answer of this op_id unless it is expired.
SELECT body_digest, answer
  FROM answers
 WHERE tenant_id = :tenant_id
   AND actor_id = :actor_id
   AND op_id = :op_id
   AND NOT {is_expired};

-- part: last_answer
-- The number of the last answer of the organization.
(SELECT coalesce(max(n), 0) FROM answers WHERE tenant_id = :tenant_id)

-- part: is_expired
-- Whether an answer is old by its time, on either side, and by the number of later answers: a clock that is wrong for a
-- moment must not make it old, and an answer of such a clock must not stay for ever.
((answers.at < :kept_since OR answers.at > :kept_until) AND answers.n <= {last_answer} - :later_min)

-- name: store_answer
-- Store an answer. Returns no row if there is one that is not expired.
INSERT INTO answers (tenant_id, actor_id, op_id, body_digest, answer, at, n)
VALUES (:tenant_id, :actor_id, :op_id, :body_digest, :answer, :now, {last_answer} + 1)
    ON CONFLICT (tenant_id, actor_id, op_id) DO UPDATE
   SET body_digest = excluded.body_digest,
       answer = excluded.answer,
       at = excluded.at,
       n = excluded.n
 WHERE {is_expired}
RETURNING 1;

-- name: sweep_answers
-- Delete the expired ones of the first answers, which costs the same whatever there is.
DELETE FROM answers
 WHERE (tenant_id, actor_id, op_id) IN (SELECT tenant_id, actor_id, op_id
                                          FROM (SELECT tenant_id, actor_id, op_id, at
                                                  FROM answers
                                                 WHERE tenant_id = :tenant_id
                                                   AND n <= {last_answer} - :later_min
                                                 ORDER BY n
                                                 LIMIT :at_most) AS looked_at
                                         WHERE at < :kept_since
                                            OR at > :kept_until)
RETURNING 1;

-- name: tables_with_prefix
-- Returns the tables whose names start with :prefix.
SELECT name
  FROM sqlite_schema
 WHERE type = 'table'
   AND substr(name, 1, length(:prefix)) = :prefix
 ORDER BY name;

-- name: migration_time
-- Returns when the database has taken a migration.
SELECT applied_at
  FROM schema_migrations
 WHERE name = :name;

-- name: live_structures
-- Returns the columns, the unique keys and the references of some tables as JSON. A key of INTEGER PRIMARY KEY has no index.
SELECT t.value,
       json_object(
           'columns',
           (SELECT json_group_object(name, type)
              FROM (SELECT name, type FROM pragma_table_xinfo(t.value) ORDER BY cid)),
           'keys',
           (SELECT json_group_array(json(columns))
              FROM (SELECT json_array(max(name)) AS columns
                      FROM pragma_table_xinfo(t.value)
                     WHERE pk
                    HAVING count(*) = 1
                     UNION
                    SELECT (SELECT json_group_array(name)
                              FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno))
                      FROM pragma_index_list(t.value) AS i
                     WHERE i."unique"
                       AND NOT i.partial
                       AND NOT EXISTS (SELECT 1 FROM pragma_index_info(i.name) WHERE name IS NULL))),
           'references',
           (SELECT json_group_array(json(reference))
              FROM (SELECT json_object('columns', json_group_array("from"), 'table', "table") AS reference
                      FROM (SELECT * FROM pragma_foreign_key_list(t.value) ORDER BY id, seq)
                     GROUP BY id))
       )
  FROM each(:names) AS t
 WHERE EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = t.value);

-- name: live_row_security
-- Returns the row level security of some tables: SQLite has none.
SELECT value, NULL
  FROM each(:names)
 WHERE false;
