-- What was observed beside the versions.

-- part: recorded
-- What was recorded before some write and by some moment, from some place on.
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND rev < :before_rev
   AND recorded_at <= :at_latest
   AND (rev, n) > (:after_rev, :after_n)
 ORDER BY rev, n
 LIMIT :at_most;

-- name: measurements
-- What indicators showed, in the order of recording, from some place on.
SELECT rev, n, indicator_key AS indicator, {measurement}, recorded_at, recorded_by
  FROM toc_measurements
{recorded};

-- name: reviews
-- What reviews found, in the order of recording, from some place on.
SELECT rev, n, assumption_key AS assumption, {review}, recorded_at, recorded_by
  FROM toc_assumption_reviews
{recorded};

-- name: waivers
-- What was waived, in the order of recording, from some place on.
SELECT rev, n, {waiver}, recorded_at, recorded_by
  FROM toc_waivers
{recorded};

-- name: decisions
-- What was decided, in the order of recording, from some place on.
SELECT rev, n, {decision}, recorded_at, recorded_by
  FROM toc_decisions
{recorded};

-- name: latest_measurements
-- The newest measurement of each of some indicators: one seek for each, however many there are.
SELECT m.rev, m.n, m.indicator_key AS indicator, {m.measurement}, m.recorded_at, m.recorded_by
  FROM each(:keys) AS k
 CROSS JOIN toc_measurements AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.rev = (SELECT l.rev
                  FROM toc_measurements AS l
                 WHERE l.tenant_id = :tenant_id
                   AND l.project_id = :project_id
                   AND l.indicator_key = k.value
                   AND l.rev < :before_rev
                   AND l.recorded_at <= :at_latest
                 ORDER BY l.as_of_until DESC, l.rev DESC, l.n DESC
                 LIMIT 1)
   AND m.n = (SELECT l.n
                  FROM toc_measurements AS l
                 WHERE l.tenant_id = :tenant_id
                   AND l.project_id = :project_id
                   AND l.indicator_key = k.value
                   AND l.rev < :before_rev
                   AND l.recorded_at <= :at_latest
                 ORDER BY l.as_of_until DESC, l.rev DESC, l.n DESC
                 LIMIT 1)
 ORDER BY m.rev, m.n;

-- name: latest_reviews
-- The latest review of each of some assumptions, by one seek for each.
SELECT m.rev, m.n, m.assumption_key AS assumption, {m.review}, m.recorded_at, m.recorded_by
  FROM each(:keys) AS k
 CROSS JOIN toc_assumption_reviews AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.rev = (SELECT l.rev
                  FROM toc_assumption_reviews AS l
                 WHERE l.tenant_id = :tenant_id
                   AND l.project_id = :project_id
                   AND l.assumption_key = k.value
                   AND l.rev < :before_rev
                   AND l.recorded_at <= :at_latest
                 ORDER BY l.rev DESC, l.n DESC
                 LIMIT 1)
   AND m.n = (SELECT l.n
                  FROM toc_assumption_reviews AS l
                 WHERE l.tenant_id = :tenant_id
                   AND l.project_id = :project_id
                   AND l.assumption_key = k.value
                   AND l.rev < :before_rev
                   AND l.recorded_at <= :at_latest
                 ORDER BY l.rev DESC, l.n DESC
                 LIMIT 1)
 ORDER BY m.rev, m.n;

-- name: keys_named
-- What some keys stand for in any version of a project.
SELECT key, 'node'
  FROM toc_nodes
 WHERE tenant_id = :tenant_id
   AND toc_version_id IN (SELECT id FROM toc_versions WHERE tenant_id = :tenant_id AND project_id = :project_id)
   AND key IN (SELECT value FROM each(:keys))
 UNION
SELECT key, 'assumption'
  FROM toc_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id IN (SELECT id FROM toc_versions WHERE tenant_id = :tenant_id AND project_id = :project_id)
   AND key IN (SELECT value FROM each(:keys))
 UNION
SELECT key, 'assumption'
  FROM toc_edge_assumptions
 WHERE tenant_id = :tenant_id
   AND toc_version_id IN (SELECT id FROM toc_versions WHERE tenant_id = :tenant_id AND project_id = :project_id)
   AND key IN (SELECT value FROM each(:keys))
 UNION
SELECT key, 'indicator'
  FROM toc_indicators
 WHERE tenant_id = :tenant_id
   AND toc_version_id IN (SELECT id FROM toc_versions WHERE tenant_id = :tenant_id AND project_id = :project_id)
   AND key IN (SELECT value FROM each(:keys));

-- name: items_by_id
-- What some row ids stand for.
SELECT r.id, r.key, 'node'
  FROM each(:ids) AS k
 CROSS JOIN toc_nodes AS r
 WHERE r.tenant_id = :tenant_id
   AND r.id = k.value
   AND r.project_id = :project_id
 UNION ALL
SELECT r.id, r.key, 'assumption'
  FROM each(:ids) AS k
 CROSS JOIN toc_assumptions AS r
 WHERE r.tenant_id = :tenant_id
   AND r.id = k.value
   AND r.project_id = :project_id
 UNION ALL
SELECT r.id, r.key, 'assumption'
  FROM each(:ids) AS k
 CROSS JOIN toc_edge_assumptions AS r
 WHERE r.tenant_id = :tenant_id
   AND r.id = k.value
   AND r.project_id = :project_id
 UNION ALL
SELECT r.id, r.key, 'indicator'
  FROM each(:ids) AS k
 CROSS JOIN toc_indicators AS r
 WHERE r.tenant_id = :tenant_id
   AND r.id = k.value
   AND r.project_id = :project_id;

-- name: edges_named
-- The edges between some nodes, in any version of a project, by the keys of their ends.
SELECT DISTINCT s.key, t.key, e.edge_type
  FROM toc_versions AS v
 CROSS JOIN toc_nodes AS s
 CROSS JOIN toc_edges AS e
 CROSS JOIN toc_nodes AS t
 WHERE v.tenant_id = :tenant_id
   AND v.project_id = :project_id
   AND s.tenant_id = :tenant_id
   AND s.toc_version_id = v.id
   AND s.key IN (SELECT value FROM each(:sources))
   AND e.tenant_id = :tenant_id
   AND e.toc_version_id = v.id
   AND e.source_node_id = s.id
   AND t.tenant_id = :tenant_id
   AND t.toc_version_id = v.id
   AND t.id = e.target_node_id
   AND t.key IN (SELECT value FROM each(:targets));

-- name: add_measurement
-- What an indicator showed.
INSERT INTO toc_measurements (tenant_id, project_id, rev, n, indicator_key, as_of_until, {measurement}, recorded_at,
                              recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, :indicator_key, :as_of_until, {measurement:values}, :now, :actor_id);

-- name: add_review
-- What a look at an assumption found.
INSERT INTO toc_assumption_reviews (tenant_id, project_id, rev, n, assumption_key, {review}, recorded_at, recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, :assumption_key, {review:values}, :now, :actor_id);

-- name: add_waiver
-- A check that somebody answers for.
INSERT INTO toc_waivers (tenant_id, project_id, rev, n, {waiver}, recorded_at, recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, {waiver:values}, :now, :actor_id);

-- name: add_decision
-- What was decided.
INSERT INTO toc_decisions (tenant_id, project_id, rev, n, {decision}, recorded_at, recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, {decision:values}, :now, :actor_id);
