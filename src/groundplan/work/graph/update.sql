-- name: revisions
-- The revisions of some nodes.
SELECT c.id, c.rev
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id IN (SELECT value FROM each(:ids));

-- name: resolved_early
-- The resolved nodes among some nodes that have open dependencies.
SELECT c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND c.resolved
   AND c.open_deps > 0
 ORDER BY c.n;
