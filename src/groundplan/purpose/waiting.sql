-- part: last_review
-- When an assumption was last reviewed. :rev is the revision of the project; with it, SQLite seeks by assumption.
(SELECT r.recorded_at
             FROM toc_assumption_reviews AS r
            WHERE r.tenant_id = :tenant_id
              AND r.project_id = :project_id
              AND r.assumption_key = a.key
              AND r.rev <= :rev
            ORDER BY r.rev DESC, r.n DESC
            LIMIT 1)

-- name: version_changed_at
-- Return when a version was last changed.
SELECT updated_at
  FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND id = :version_id;

-- name: assumptions_past_review
-- Return the assumptions of a version whose day of review has passed without a review on it or later.
SELECT a.key, a.assumption_text AS text, a.owner, a.review_by
  FROM toc_assumptions AS a
 WHERE a.tenant_id = :tenant_id
   AND a.toc_version_id = :version_id
   AND a.review_by < :today
   AND coalesce({last_review}, '') < a.review_by
 UNION ALL
SELECT a.key, a.assumption_text AS text, a.owner, a.review_by
  FROM toc_edge_assumptions AS a
 WHERE a.tenant_id = :tenant_id
   AND a.toc_version_id = :version_id
   AND a.review_by < :today
   AND coalesce({last_review}, '') < a.review_by;
