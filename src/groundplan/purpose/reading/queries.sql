-- name: newest_versions
-- Return the two versions with the highest numbers: the draft, if there is one, and the latest published version.
SELECT id, status
  FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
 ORDER BY version_number DESC
 LIMIT 2;

-- name: link_targets
-- Return the nodes and assumptions with some keys in some versions, with one index seek for each key and version.
SELECT t.toc_version_id AS version_id, t.key, t.node_type AS kind, t.title
  FROM each(:version_ids) AS v
 CROSS JOIN each(:keys) AS k
 CROSS JOIN toc_nodes AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
   AND t.key = k.value
 UNION ALL
SELECT t.toc_version_id, t.key, 'assumption', t.assumption_text
  FROM each(:version_ids) AS v
 CROSS JOIN each(:keys) AS k
 CROSS JOIN toc_assumptions AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
   AND t.key = k.value
 UNION ALL
SELECT t.toc_version_id, t.key, 'assumption', t.assumption_text
  FROM each(:version_ids) AS v
 CROSS JOIN each(:keys) AS k
 CROSS JOIN toc_edge_assumptions AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
   AND t.key = k.value;

-- name: link_target_keys
-- Return keys of nodes and assumptions of some versions, to suggest them for unknown ones.
SELECT t.key
  FROM each(:version_ids) AS v
 CROSS JOIN toc_nodes AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
 UNION
SELECT t.key
  FROM each(:version_ids) AS v
 CROSS JOIN toc_assumptions AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
 UNION
SELECT t.key
  FROM each(:version_ids) AS v
 CROSS JOIN toc_edge_assumptions AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
 LIMIT :at_most;
