-- name: counts_by_type
-- The number of nodes of each type in a version.
SELECT node_type, count(*) AS total
  FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
 GROUP BY node_type;

-- name: first_goal
-- The oldest goal of a version.
SELECT key, title
  FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id = :version_id
   AND node_type = 'GOAL'
 ORDER BY length(key), key
 LIMIT 1;
