-- Find the edges that may lead the other way since a change of their meaning.

-- name: edges_of_one_level
-- Return the keys of both ends of the DEPENDS_ON edges of a version that stay on one level.
SELECT s.key AS source, t.key AS target
  FROM toc_edges AS e
  JOIN toc_nodes AS s ON s.tenant_id = e.tenant_id AND s.toc_version_id = e.toc_version_id AND s.id = e.source_node_id
  JOIN toc_nodes AS t ON t.tenant_id = e.tenant_id AND t.toc_version_id = e.toc_version_id AND t.id = e.target_node_id
 WHERE e.tenant_id = :tenant_id
   AND e.toc_version_id = :version_id
   AND e.edge_type = 'DEPENDS_ON'
   AND s.node_type = t.node_type
 ORDER BY s.key, t.key;
