-- Count what the checklist verifies.

-- name: draft_count
-- Return how many drafts a project has: 0 or 1.
SELECT count(*)
  FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND status = 'DRAFT';
