-- name: revisions
-- The revisions of some nodes.
SELECT c.id, c.rev
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids));

-- name: resolved_early
-- The resolved nodes among some nodes that are blocked all the same, and by what.
SELECT c.id, c.open_deps > 0 AS has_open_deps, c.held_reason IS NOT NULL AS is_held, c.blocked_above > 0 AS is_held_back
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND c.resolved
   AND (c.open_deps > 0 OR c.held_reason IS NOT NULL OR c.blocked_above > 0)
 ORDER BY c.n;
