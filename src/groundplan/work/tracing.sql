-- The queries that follow work to the purpose. The walks count each node below their starts once.

-- columns: traced
n, id, summary, kind, resolved, outcome, claimed_by, claimed_until

-- name: traced_nodes
-- Some nodes, in order of creation.
SELECT {c.traced}, c.parent_n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY c.n;

-- name: path_to_root
-- A node and all its ancestors, the nearest first.
WITH RECURSIVE above (n, parent_n, distance) AS (
    SELECT c.n, c.parent_n, 0
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = :n
    UNION ALL
    SELECT p.n, p.parent_n, above.distance + 1
      FROM above
      JOIN work_nodes AS p
        ON p.tenant_id = :tenant_id
       AND p.project_id = :project_id
       AND p.n = above.parent_n
)
SELECT {c.traced}, c.parent_n
  FROM above
  JOIN work_nodes AS c
    ON c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = above.n
 ORDER BY above.distance;

-- name: traced_children
-- The first children of a node, in order of creation.
SELECT {c.traced}, c.parent_n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = :n
 ORDER BY c.n
 LIMIT :at_most;

-- name: count_children
-- The number of children of a node.
SELECT count(*)
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = :n;

-- name: subtree_counts
-- The nodes of the subtrees of some nodes by state. A walk does not enter the nodes in `stops`.
WITH RECURSIVE stops (n) AS MATERIALIZED (
    SELECT CAST(value AS bigint) FROM each(:stops)
),
below (start_n, n, resolved, outcome, is_claimed) AS (
    SELECT c.n, c.n, c.resolved, c.outcome, c.claimed_by IS NOT NULL AND (c.claimed_until IS NULL OR c.claimed_until > :now)
      FROM each_number(:starts) AS k
     CROSS JOIN work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = k.value
    UNION ALL
    SELECT b.start_n, c.n, c.resolved, c.outcome,
           c.claimed_by IS NOT NULL AND (c.claimed_until IS NULL OR c.claimed_until > :now)
      FROM below AS b
     CROSS JOIN work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = b.n
       AND c.n NOT IN (SELECT n FROM stops)
)
SELECT start_n, count(*) AS total,
       count(*) FILTER (WHERE resolved AND outcome IS NULL) AS resolved,
       count(*) FILTER (WHERE outcome IS NOT NULL) AS dropped,
       count(*) FILTER (WHERE is_claimed) AS claimed
  FROM below
 GROUP BY start_n
 ORDER BY start_n;

-- name: evidence_below
-- The newest evidence in the subtrees of some nodes, a few entries of each, with the number of all its entries. A walk
-- does not enter the nodes in `stops`.
WITH RECURSIVE stops (n) AS MATERIALIZED (
    SELECT CAST(value AS bigint) FROM each(:stops)
),
below (start_n, n, id) AS (
    SELECT c.n, c.n, c.id
      FROM each_number(:starts) AS k
     CROSS JOIN work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.n = k.value
    UNION ALL
    SELECT b.start_n, c.n, c.id
      FROM below AS b
     CROSS JOIN work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = b.n
       AND c.n NOT IN (SELECT n FROM stops)
)
SELECT start_n, id, type, ref, checked, rev, total
  FROM (SELECT b.start_n, b.id, e.type, e.ref, e.checked, e.rev, b.n, e.k, e.at,
               row_number() OVER (PARTITION BY b.start_n ORDER BY e.at DESC, b.n DESC, e.k DESC) AS place,
               count(*) OVER (PARTITION BY b.start_n) AS total
          FROM below AS b
         CROSS JOIN work_evidence AS e
         WHERE e.tenant_id = :tenant_id
           AND e.project_id = :project_id
           AND e.node_n = b.n) AS found
 WHERE place <= :of_each
 ORDER BY start_n, place DESC;

-- name: evidence_of_nodes
-- The newest evidence of some nodes themselves, a few entries of each, with the number of all its entries.
SELECT start_n, id, type, ref, checked, rev, total
  FROM (SELECT c.n AS start_n, c.id, e.type, e.ref, e.checked, e.rev, e.k,
               row_number() OVER (PARTITION BY c.n ORDER BY e.k DESC) AS place,
               count(*) OVER (PARTITION BY c.n) AS total
          FROM each_number(:starts) AS k
         CROSS JOIN work_nodes AS c
         CROSS JOIN work_evidence AS e
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.n = k.value
           AND e.tenant_id = :tenant_id
           AND e.project_id = :project_id
           AND e.node_n = c.n) AS found
 WHERE place <= :of_each
 ORDER BY start_n, place DESC;

-- name: open_nodes
-- All open nodes, in order of creation; those with open children without their id. Reading them at once takes half the
-- time of a walk from the root.
SELECT c.n, c.parent_n, CASE WHEN c.open_children = 0 THEN c.id END
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND NOT c.resolved
 ORDER BY c.n;

-- name: resolved_without_evidence
-- The resolved nodes without children and without evidence, in order of creation; dropped ones were not done.
SELECT c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.resolved
   AND c.outcome IS NULL
   AND c.parent_n IS NOT NULL
   AND NOT EXISTS (SELECT 1
                     FROM work_evidence AS e
                    WHERE e.tenant_id = :tenant_id
                      AND e.project_id = :project_id
                      AND e.node_n = c.n)
   AND NOT EXISTS (SELECT 1
                     FROM work_nodes AS below
                    WHERE below.tenant_id = :tenant_id
                      AND below.project_id = :project_id
                      AND below.parent_n = c.n)
 ORDER BY c.n;

-- name: recently_changed
-- The nodes that changed last, with their links. Claimed ones are in no index by change.
SELECT late.n, late.context_links
  FROM (SELECT *
          FROM (SELECT c.n, c.context_links, c.changed_rev
                  FROM work_nodes AS c
                 WHERE c.tenant_id = :tenant_id
                   AND c.project_id = :project_id
                   AND c.claimed_by IS NULL
                 ORDER BY c.changed_rev DESC, c.n DESC
                 LIMIT :at_most) AS unclaimed
         UNION ALL
        SELECT *
          FROM (SELECT c.n, c.context_links, c.changed_rev
                  FROM work_nodes AS c
                 WHERE c.tenant_id = :tenant_id
                   AND c.project_id = :project_id
                   AND c.claimed_by IS NOT NULL
                 ORDER BY c.changed_rev DESC, c.n DESC
                 LIMIT :at_most) AS claimed) AS late
 ORDER BY late.changed_rev DESC, late.n DESC
 LIMIT :at_most;

-- name: sections_about_files
-- The sections of some nodes whose titles may be Context Files, in order.
SELECT s.title, s.content
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
   AND lower(s.title) LIKE '%context%files%'
 ORDER BY s.node_n, s.ordinal;
