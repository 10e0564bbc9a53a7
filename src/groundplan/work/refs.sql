-- name: kind_of_node
-- The kind of a node of any project.
SELECT c.kind
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = :n;

-- name: node_by_id
-- The project, number and id of a node.
SELECT project_id, n, id
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: nodes_by_alias
-- The nodes with an alias: the project, number and id of each.
SELECT c.project_id, c.n, c.id
  FROM work_aliases AS a
  JOIN work_nodes AS c
    ON c.tenant_id = a.tenant_id
   AND c.project_id = a.project_id
   AND c.n = a.node_n
 WHERE a.tenant_id = :tenant_id
   AND a.alias = :alias
 ORDER BY c.id;

-- name: link_targets
-- The id, kind and summary of the nodes of a project with these ids.
SELECT c.id, c.kind, c.summary
  FROM each(:ids) AS k
 CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id = k.value
   AND c.project_id = :project_id;

-- name: nodes_by_prefix
-- Nodes whose id is between two texts: those with the same prefix.
SELECT project_id, n, id
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND id >= :first
   AND id < :behind
 ORDER BY id
 LIMIT :at_most;

-- name: removed_node
-- The project of a node that was merged away or deleted, and the node it was merged into.
SELECT project_id, into_id
  FROM work_merged
 WHERE tenant_id = :tenant_id
   AND id = :id
UNION ALL
SELECT project_id, NULL
  FROM work_deleted
 WHERE tenant_id = :tenant_id
   AND id = :id
   AND thing = 'node';

-- name: node_by_own_id
-- All fields of a node of the project, by its whole id. `IS TRUE` keeps PostgreSQL from reading the whole project, which
-- it takes for empty as long as the table was not analyzed.
SELECT {node}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id = :id
   AND (c.project_id = :project_id) IS TRUE;

-- name: move_aliases
-- Give the aliases of a node that is merged into another to the other one.
UPDATE work_aliases
   SET node_n = :to_n
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n = :n;

-- name: remove_aliases
-- Remove the aliases of nodes that are deleted.
DELETE FROM work_aliases
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: detach_imports
-- Keep that items were imported whose nodes are removed, so that the next import does not make them again.
UPDATE work_imports
   SET node_n = NULL
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND node_n IN (SELECT CAST(value AS bigint) FROM each(:ns));
