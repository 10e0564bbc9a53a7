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

-- name: add_nodes
-- Differs from SQLite, where a statement costs next to nothing: here many rows are sent at once, and the policies are
-- checked once for all of them. An absent priority is -Infinity, which JSON cannot express, so the base record has it.
INSERT INTO work_nodes (tenant_id, project_id, {position}, {content}, {imported}, order_key,
                        rev, claim_number, changed_rev, created_at, created_by, updated_at, updated_by)
SELECT :tenant_id, r.project_id, {r.position}, {r.content}, {r.imported}, r.order_key, 1, 0, r.changed_rev, :now,
       :actor_id, :now, :actor_id
  FROM json_populate_recordset(
           json_populate_record(NULL::work_nodes, '{"priority": "-Infinity"}'), json_strip_nulls(:rows::json)
       ) AS r;

-- name: index_summaries
-- Differs from SQLite, which has a text index: here a search reads the summaries, so there is nothing to do.
SELECT 1
 WHERE CAST(:rows AS text) IS NULL;

-- name: find_unused_ids
-- Differs from SQLite, which has no policies: here nodes of hidden projects are invisible, but their ids are used too. So
-- the database makes ids of its own, as many and as long as these. About a given id it would reveal whether it is used.
SELECT gp_new_work_ids(json_array_length(:ids::json), length(:ids::json ->> 0));

-- name: add_evidence
-- Differs from SQLite for the same reason as add_nodes.
INSERT INTO work_evidence (tenant_id, project_id, {evidence})
SELECT :tenant_id, r.project_id, {r.evidence}
  FROM json_populate_recordset(NULL::work_evidence, :rows::json) AS r;

-- name: add_evidence_to_all
-- Differs from SQLite, which seeks. Here the planner reads the whole table for each node, for as long as it was not
-- analyzed, so the numbers are counted for all nodes at once.
INSERT INTO work_evidence (tenant_id, project_id, {evidence})
SELECT :tenant_id, :project_id, asked.n, coalesce(last.k, 0) + 1, :type, :ref, :actor_id, :now
  FROM (SELECT CAST(value AS bigint) AS n FROM each(:ns)) AS asked
  LEFT JOIN (SELECT e.node_n, max(e.k) AS k
               FROM work_evidence AS e
              WHERE e.tenant_id = :tenant_id
                AND e.project_id = :project_id
                AND e.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
              GROUP BY e.node_n) AS last
    ON last.node_n = asked.n;

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
