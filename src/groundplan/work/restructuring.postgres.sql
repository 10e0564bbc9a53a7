-- name: add_evidence_to_all
-- Differs from SQLite, which seeks. Here the planner reads the whole table for each node, for as long as it was not
-- analyzed, so the numbers are counted for all nodes at once.
INSERT INTO work_evidence (tenant_id, project_id, {evidence})
SELECT :tenant_id, :project_id, asked.n, coalesce(last.k, 0) + 1, :type, :ref, :actor_id, :now, NULL, :write_rev
  FROM (SELECT CAST(value AS bigint) AS n FROM each(:ns)) AS asked
  LEFT JOIN (SELECT e.node_n, max(e.k) AS k
               FROM work_evidence AS e
              WHERE e.tenant_id = :tenant_id
                AND e.project_id = :project_id
                AND e.node_n IN (SELECT CAST(value AS bigint) FROM each(:ns))
              GROUP BY e.node_n) AS last
    ON last.node_n = asked.n;
