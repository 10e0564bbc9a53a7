-- name: claims_and_evidence
-- The claims of some nodes, and their amounts of evidence.
SELECT c.n, c.claimed_by, c.claimed_until, {evidence_total}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: best_first
-- The numbers of some nodes, in the order in which they are offered.
SELECT c.n
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n IN (SELECT CAST(value AS bigint) FROM each(:ns))
 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
 LIMIT :at_most;
