-- name: flags_around
-- Differs from SQLite, which seeks each dependent: here the planner could read the whole project for a join, as long as
-- the table was not analyzed.
SELECT {neighbour}, 0 AS is_dependent
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (:n, :parent_n)
 UNION ALL
SELECT {neighbour}, 1 AS is_dependent
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = ANY (ARRAY(SELECT d.from_n
                        FROM work_edges AS d
                       WHERE d.tenant_id = :tenant_id
                         AND d.project_id = :project_id
                         AND d.to_n = :n
                         AND d.type = 'depends_on'));
