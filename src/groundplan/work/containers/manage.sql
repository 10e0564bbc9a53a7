-- name: counts
-- The number of the newest node, and the total of nodes.
SELECT last_n, total
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: add_feature
-- Add the task counters of a new feature.
INSERT INTO work_features (tenant_id, project_id, n, tasks, tasks_closed, tasks_dropped)
VALUES (:tenant_id, :project_id, :n, 0, 0, 0);

-- columns: texts
-- The texts of a container, and the columns derived from them.
summary, properties, priority, complexity

-- name: update_texts
-- Store the texts of a node with its next revision.
UPDATE work_nodes
   SET rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id,
       {texts:set}
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = :n;

-- name: set_pipelines
-- Set the pipelines of a project.
UPDATE work_projects
   SET pipelines = :pipelines
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: subtree
-- A node and its descendants.
WITH RECURSIVE below (n) AS (
    SELECT CAST(:n AS bigint)
    UNION ALL
    SELECT c.n
      FROM below AS walk
      {join_children}
)
SELECT c.n, c.id, c.resolved, c.claimed_by, c.claimed_until
  FROM below AS walk
  {join_node};

-- name: describe_root
-- Set the properties of the root of a new project.
UPDATE work_nodes
   SET rev = rev + 1,
       properties = :properties
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = 1
RETURNING id;
