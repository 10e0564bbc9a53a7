-- Observations beside the versions.

-- part: recorded_range
-- Rows recorded before a write and up to a moment, after a position.
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND rev < :before_rev
   AND recorded_at <= :at_latest
   AND (rev, n) > (:after_rev, :after_n)
 ORDER BY rev, n
 LIMIT :at_most;

-- name: measurements
-- Return measurements in recording order, after a position.
SELECT rev, n, indicator_key AS indicator, {measurement}, recorded_at, recorded_by
  FROM toc_measurements
{recorded_range};

-- name: reviews
-- Return reviews in recording order, after a position.
SELECT rev, n, assumption_key AS assumption, {review}, recorded_at, recorded_by
  FROM toc_assumption_reviews
{recorded_range};

-- name: waivers
-- Return waivers in recording order, after a position.
SELECT rev, n, {waiver}, recorded_at, recorded_by
  FROM toc_waivers
{recorded_range};

-- name: decisions
-- Return decisions in recording order, after a position, each with the id of the one that superseded it.
SELECT rev, n, {decision}, recorded_at, recorded_by,
       (SELECT s.rev || '.' || s.n
          FROM toc_decisions AS s
         WHERE s.tenant_id = :tenant_id
           AND s.project_id = :project_id
           AND s.supersedes_rev = toc_decisions.rev
           AND s.supersedes_n = toc_decisions.n
           AND s.rev < :before_rev
           AND s.recorded_at <= :at_latest) AS superseded_by
  FROM toc_decisions
{recorded_range};

-- name: requests
-- Return requests in recording order, after a position, each with the id of the decision that answered it.
SELECT rev, n, {request}, recorded_at, recorded_by,
       (SELECT s.rev || '.' || s.n
          FROM toc_decisions AS s
         WHERE s.tenant_id = :tenant_id
           AND s.project_id = :project_id
           AND s.answers_rev = toc_requests.rev
           AND s.answers_n = toc_requests.n
           AND s.rev < :before_rev
           AND s.recorded_at <= :at_latest) AS answered_by
  FROM toc_requests
{recorded_range};

-- name: decision_about
-- Return what a decision is about, and the id of the one that superseded it.
SELECT d.about,
       (SELECT s.rev || '.' || s.n
          FROM toc_decisions AS s
         WHERE s.tenant_id = :tenant_id
           AND s.project_id = :project_id
           AND s.supersedes_rev = d.rev
           AND s.supersedes_n = d.n)
  FROM toc_decisions AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.rev = :rev
   AND d.n = :n;

-- name: request_about
-- Return what a request is about, and the id of the decision that answered it.
SELECT r.about,
       (SELECT s.rev || '.' || s.n
          FROM toc_decisions AS s
         WHERE s.tenant_id = :tenant_id
           AND s.project_id = :project_id
           AND s.answers_rev = r.rev
           AND s.answers_n = r.n)
  FROM toc_requests AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.rev = :rev
   AND r.n = :n;

-- name: latest_decisions
-- Return the ids of the latest decisions, the newest first.
SELECT rev, n
  FROM toc_decisions
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
 ORDER BY rev DESC, n DESC
 LIMIT :at_most;

-- name: latest_requests
-- Return the ids of the latest requests, the newest first.
SELECT rev, n
  FROM toc_requests
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
 ORDER BY rev DESC, n DESC
 LIMIT :at_most;

-- name: latest_measurements
-- Return the newest measurement of each indicator, with one index seek per indicator.
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
-- Return the latest review of each assumption, with one index seek per assumption.
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

-- name: assumptions_in_doubt
-- Return the assumptions that some review called at risk or refuted; the latest review decides whether they still are.
SELECT DISTINCT assumption_key
  FROM toc_assumption_reviews
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND (status = 'at_risk' OR status = 'refuted');

-- name: kinds_by_key
-- Return the kind of the item behind each key, in any version of a project.
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
-- Return the key and kind of the items with these row ids.
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

-- name: edges_between_keys
-- Return the edges between nodes with these keys, in any version of a project.
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
-- Insert a measurement.
INSERT INTO toc_measurements (tenant_id, project_id, rev, n, indicator_key, as_of_until, {measurement}, recorded_at,
                              recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, :indicator_key, :as_of_until, {measurement:values}, :now, :actor_id);

-- name: add_review
-- Insert a review of an assumption.
INSERT INTO toc_assumption_reviews (tenant_id, project_id, rev, n, assumption_key, {review}, recorded_at, recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, :assumption_key, {review:values}, :now, :actor_id);

-- name: add_waiver
-- Insert a waiver.
INSERT INTO toc_waivers (tenant_id, project_id, rev, n, {waiver}, recorded_at, recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, {waiver:values}, :now, :actor_id);

-- name: add_decision
-- Insert a decision.
INSERT INTO toc_decisions (tenant_id, project_id, rev, n, {decision}, recorded_at, recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, {decision:values}, :now, :actor_id);

-- name: add_request
-- Insert a request.
INSERT INTO toc_requests (tenant_id, project_id, rev, n, {request}, recorded_at, recorded_by)
VALUES (:tenant_id, :project_id, :rev, :n, {request:values}, :now, :actor_id);
-- name: newest_decisions
-- Return the newest decisions before a write, newest first.
SELECT rev, n, {decision}, recorded_at, recorded_by
  FROM toc_decisions
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND rev < :before_rev
 ORDER BY rev DESC, n DESC
 LIMIT :at_most;
