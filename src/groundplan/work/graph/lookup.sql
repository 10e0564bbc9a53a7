-- name: tags_of_nodes
-- The tags of some nodes.
SELECT t.node_n, t.tag
  FROM work_node_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY t.node_n, t.tag;
