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
