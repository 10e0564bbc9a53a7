-- name: versions
-- Return all versions of a project, by number.
SELECT id, project_id, version_number AS number, status, label, source_number AS source, profile, rev, content_hash,
       published_at, published_by, published_rev, context_run_id AS context_run
  FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
 ORDER BY version_number;

-- name: versions_on_run
-- Return the numbers of the versions that were published with a run of facts.
SELECT version_number
  FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND context_run_id = :run_id
 ORDER BY version_number;
