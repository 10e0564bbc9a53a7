-- name: newest_versions
-- Return the two versions with the highest numbers: the draft, if there is one, and the latest published version.
SELECT id, status
  FROM toc_versions
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
 ORDER BY version_number DESC
 LIMIT 2;

-- name: link_targets
-- Return the nodes and assumptions with some keys in some versions, with one index seek for each key and version.
SELECT t.toc_version_id AS version_id, t.key, t.node_type AS kind, t.title
  FROM each(:version_ids) AS v
 CROSS JOIN each(:keys) AS k
 CROSS JOIN toc_nodes AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
   AND t.key = k.value
 UNION ALL
SELECT t.toc_version_id, t.key, 'assumption', t.assumption_text
  FROM each(:version_ids) AS v
 CROSS JOIN each(:keys) AS k
 CROSS JOIN toc_assumptions AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
   AND t.key = k.value
 UNION ALL
SELECT t.toc_version_id, t.key, 'assumption', t.assumption_text
  FROM each(:version_ids) AS v
 CROSS JOIN each(:keys) AS k
 CROSS JOIN toc_edge_assumptions AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
   AND t.key = k.value;

-- name: indicator_names
-- Return the names of the indicators with some keys in some versions, with one index seek for each key and version.
SELECT t.toc_version_id AS version_id, t.key, 'indicator' AS kind, t.name AS title
  FROM each(:version_ids) AS v
 CROSS JOIN each(:keys) AS k
 CROSS JOIN toc_indicators AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
   AND t.key = k.value;

-- name: link_target_keys
-- Return keys of nodes and assumptions of some versions, to suggest them for unknown ones.
SELECT t.key
  FROM each(:version_ids) AS v
 CROSS JOIN toc_nodes AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
 UNION
SELECT t.key
  FROM each(:version_ids) AS v
 CROSS JOIN toc_assumptions AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
 UNION
SELECT t.key
  FROM each(:version_ids) AS v
 CROSS JOIN toc_edge_assumptions AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.toc_version_id = v.value
-- Text search in versions and in what was recorded about them.

-- part: lacks_words_in_title
-- Whether neither the key nor the title of a row has all words of a search.
lower(x.ref) <> :folded_text
                       AND EXISTS (SELECT 1
                                     FROM each(:globs) AS pattern
                                    WHERE x.title NOT GLOB pattern.value)

-- part: has_words
-- Whether a row has every word of a search.
NOT EXISTS (SELECT 1
                                      FROM each(:globs) AS pattern
                                     WHERE x.ref || ' ' || x.title || ' ' || x.text NOT GLOB pattern.value)

-- part: of_version
 WHERE t.tenant_id = :tenant_id
                           AND t.toc_version_id = v.id

-- part: of_project
 WHERE t.tenant_id = :tenant_id
                           AND t.project_id = p.value

-- part: event_position
CAST(t.rev AS text) || '.' || CAST(t.n AS text)

-- name: items_with_words
-- Return the first items of each project with all words, those with the words in their titles first.
WITH versions (project_id, id, is_draft) AS MATERIALIZED (
    SELECT v.project_id, v.id, true
      FROM each(:projects) AS p
     CROSS JOIN toc_versions AS v
     WHERE v.tenant_id = :tenant_id
       AND v.project_id = p.value
       AND v.status = 'DRAFT'
     UNION ALL
    SELECT v.project_id, v.id, false
      FROM each(:projects) AS p
     CROSS JOIN toc_versions AS v
     WHERE v.tenant_id = :tenant_id
       AND v.project_id = p.value
       AND v.version_number = (SELECT max(latest.version_number)
                                 FROM toc_versions AS latest
                                WHERE latest.tenant_id = :tenant_id
                                  AND latest.project_id = p.value
                                  AND latest.status = 'PUBLISHED')
)
SELECT project_id, ref, kind, title, text
  FROM (SELECT x.*,
               row_number() OVER (PARTITION BY x.project_id
                                  ORDER BY x.lacks_words, x.is_draft, x.kind, length(x.ref), x.ref) AS position
          FROM (SELECT x.*, {lacks_words_in_title} AS lacks_words
                  FROM (SELECT v.project_id, v.is_draft, t.key AS ref, lower(t.node_type) AS kind, t.title,
                               coalesce(t.description, '') || ' ' || coalesce(t.narrative, '') || ' '
                               || coalesce(t.owner, '') AS text
                          FROM versions AS v
                         CROSS JOIN toc_nodes AS t
                        {of_version}
                         UNION ALL
                        SELECT v.project_id, v.is_draft, t.key, 'assumption', t.assumption_text, coalesce(t.owner, '')
                          FROM versions AS v
                         CROSS JOIN toc_assumptions AS t
                        {of_version}
                         UNION ALL
                        SELECT v.project_id, v.is_draft, t.key, 'assumption', t.assumption_text, coalesce(t.owner, '')
                          FROM versions AS v
                         CROSS JOIN toc_edge_assumptions AS t
                        {of_version}
                         UNION ALL
                        SELECT v.project_id, v.is_draft, t.key, 'indicator', t.name,
                               coalesce(t.unit, '') || ' ' || coalesce(t.method, '') || ' '
                               || coalesce(t.frequency, '') || ' ' || coalesce(t.owner, '')
                          FROM versions AS v
                         CROSS JOIN toc_indicators AS t
                        {of_version}
                         UNION ALL
                        SELECT v.project_id, v.is_draft,
                               source.key || '->' || target.key
                               || CASE t.edge_type WHEN 'CONTRIBUTES_TO' THEN '' ELSE '/' || t.edge_type END,
                               'edge', t.mechanism, ''
                          FROM versions AS v
                         CROSS JOIN toc_edges AS t
                         CROSS JOIN toc_nodes AS source
                         CROSS JOIN toc_nodes AS target
                        {of_version}
                           AND t.mechanism IS NOT NULL
                           AND source.tenant_id = t.tenant_id
                           AND source.toc_version_id = t.toc_version_id
                           AND source.id = t.source_node_id
                           AND target.tenant_id = t.tenant_id
                           AND target.toc_version_id = t.toc_version_id
                           AND target.id = t.target_node_id
                         UNION ALL
                        SELECT t.project_id, false, {event_position}, 'decision', t.text,
                               t.rationale || ' ' || coalesce(t.outcome, '')
                          FROM each(:projects) AS p
                         CROSS JOIN toc_decisions AS t
                        {of_project}
                         UNION ALL
                        SELECT t.project_id, false, {event_position}, 'question', t.question, coalesce(t.asked_of, '')
                          FROM each(:projects) AS p
                         CROSS JOIN toc_requests AS t
                        {of_project}
                         UNION ALL
                        SELECT t.project_id, false, {event_position}, 'review', t.reason,
                               t.assumption_key || ' ' || coalesce(t.evidence, '')
                          FROM each(:projects) AS p
                         CROSS JOIN toc_assumption_reviews AS t
                        {of_project}
                         UNION ALL
                        SELECT t.project_id, false, {event_position}, 'waiver', t.reason, t.code || ' ' || t.owner
                          FROM each(:projects) AS p
                         CROSS JOIN toc_waivers AS t
                        {of_project}
                         UNION ALL
                        SELECT t.project_id, false, {event_position}, 'measurement', coalesce(t.note, t.source),
                               t.indicator_key || ' ' || coalesce(t.source, '')
                          FROM each(:projects) AS p
                         CROSS JOIN toc_measurements AS t
                        {of_project}
                           AND (t.note IS NOT NULL OR t.source IS NOT NULL)
                         UNION ALL
                        SELECT t.project_id, false, 'v' || CAST(t.version_number AS text), 'version', t.label, ''
                          FROM each(:projects) AS p
                         CROSS JOIN toc_versions AS t
                        {of_project}
                           AND t.status = 'PUBLISHED'
                           AND t.label <> 'v' || CAST(t.version_number AS text)) AS x
                 WHERE {has_words}) AS x) AS ranked
 WHERE position <= :per_project
 ORDER BY lacks_words, position, project_id
 LIMIT :at_most;
