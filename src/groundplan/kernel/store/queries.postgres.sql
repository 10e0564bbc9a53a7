-- name: lock_project
-- Differs from SQLite, where nobody waits here: the moment of the write is the one behind the wait for the lock, by the
-- clock that all clients share unless one was given.
UPDATE projects
   SET rev = rev + 1,
       updated_at = coalesce(:clock::text, gp_now())
 WHERE tenant_id = :tenant_id
   AND id = :project_id
RETURNING rev, updated_at;

-- name: lock_organization
-- Differs from SQLite for the same reason.
UPDATE organizations
   SET rev = rev + 1
 WHERE id = :tenant_id
RETURNING rev, coalesce(:clock::text, gp_now());

-- name: sweep_answers
-- Differs from SQLite, which has no policies: here an actor sees only the answers it got itself, so a function of the
-- schema's owner sweeps for all of them.
SELECT gp_sweep_answers(:kept_since, :at_most);

-- name: add_event
-- Differs from SQLite, where a statement costs next to nothing: here many rows travel at once, and the policies are asked
-- once for all of them.
INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes, decision)
SELECT :tenant_id, r.project_id, r.rev, r.n, r.v, :now, :actor_id, r.op, r.subject, r.changes, r.decision
  FROM json_to_recordset(:rows::json)
    AS r (project_id text, rev bigint, n bigint, v bigint, op text, subject text, changes text, decision text);
