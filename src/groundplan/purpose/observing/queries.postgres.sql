-- name: latest_measurements
-- Differs from SQLite, which has no LATERAL: without it two subselects would run for each measurement instead of each key.
SELECT m.rev, m.n, m.indicator_key AS indicator, {m.measurement}, m.recorded_at, m.recorded_by
  FROM each(:keys) AS k
 CROSS JOIN LATERAL (SELECT *
                       FROM toc_measurements AS l
                      WHERE l.tenant_id = :tenant_id
                        AND l.project_id = :project_id
                        AND l.indicator_key = k.value
                        AND l.rev < :before_rev
                        AND l.recorded_at <= :at_latest
                      ORDER BY l.as_of_until DESC, l.rev DESC, l.n DESC
                      LIMIT 1) AS m
 ORDER BY m.rev, m.n;

-- name: latest_reviews
-- Differs from SQLite in the same way.
SELECT m.rev, m.n, m.assumption_key AS assumption, {m.review}, m.recorded_at, m.recorded_by
  FROM each(:keys) AS k
 CROSS JOIN LATERAL (SELECT *
                       FROM toc_assumption_reviews AS l
                      WHERE l.tenant_id = :tenant_id
                        AND l.project_id = :project_id
                        AND l.assumption_key = k.value
                        AND l.rev < :before_rev
                        AND l.recorded_at <= :at_latest
                      ORDER BY l.rev DESC, l.n DESC
                      LIMIT 1) AS m
 ORDER BY m.rev, m.n;
