-- part: join_children
-- Differs from SQLite, which seeks. Here the planner estimates how many children a node has, and with a wrong estimate
-- it reads the whole project for each node of the walk. Three things prevent that: a subquery that cannot be merged; a
-- range instead of an equality, which is always estimated at few rows; and an order that only the right index has, for
-- as long as the table was never analyzed.
CROSS JOIN LATERAL (
        SELECT node.*
          FROM work_nodes AS node
         WHERE node.tenant_id = :tenant_id
           AND node.project_id = :project_id
           AND node.parent_n BETWEEN walk.n AND walk.n
         ORDER BY node.parent_n, node.n
        OFFSET 0
     ) AS c

-- part: join_parent
-- Differs from SQLite for the same reason.
CROSS JOIN LATERAL (
        SELECT node.*
          FROM work_nodes AS node
         WHERE node.tenant_id = :tenant_id
           AND node.project_id = :project_id
           AND node.n BETWEEN walk.parent_n AND walk.parent_n
         ORDER BY node.n
        OFFSET 0
     ) AS c

-- part: join_node
-- Differs from SQLite for the same reason.
CROSS JOIN LATERAL (
        SELECT node.*
          FROM work_nodes AS node
         WHERE node.tenant_id = :tenant_id
           AND node.project_id = :project_id
           AND node.n BETWEEN walk.n AND walk.n
         ORDER BY node.n
        OFFSET 0
     ) AS c
