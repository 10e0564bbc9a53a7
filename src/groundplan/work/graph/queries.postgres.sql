-- part: children_of_b
-- Differs from SQLite, where CROSS JOIN forces a seek that starts at the left. Here the planner estimates how many
-- children a node has, and with a wrong estimate it reads the whole project for each node of the walk. Three things
-- prevent that: a subquery that cannot be merged; a range instead of an equality, which is always estimated at few
-- rows; and an order that only the right index has, for as long as the table was never analyzed.
CROSS JOIN LATERAL (
        SELECT child.n
          FROM work_nodes AS child
         WHERE child.tenant_id = :tenant_id
           AND child.project_id = :project_id
           AND child.parent_n BETWEEN b.n AND b.n
         ORDER BY child.parent_n, child.n
        OFFSET 0
     ) AS c

-- part: node_chosen
-- Differs from SQLite in the same way and for the same reason as `children_of_b`.
CROSS JOIN LATERAL (
    SELECT node.*
      FROM work_nodes AS node
     WHERE node.tenant_id = :tenant_id
       AND node.project_id = :project_id
       AND node.n BETWEEN chosen.n AND chosen.n
     ORDER BY node.n
    OFFSET 0
 ) AS c
 WHERE true
