-- Create, publish and discard versions.

-- name: add_version
-- Insert a draft.
INSERT INTO toc_versions (tenant_id, project_id, id, version_number, status, label, source_number, profile, rev,
                          created_at, created_by, sole_writer, updated_at)
VALUES (:tenant_id, :project_id, :id, :number, 'DRAFT', 'draft', :source, :profile, :rev,
        :now, :actor_id, :actor_id, :now);

-- name: sole_writer
-- The only actor that has written to a draft, or null if there are several.
SELECT sole_writer
  FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND id = :version_id;

-- name: publish_version
-- Publish a draft, and return its revision.
UPDATE toc_versions
   SET status = 'PUBLISHED',
       label = :label,
       content_hash = :content_hash,
       context_run_id = :context_run,
       gates = :gates,
       outside = :outside,
       published_at = :now,
       published_by = :actor_id,
       published_rev = :project_rev,
       updated_at = :now,
       rev = rev + 1
 WHERE tenant_id = :tenant_id
   AND id = :version_id
   AND status = 'DRAFT'
   AND project_id = :project_id
RETURNING rev;

-- name: remove_indicators
-- Delete the indicators of a draft.
DELETE FROM toc_indicators
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_edge_assumptions
-- Delete the assumptions on the edges of a draft.
DELETE FROM toc_edge_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_assumptions
-- Delete the assumptions on the nodes of a draft.
DELETE FROM toc_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_edges
-- Delete the edges of a draft.
DELETE FROM toc_edges
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_nodes
-- Delete the nodes of a draft.
DELETE FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_version
-- Delete the draft itself.
DELETE FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND id = :version_id;
