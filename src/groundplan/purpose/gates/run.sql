-- name: published_external_facts
-- Return the outside facts at the publication of a version.
SELECT outside
  FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND id = :version_id;
