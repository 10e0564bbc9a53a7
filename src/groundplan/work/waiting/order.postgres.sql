-- name: set_order_keys
-- Differs from SQLite, where a statement costs next to nothing: here many rows are sent at once.
UPDATE work_nodes
   SET order_key = r.order_key
  FROM json_populate_recordset(NULL::work_nodes, :rows::json) AS r
 WHERE work_nodes.tenant_id = :tenant_id
   AND work_nodes.project_id = r.project_id
   AND work_nodes.n = r.n;

-- name: awaited_steps
-- Differs from SQLite: nothing is joined, because the planner would read the whole project as long as it was not analyzed.
SELECT c.parent_n AS waiting, c.n AS awaited, c.order_key AS key
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = ANY (ARRAY(SELECT CAST(value AS bigint) FROM each(:ns)))
   AND NOT c.resolved
UNION ALL
SELECT step.from_n, step.to_n, step.awaited[1]
  FROM (SELECT d.from_n, d.to_n,
               (SELECT ARRAY[o.order_key]
                  FROM work_nodes AS o
                 WHERE o.tenant_id = :tenant_id
                   AND o.project_id = :project_id
                   AND o.n BETWEEN d.to_n AND d.to_n
                   AND NOT o.resolved
                 ORDER BY o.n) AS awaited
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n = ANY (ARRAY(SELECT CAST(value AS bigint) FROM each(:ns)))
           AND d.type = 'depends_on') AS step
 WHERE step.awaited IS NOT NULL
 LIMIT :at_most;

-- name: waiting_steps
-- Differs from SQLite for the same reason.
SELECT step.parent_n AS waiting, step.n AS awaited, step.waiting[1] AS key
  FROM (SELECT c.n, c.parent_n,
               (SELECT ARRAY[o.order_key]
                  FROM work_nodes AS o
                 WHERE o.tenant_id = :tenant_id
                   AND o.project_id = :project_id
                   AND o.n BETWEEN c.parent_n AND c.parent_n
                   AND NOT o.resolved
                 ORDER BY o.n) AS waiting
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.n = ANY (ARRAY(SELECT CAST(value AS bigint) FROM each(:ns)))) AS step
 WHERE step.waiting IS NOT NULL
UNION ALL
SELECT step.from_n, step.to_n, step.waiting[1]
  FROM (SELECT d.from_n, d.to_n,
               (SELECT ARRAY[o.order_key]
                  FROM work_nodes AS o
                 WHERE o.tenant_id = :tenant_id
                   AND o.project_id = :project_id
                   AND o.n BETWEEN d.from_n AND d.from_n
                   AND NOT o.resolved
                 ORDER BY o.n) AS waiting
          FROM work_edges AS d
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.to_n = ANY (ARRAY(SELECT CAST(value AS bigint) FROM each(:ns)))
           AND d.type = 'depends_on') AS step
 WHERE step.waiting IS NOT NULL
 LIMIT :at_most;
