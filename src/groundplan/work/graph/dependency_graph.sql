-- name: waiting_nodes
-- The first nodes of a project that wait for an open node themselves, by priority.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.is_blocked
   AND c.open_deps > 0
 ORDER BY c.priority DESC, c.n
 LIMIT :at_most;

-- name: blocked_count
-- The stored number of blocked nodes of a project.
SELECT blocked
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: waiting_nodes_below
-- The same among a node and everything below it, before the other blocked ones, and how many are blocked.
WITH RECURSIVE below (n) AS (
    SELECT c.n
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = CAST(:ancestor_n AS bigint)
     UNION ALL
    SELECT c.n
      FROM below AS b
     {children_of_b}
), chosen (n) AS MATERIALIZED (
    SELECT below.n
      FROM below
)
SELECT c.n, c.open_deps > 0, count(*) OVER ()
  FROM chosen
 {node_chosen}
   AND c.is_blocked
 ORDER BY c.open_deps = 0, c.priority DESC, c.n
 LIMIT :at_most;

-- name: neighbours
-- The nodes that a node waits for, or that wait for it, the open ones first; of very many, only the oldest are considered.
SELECT t.n, t.resolved
  FROM (SELECT *
          FROM (SELECT d.to_n AS n
                  FROM work_edges AS d
                 WHERE d.tenant_id = :tenant_id
                   AND d.project_id = :project_id
                   AND d.from_n = :n
                   AND d.type = 'depends_on'
                   AND CAST(:is_before AS boolean)
                 ORDER BY d.to_n
                 LIMIT :looked_through) AS before
         UNION ALL
        SELECT *
          FROM (SELECT d.from_n AS n
                  FROM work_edges AS d
                 WHERE d.tenant_id = :tenant_id
                   AND d.project_id = :project_id
                   AND d.to_n = :n
                   AND d.type = 'depends_on'
                   AND NOT CAST(:is_before AS boolean)
                 ORDER BY d.from_n
                 LIMIT :looked_through) AS after) AS near
  JOIN work_nodes AS t
    ON t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.n = near.n
 ORDER BY t.resolved, t.n
 LIMIT :at_most;

-- name: link_counts
-- How many nodes each of some nodes waits for, how many of them are open, and how many wait for it.
SELECT c.n, c.open_deps,
       (SELECT count(*)
          FROM work_edges AS d
         WHERE d.tenant_id = c.tenant_id
           AND d.project_id = c.project_id
           AND d.from_n = c.n
           AND d.type = 'depends_on') AS waits_for,
       (SELECT count(*)
          FROM work_edges AS d
         WHERE d.tenant_id = c.tenant_id
           AND d.project_id = c.project_id
           AND d.to_n = c.n
           AND d.type = 'depends_on') AS holds_up
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: links_between
-- The dependencies between some nodes.
SELECT d.from_n, d.to_n
  FROM work_edges AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND d.type = 'depends_on'
   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY d.from_n, d.to_n;
