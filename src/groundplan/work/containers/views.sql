-- columns: container
-- The columns of a container row, without the id of its feature.
n, id, project_id, kind, summary, properties, rev, resolved, outcome, status, claimed_by, claimed_until, held_reason,
blocked_reason, priority, open_deps, blocked_above, created_at, updated_at, updated_by

-- part: join_feature
LEFT JOIN work_nodes AS f
    ON f.tenant_id = c.tenant_id
   AND f.project_id = c.project_id
   AND f.n = c.feature_n

-- name: containers
-- Containers by their numbers.
SELECT {c.container}, f.id AS feature_id
  FROM work_nodes AS c
  {join_feature}
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: blockers_of
-- The open dependencies of some containers, the first :at_most of each.
SELECT from_n, id
  FROM (SELECT d.from_n, d.to_n, o.id, row_number() OVER (PARTITION BY d.from_n ORDER BY d.to_n) AS place
          FROM work_edges AS d
          JOIN work_nodes AS o
            ON o.tenant_id = d.tenant_id
           AND o.project_id = d.project_id
           AND o.n = d.to_n
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
           AND d.type = 'depends_on'
           AND NOT o.resolved) AS waits
 WHERE place <= :at_most
 ORDER BY from_n, to_n;

-- name: related_of
-- The related containers of some containers, in either direction, the first :at_most of each and their total.
SELECT n, id, total
  FROM (SELECT r.n, r.other_n, o.id, row_number() OVER (PARTITION BY r.n ORDER BY r.other_n) AS place,
               count(*) OVER (PARTITION BY r.n) AS total
          FROM (SELECT d.from_n AS n, d.to_n AS other_n
                  FROM work_edges AS d
                 WHERE d.tenant_id = :tenant_id
                   AND d.project_id = :project_id
                   AND d.from_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
                   AND d.type = 'relates_to'
                 UNION
                SELECT d.to_n, d.from_n
                  FROM work_edges AS d
                 WHERE d.tenant_id = :tenant_id
                   AND d.project_id = :project_id
                   AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
                   AND d.type = 'relates_to') AS r
          JOIN work_nodes AS o
            ON o.tenant_id = :tenant_id
           AND o.project_id = :project_id
           AND o.n = r.other_n) AS relations
 WHERE place <= :at_most
 ORDER BY n, other_n;

-- name: entities
-- The first of some containers, and their total.
SELECT c.n, c.id, c.kind, c.summary, count(*) OVER () AS total
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY c.n
 LIMIT :at_most;

-- name: open_dependents
-- The first open containers that depend on some nodes, and their total.
SELECT n, id, kind, summary, count(*) OVER () AS total
  FROM (SELECT DISTINCT o.n, o.id, o.kind, o.summary
          FROM work_edges AS d
          JOIN work_nodes AS o
            ON o.tenant_id = d.tenant_id
           AND o.project_id = d.project_id
           AND o.n = d.from_n
         WHERE d.tenant_id = :tenant_id
           AND d.project_id = :project_id
           AND d.to_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
           AND d.type = 'depends_on'
           AND NOT o.resolved) AS waiting
 ORDER BY n
 LIMIT :at_most;

-- name: waiting_above
-- The blocked ancestors that block a node, the nearest first.
{walk_above}
SELECT c.id
  {blocked_ancestors};
