-- name: return_section
-- Give a section back to the node from which it came, in its place.
UPDATE work_sections
   SET node_n = :n,
       ordinal = :ordinal,
       version = version + 1,
       modified_at = :now,
       modified_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id;

-- name: return_merged_texts
-- Give the words of merged nodes back to the node into which these were merged first.
UPDATE work_merged_texts
   SET node_n = :n
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id IN (SELECT value FROM each(:ids));

-- name: remove_merged_text
-- Remove the words of a node that is no longer merged.
DELETE FROM work_merged_texts
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id;

-- name: remove_merge
-- Remove the record of a merge that was taken apart.
DELETE FROM work_merged
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id;

-- name: return_aliases
-- Give aliases back to a node.
UPDATE work_aliases
   SET node_n = :n
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND alias IN (SELECT value FROM each(:aliases));

-- name: attach_import
-- Record again which node an imported item is.
UPDATE work_imports
   SET node_n = :n
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND tool = :tool
   AND source_id = :source_id;
