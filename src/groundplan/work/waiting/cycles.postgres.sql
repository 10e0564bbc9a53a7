-- name: waiting_moments
-- Differs from SQLite, which has no LATERAL: here a recursive statement may refer to itself only once. Of a project that
-- is new since the table was analyzed, the planner expects no rows, and every index seems as good as the right one. So
-- each part asks for a range of one number, in the order of the index to use, and joins nothing.
WITH RECURSIVE reached (moment) AS (
    SELECT CAST(value AS bigint)
      FROM each(:moments) AS start
    UNION
    SELECT further.moment
      FROM reached
     CROSS JOIN LATERAL (
        SELECT reached.moment + 1
         WHERE reached.moment % 2 = 0
        UNION ALL
        (SELECT c.parent_n * 2 + 1
           FROM work_nodes AS c
          WHERE c.tenant_id = :tenant_id
            AND c.project_id = :project_id
            AND c.n BETWEEN reached.moment / 2 AND reached.moment / 2
            AND c.parent_n IS NOT NULL
            AND reached.moment % 2 = 1
          ORDER BY c.n)
        UNION ALL
        (SELECT d.from_n * 2
           FROM work_edges AS d
          WHERE d.tenant_id = :tenant_id
            AND d.project_id = :project_id
            AND d.to_n BETWEEN reached.moment / 2 AND reached.moment / 2
            AND d.type = 'depends_on'
            AND reached.moment % 2 = 1
            AND NOT (SELECT o.resolved
                       FROM work_nodes AS o
                      WHERE o.tenant_id = :tenant_id
                        AND o.project_id = :project_id
                        AND o.n BETWEEN d.from_n AND d.from_n
                      ORDER BY o.n)
          ORDER BY d.to_n)
        UNION ALL
        (SELECT c.n * 2
           FROM work_nodes AS c
          WHERE c.tenant_id = :tenant_id
            AND c.project_id = :project_id
            AND c.parent_n BETWEEN reached.moment / 2 AND reached.moment / 2
            AND NOT c.resolved
            AND reached.moment % 2 = 0
            AND :inherits
          ORDER BY c.parent_n)
        UNION ALL
        (SELECT c.n * 2
           FROM work_nodes AS c
          WHERE c.tenant_id = :tenant_id
            AND c.project_id = :project_id
            AND c.feature_n BETWEEN reached.moment / 2 AND reached.moment / 2
            AND NOT c.resolved
            AND reached.moment % 2 = 0
            AND NOT :inherits
          ORDER BY c.feature_n)
     ) AS further (moment)
)
SELECT moment
  FROM reached
 LIMIT :at_most;

-- name: awaited_moments
-- Differs from SQLite for the same reasons.
WITH RECURSIVE reached (moment) AS (
    SELECT CAST(value AS bigint)
      FROM each(:moments) AS start
    UNION
    SELECT further.moment
      FROM reached
     CROSS JOIN LATERAL (
        SELECT reached.moment - 1
         WHERE reached.moment % 2 = 1
        UNION ALL
        (SELECT c.n * 2 + 1
           FROM work_nodes AS c
          WHERE c.tenant_id = :tenant_id
            AND c.project_id = :project_id
            AND c.parent_n BETWEEN reached.moment / 2 AND reached.moment / 2
            AND NOT c.resolved
            AND reached.moment % 2 = 1
          ORDER BY c.parent_n)
        UNION ALL
        (SELECT d.to_n * 2 + 1
           FROM work_edges AS d
          WHERE d.tenant_id = :tenant_id
            AND d.project_id = :project_id
            AND d.from_n BETWEEN reached.moment / 2 AND reached.moment / 2
            AND d.type = 'depends_on'
            AND reached.moment % 2 = 0
            AND NOT (SELECT o.resolved
                       FROM work_nodes AS o
                      WHERE o.tenant_id = :tenant_id
                        AND o.project_id = :project_id
                        AND o.n BETWEEN d.to_n AND d.to_n
                      ORDER BY o.n)
          ORDER BY d.from_n)
        UNION ALL
        (SELECT CASE WHEN :inherits THEN c.parent_n ELSE c.feature_n END * 2
           FROM work_nodes AS c
          WHERE c.tenant_id = :tenant_id
            AND c.project_id = :project_id
            AND c.n BETWEEN reached.moment / 2 AND reached.moment / 2
            AND CASE WHEN :inherits THEN c.parent_n ELSE c.feature_n END IS NOT NULL
            AND reached.moment % 2 = 0
          ORDER BY c.n)
     ) AS further (moment)
)
SELECT moment
  FROM reached
 LIMIT :at_most;
