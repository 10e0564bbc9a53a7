-- What the write path itself asks and writes: who may come in, the lock, the events, the answers kept for op_ids.

-- name: project_for_actor
-- A project by id or by name, with the actor's role in it. What the actor may see goes first, so that a hidden
-- project's id cannot shadow the name of a visible one.
SELECT p.id, p.name, p.rev, p.archived_at, m.role
  FROM projects AS p
  LEFT JOIN project_members AS m
    ON m.tenant_id = p.tenant_id
   AND m.project_id = p.id
   AND m.user_id = :actor_id
 WHERE p.tenant_id = :tenant_id
   AND (p.id = :ref OR p.name = :ref)
 ORDER BY m.role IS NULL, p.id <> :ref
 LIMIT 1;

-- name: visible_project_names
-- Names to suggest after a typing slip: only of projects that the actor may see anyway.
SELECT p.name
  FROM projects AS p
 WHERE p.tenant_id = :tenant_id
   AND (:sees_all OR EXISTS (SELECT 1
                               FROM project_members AS m
                              WHERE m.tenant_id = p.tenant_id
                                AND m.project_id = p.id
                                AND m.user_id = :actor_id))
 ORDER BY p.name
 LIMIT 1000;

-- name: organization_membership
-- A row when the actor belongs to the organization.
SELECT 1
  FROM user_memberships
 WHERE tenant_id = :tenant_id
   AND user_id = :actor_id;

-- name: lock_project
-- The first statement of every write: at once the lock of the project, its next revision and the place of its events.
UPDATE projects
   SET rev = rev + 1,
       updated_at = :now
 WHERE tenant_id = :tenant_id
   AND id = :project_id
RETURNING rev;

-- name: lock_organization
-- The same for a write to the organization, such as making a project.
UPDATE organizations
   SET rev = rev + 1
 WHERE id = :tenant_id
RETURNING rev;

-- name: add_event
-- Append an event of a project.
INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes, decision)
VALUES (:tenant_id, :project_id, :rev, :n, :v, :now, :actor_id, :op, :subject, :changes, :decision);

-- name: add_organization_event
-- Append an event of the organization.
INSERT INTO organization_events (tenant_id, rev, n, v, at, actor_id, op, subject, changes, decision)
VALUES (:tenant_id, :rev, :n, :v, :now, :actor_id, :op, :subject, :changes, :decision);

-- name: answer_given
-- What this op_id was answered, unless that is too long ago.
SELECT body_digest, answer
  FROM answers
 WHERE tenant_id = :tenant_id
   AND actor_id = :actor_id
   AND op_id = :op_id
   AND at >= :kept_since;

-- name: keep_answer
-- Keep an answer. No row back means that a living answer is there already.
INSERT INTO answers (tenant_id, actor_id, op_id, body_digest, answer, at)
VALUES (:tenant_id, :actor_id, :op_id, :body_digest, :answer, :now)
    ON CONFLICT (tenant_id, actor_id, op_id) DO UPDATE
   SET body_digest = excluded.body_digest,
       answer = excluded.answer,
       at = excluded.at
 WHERE answers.at < :kept_since
RETURNING 1;

-- name: sweep_answers
-- Take a few old answers away.
DELETE FROM answers
 WHERE (tenant_id, actor_id, op_id) IN (SELECT tenant_id, actor_id, op_id
                                          FROM answers
                                         WHERE tenant_id = :tenant_id
                                           AND at < :kept_since
                                         ORDER BY at
                                         LIMIT :at_most)
RETURNING 1;
