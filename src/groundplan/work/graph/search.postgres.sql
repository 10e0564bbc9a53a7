-- part: contains_text
-- Differs from SQLite in the function's name. The collation "C" limits lower() to ASCII letters.
(strpos(lower(c.summary COLLATE "C"), CAST(:text AS text)) > 0
        OR c.n IN (SELECT m.node_n FROM work_merged_texts AS m WHERE {merged_contains_text}))

-- part: merged_contains_text
-- Differs from SQLite in the same way.
m.tenant_id = :tenant_id
                      AND m.project_id = :project_id
                      AND strpos(lower(m.summary COLLATE "C"), CAST(:text AS text)) > 0

-- part: by_text
-- Differs from SQLite, which has a trigram index: under row level security PostgreSQL would not use one, so every
-- summary of the project is read.
SELECT c.n
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND {contains_text}
       AND CAST(:source AS text) = 'text'

-- name: sample_trigrams
-- Differs from SQLite, which has a trigram index: here there is nothing to choose from.
SELECT CAST(NULL AS bigint)
 WHERE CAST(:trigrams AS text) IS NULL;

-- name: count_summaries
-- Differs from SQLite, which keeps the texts beside their trigrams.
SELECT count(*)
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND {contains_text};

-- name: count_matches
-- Differs from SQLite for the same reason.
SELECT count(*)
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND {contains_text};

-- part: nodes_by_text
-- The newest nodes of each project that fulfill a condition; all summaries of the project are read.
FROM each(:projects) AS p
 CROSS JOIN LATERAL (
        SELECT node.*
          FROM work_nodes AS node
         WHERE node.tenant_id = :tenant_id
           AND node.project_id = p.value

-- name: nodes_with_words
-- Differs from SQLite, which has a trigram index: here every summary is compared, after its characters were folded.
SELECT {match_columns}
  {nodes_by_text}
           AND translate(lower(node.summary COLLATE "C"), :uppers, :lowers)
               LIKE ALL (ARRAY(SELECT value FROM each(:likes)))
           AND CAST(:match AS text) IS NOT NULL
         ORDER BY node.n DESC
         LIMIT :per_project
     ) AS c
 ORDER BY row_number() OVER (PARTITION BY c.project_id ORDER BY c.n DESC), c.project_id
 LIMIT :at_most;

-- name: nodes_with_short_words
-- Differs from SQLite for the same reason.
SELECT {match_columns}
  {nodes_by_text}
           AND translate(lower(node.summary COLLATE "C"), :uppers, :lowers)
               LIKE ALL (ARRAY(SELECT value FROM each(:likes)))
           AND CAST(:read_max AS bigint) > 0
           AND CAST(:longest_part AS text) IS NOT NULL
         ORDER BY node.n DESC
         LIMIT :per_project
     ) AS c
 ORDER BY row_number() OVER (PARTITION BY c.project_id ORDER BY c.n DESC), c.project_id
 LIMIT :at_most;

-- name: nodes_with_summary
-- Differs from SQLite, which keeps the texts beside their trigrams.
SELECT {match_columns}
  {nodes_by_text}
           AND lower(node.summary COLLATE "C") = :folded_text
         ORDER BY node.n DESC
         LIMIT :per_project
     ) AS c
 ORDER BY row_number() OVER (PARTITION BY c.project_id ORDER BY c.n DESC), c.project_id
 LIMIT :at_most;

-- part: description
-- Differs from SQLite in its functions of JSON.
coalesce(t.properties::json ->> 'description', '')

-- part: has_description
position('"description":' in t.properties) > 0

-- name: nodes_with_texts
-- Differs from SQLite in how words are compared.
SELECT c.project_id, c.id AS ref, coalesce(c.kind, 'task') AS kind, c.summary AS title, x.text
  {texts}
   AND translate(lower(x.text COLLATE "C"), :uppers, :lowers) LIKE ALL (ARRAY(SELECT value FROM each(:likes)))
 ORDER BY x.node_n DESC, c.project_id, x.text COLLATE "C"
 LIMIT :at_most;
