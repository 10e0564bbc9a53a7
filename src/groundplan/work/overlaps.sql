-- name: in_progress
-- Nodes that others work on now: their claim is live, or they are ACTIVE without a claim. A node that waits for others
-- is not worked on. Two seeks; the claimed and the ACTIVE are few.
SELECT *
  FROM (SELECT c.n, c.id, c.summary, c.claimed_by, c.context_links
          FROM work_nodes AS c
         WHERE {is_claimed_by_others}
         ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
         LIMIT :at_most) AS claimed
 UNION ALL
SELECT *
  FROM (SELECT c.n, c.id, c.summary, NULL AS claimed_by, c.context_links
          FROM work_nodes AS c
         WHERE {is_active_unclaimed}
         ORDER BY c.feature_n NULLS FIRST, c.n
         LIMIT :at_most) AS active;

-- name: context_files_of
-- The sections of some nodes that may list their files; the caller compares the titles.
SELECT s.node_n AS n, s.title, s.content
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND lower(s.title) LIKE '%context%files%'
 ORDER BY s.node_n, s.ordinal;
