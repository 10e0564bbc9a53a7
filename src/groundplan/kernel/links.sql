-- columns: link
source, type, target, node_n, rev, created_at, created_by

-- name: any_link
-- Returns a row if the project has a link.
SELECT 1
  FROM links
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
 LIMIT 1;

-- name: links_from
-- Returns the links that begin at some sources, by source, type and target.
SELECT {link}
  FROM links
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND source IN (SELECT value FROM each(:sources))
 ORDER BY source, type, target;

-- name: links_to
-- Returns the links of one type that end at some targets, by target and source.
SELECT {link}
  FROM links
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND type = :type
   AND target IN (SELECT value FROM each(:targets))
 ORDER BY target, source;

-- name: links_of_type
-- Returns the links of one type in the project, by target and source, behind a position.
SELECT {link}
  FROM links
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND type = :type
   AND (target, source) > (:target, :source)
 ORDER BY target, source
 LIMIT :at_most;

-- name: link_ends
-- Returns both ends of all links of one type that begin at work nodes.
SELECT node_n, target
  FROM links
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND type = :type
   AND node_n IS NOT NULL
 ORDER BY target, source;

-- name: add_link
-- Add a link unless it exists.
INSERT INTO links (tenant_id, project_id, source, type, target, node_n, rev, created_at, created_by)
VALUES (:tenant_id, :project_id, :source, :type, :target, :node_n, :write_rev, :now, :actor_id)
    ON CONFLICT DO NOTHING;

-- name: copy_links
-- Add all links of a source to another one, which keeps those that it has. They stay as old as they are.
INSERT INTO links (tenant_id, project_id, source, type, target, node_n, rev, created_at, created_by)
SELECT tenant_id, project_id, :to_source, type, target, CAST(:to_node_n AS bigint), rev, created_at, created_by
  FROM links
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND source = :source
    ON CONFLICT DO NOTHING;

-- name: remove_link
-- Remove a link.
DELETE FROM links
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND source = :source
   AND type = :type
   AND target = :target;

-- name: remove_links_of
-- Remove all links that begin at a source.
DELETE FROM links
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND source = :source;
