-- What becomes of versions as a whole.

-- name: add_version
-- A new draft.
INSERT INTO toc_versions (tenant_id, project_id, id, version_number, status, label, source_number, profile, rev,
                          created_at, created_by, updated_at)
VALUES (:tenant_id, :project_id, :id, :number, 'DRAFT', 'draft', :source, :profile, :rev,
        :now, :actor_id, :now);

-- name: publish_version
-- A draft becomes final.
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
RETURNING rev;

-- name: remove_indicators
-- What measures a draft.
DELETE FROM toc_indicators
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_edge_assumptions
-- What is assumed about its edges.
DELETE FROM toc_edge_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_assumptions
-- What is assumed about its nodes.
DELETE FROM toc_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_edges
-- Its edges.
DELETE FROM toc_edges
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_nodes
-- Its nodes.
DELETE FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id;

-- name: remove_version
-- The draft itself.
DELETE FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND id = :version_id;
