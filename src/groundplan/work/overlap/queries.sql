-- name: claimed_nodes
-- The open nodes with a live claim and paths, best first.
SELECT c.n, c.id, c.summary, c.claimed_by, c.context_links
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.claimed_by IS NOT NULL
   AND NOT c.resolved
   AND (c.claimed_until IS NULL OR c.claimed_until > :now)
   AND c.context_links <> '[]'
 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
 LIMIT :at_most;
