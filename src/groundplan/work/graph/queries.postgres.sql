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

-- part: has_properties
-- Differs from SQLite, which does not compare JSON values.
strpos(c.properties, CAST(:fragment AS text)) > 0
        AND (SELECT count(*)
           FROM json_each(CAST(:properties AS json)) AS wanted
           JOIN json_each(CAST(c.properties AS json)) AS had
             ON had.key = wanted.key
            AND CAST(had.value AS jsonb) = CAST(wanted.value AS jsonb)
        ) = (SELECT count(*) FROM json_each(CAST(:properties AS json)))

-- part: lacks_properties
-- Differs from SQLite in how a JSON value is read.
NOT EXISTS (SELECT 1
                         FROM gp_each(:absent) AS unwanted
                         JOIN json_each(CAST(c.properties AS json)) AS had
                           ON had.key = unwanted.value)
