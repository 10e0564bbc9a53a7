-- part: has_value
(value_string IS NOT NULL
        OR value_number IS NOT NULL
        OR value_boolean IS NOT NULL
        OR value_enum IS NOT NULL
        OR value_json IS NOT NULL)

-- name: first_constraints
-- The first constraints of a run by key, and how many there are.
SELECT key AS name, label, {value},
       (SELECT count(*) FROM pciv_constraints WHERE tenant_id = :tenant_id AND run_id = :run_id) AS total
  FROM pciv_constraints
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
 ORDER BY key
 LIMIT :at_most;

-- name: first_facts
-- The first inputs of a run that have a value, some pointers before the others, by label, and how many there are. They
-- are counted apart: for a window SQLite would copy all rows before it sorts them.
SELECT pointer AS name, label, {value},
       (SELECT count(*) FROM pciv_inputs WHERE tenant_id = :tenant_id AND run_id = :run_id AND {has_value}) AS total
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND {has_value}
 ORDER BY CASE WHEN pointer IN (SELECT value FROM each(:linked)) THEN 0 ELSE 1 END, label, pointer
 LIMIT :at_most;

-- name: pointers_with_value
-- Those of some pointers that have a value in a run.
SELECT pointer
  FROM pciv_inputs
 WHERE tenant_id = :tenant_id
   AND run_id = :run_id
   AND pointer IN (SELECT value FROM each(:pointers))
   AND {has_value};
-- Text search in runs.

-- part: lacks_words_in_title
-- Whether neither the ref nor the title of a row has all words of a search.
lower(x.ref) <> :folded_text
                       AND EXISTS (SELECT 1
                                     FROM each(:globs) AS pattern
                                    WHERE x.title NOT GLOB pattern.value)

-- part: has_words
-- Whether a row has every word of a search.
NOT EXISTS (SELECT 1
                                      FROM each(:globs) AS pattern
                                     WHERE x.ref || ' ' || x.title || ' ' || x.text NOT GLOB pattern.value)

-- part: of_run
 WHERE t.tenant_id = :tenant_id
                           AND t.run_id = v.id

-- part: value_text
-- The value of a fact as text.
coalesce(t.value_string, t.value_enum, t.value_json, CAST(t.value_number AS text), '')

-- name: facts_with_words
-- Return the first facts of each project with all words, those with the words in their titles first.
WITH runs (project_id, id, is_draft) AS MATERIALIZED (
    SELECT r.project_id, r.id, true
      FROM each(:projects) AS p
     CROSS JOIN pciv_runs AS r {use_run_index}
     WHERE r.tenant_id = :tenant_id
       AND r.project_id = p.value
       AND r.status = 'draft'
       AND {not_deleted}
     UNION ALL
    SELECT r.project_id, r.id, false
      FROM each(:projects) AS p
     CROSS JOIN pciv_runs AS r
     WHERE r.tenant_id = :tenant_id
       AND r.id = (SELECT r.id
                     FROM pciv_runs AS r
                    WHERE r.tenant_id = :tenant_id
                      AND r.project_id = p.value
                      AND r.status <> 'draft'
                      AND {not_deleted}
                    ORDER BY r.committed_at DESC, r.updated_at DESC, r.id
                    LIMIT 1)
)
SELECT project_id, ref, kind, title, text
  FROM (SELECT x.*,
               row_number() OVER (PARTITION BY x.project_id
                                  ORDER BY x.lacks_words, x.is_draft, x.kind, x.ref, x.run_id) AS position
          FROM (SELECT x.*, {lacks_words_in_title} AS lacks_words
                  FROM (SELECT v.project_id, v.is_draft, v.id AS run_id, t.pointer AS ref, 'fact' AS kind,
                               t.label AS title, {value_text} || ' ' || coalesce(t.evidence_snippet, '') AS text
                          FROM runs AS v
                         CROSS JOIN pciv_inputs AS t
                        {of_run}
                         UNION ALL
                        SELECT v.project_id, v.is_draft, v.id, t.key, 'constraint', t.label,
                               {value_text} || ' ' || coalesce(t.snippet, '')
                          FROM runs AS v
                         CROSS JOIN pciv_constraints AS t
                        {of_run}
                         UNION ALL
                        SELECT v.project_id, v.is_draft, v.id, t.id, 'source', t.title,
                               t.uri || ' ' || coalesce(t.excerpt, '')
                          FROM runs AS v
                         CROSS JOIN pciv_sources AS t
                        {of_run}
                         UNION ALL
                        SELECT v.project_id, v.is_draft, v.id, t.id, 'artifact', t.title, t.type
                          FROM runs AS v
                         CROSS JOIN pciv_artifacts AS t
                        {of_run}) AS x
                 WHERE {has_words}) AS x) AS ranked
 WHERE position <= :per_project
 ORDER BY lacks_words, position, project_id
 LIMIT :at_most;

-- name: draft_facts
-- Return the inputs and constraints with some ids that are in a draft of a project.
SELECT t.id, t.run_id, t.pointer AS ref, true AS is_input
  FROM pciv_runs AS r {use_run_index}
 CROSS JOIN pciv_inputs AS t
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.status = 'draft'
   AND t.tenant_id = r.tenant_id
   AND t.run_id = r.id
   AND t.id IN (SELECT value FROM each(:ids))
 UNION ALL
SELECT t.id, t.run_id, t.key, false
  FROM pciv_runs AS r {use_run_index}
 CROSS JOIN pciv_constraints AS t
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.status = 'draft'
   AND t.tenant_id = r.tenant_id
   AND t.run_id = r.id
   AND t.id IN (SELECT value FROM each(:ids));

-- name: drafts_of_project
-- Return the drafts of a project, newest first.
SELECT r.id
  FROM pciv_runs AS r
 WHERE r.tenant_id = :tenant_id
   AND r.project_id = :project_id
   AND r.status = 'draft'
   AND NOT EXISTS (SELECT 1
                     FROM pciv_deleted_runs AS d
                    WHERE d.tenant_id = r.tenant_id
                      AND d.project_id = r.project_id
                      AND d.run_id = r.id)
 ORDER BY r.created_at DESC, r.id;

-- name: inputs_by_pointer
-- Return the inputs with some pointers in some runs, with one index seek for each pointer and run.
SELECT i.pointer AS ref, 'fact' AS kind, i.label AS title
  FROM each(:run_ids) AS r
 CROSS JOIN each(:pointers) AS k
 CROSS JOIN pciv_inputs AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.run_id = r.value
   AND i.pointer = k.value;

-- name: pointers_of_runs
-- Return pointers of inputs of some runs, to suggest them for unknown ones.
SELECT DISTINCT i.pointer
  FROM each(:run_ids) AS r
 CROSS JOIN pciv_inputs AS i
 WHERE i.tenant_id = :tenant_id
   AND i.project_id = :project_id
   AND i.run_id = r.value
 ORDER BY i.pointer
 LIMIT :at_most;
