-- part: children
-- Differs from SQLite, which seeks by index. The PostgreSQL planner estimates the children of a node, and with a wrong
-- estimate it reads the whole project for each node. To force an index scan, this has a subquery that cannot be merged,
-- a range instead of an equality (always estimated as few rows), and an order that only the right index provides.
CROSS JOIN LATERAL (
        SELECT node.*
          FROM work_nodes AS node
         WHERE node.tenant_id = :tenant_id
           AND node.project_id = :project_id
           AND node.parent_n BETWEEN walk.n AND walk.n
         ORDER BY node.parent_n, node.n
        OFFSET 0
     ) AS c

-- part: its_parent
-- Differs from SQLite for the reason given at children.
CROSS JOIN LATERAL (
        SELECT node.*
          FROM work_nodes AS node
         WHERE node.tenant_id = :tenant_id
           AND node.project_id = :project_id
           AND node.n BETWEEN walk.parent_n AND walk.parent_n
         ORDER BY node.n
        OFFSET 0
     ) AS c

-- part: itself
-- Differs from SQLite for the reason given at children.
CROSS JOIN LATERAL (
        SELECT node.*
          FROM work_nodes AS node
         WHERE node.tenant_id = :tenant_id
           AND node.project_id = :project_id
           AND node.n BETWEEN walk.n AND walk.n
         ORDER BY node.n
        OFFSET 0
     ) AS c

-- part: description
-- Differs from SQLite in the JSON functions.
CASE WHEN json_typeof(c.properties::json -> 'description') = 'string' THEN c.properties::json ->> 'description' END

-- part: own_summary
-- Differs from SQLite in the JSON functions.
CASE WHEN json_typeof(c.properties::json -> 'summary') = 'string' THEN c.properties::json ->> 'summary' END

-- part: says
-- Differs from SQLite in the JSON functions. The collation "C" limits lower() to ASCII letters.
NOT EXISTS (
            SELECT 1
              FROM each(:words) AS word
             WHERE strpos(
                lower((c.summary || ' ' || coalesce({own_summary}, '') || ' '
                       || coalesce({description}, '')) COLLATE "C"),
                word.value
             ) = 0
        )
