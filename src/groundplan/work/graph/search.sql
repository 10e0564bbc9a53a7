-- part: filters
-- Every condition on a node `c`. A condition that is not set is true.
   AND (CAST(:is_below_root AS boolean) IS NULL OR c.parent_n IS NOT NULL)
   AND (CAST(:resolved AS boolean) IS NULL OR c.resolved = CAST(:resolved AS boolean))
   AND (CAST(:outcome AS text) IS NULL
        OR (c.resolved AND coalesce(c.outcome, 'done') = CAST(:outcome AS text)))
   AND (CAST(:is_leaf AS boolean) IS NULL OR (c.open_children = 0) = CAST(:is_leaf AS boolean))
   AND (CAST(:is_ready AS boolean) IS NULL OR c.is_ready = CAST(:is_ready AS boolean))
   AND (CAST(:is_blocked AS boolean) IS NULL OR c.is_blocked = CAST(:is_blocked AS boolean))
   AND (CAST(:parent_n AS bigint) IS NULL OR c.parent_n = CAST(:parent_n AS bigint))
   AND {has_wanted_claim}
   AND (CAST(:text AS text) IS NULL OR {contains_text})
   AND {has_wanted_properties}
   AND (CAST(:evidence_type AS text) IS NULL
        OR EXISTS (SELECT 1
                     FROM work_evidence AS e
                    WHERE e.tenant_id = c.tenant_id
                      AND e.project_id = c.project_id
                      AND e.node_n = c.n
                      AND e.type = CAST(:evidence_type AS text)))
   AND (CAST(:tag AS text) IS NULL
        OR EXISTS (SELECT 1
                     FROM work_node_tags AS t
                    WHERE t.tenant_id = c.tenant_id
                      AND t.project_id = c.project_id
                      AND t.node_n = c.n
                      AND t.tag = CAST(:tag AS text)))
   AND (CAST(:depends_on_n AS bigint) IS NULL
        OR EXISTS (SELECT 1
                     FROM work_edges AS d
                    WHERE d.tenant_id = c.tenant_id
                      AND d.project_id = c.project_id
                      AND d.from_n = c.n
                      AND d.type = 'depends_on'
                      AND d.to_n = CAST(:depends_on_n AS bigint)))
   AND (CAST(:depended_by_n AS bigint) IS NULL
        OR EXISTS (SELECT 1
                     FROM work_edges AS d
                    WHERE d.tenant_id = c.tenant_id
                      AND d.project_id = c.project_id
                      AND d.from_n = CAST(:depended_by_n AS bigint)
                      AND d.type = 'depends_on'
                      AND d.to_n = c.n))

-- part: contains_text
-- The summary contains the text, ignoring the case of ASCII letters; or that of a node that was merged into this one.
(instr(lower(c.summary), CAST(:text AS text)) > 0
        OR c.n IN (SELECT m.node_n FROM work_merged_texts AS m WHERE {merged_contains_text}))

-- part: merged_contains_text
m.tenant_id = :tenant_id
                      AND m.project_id = :project_id
                      AND instr(lower(m.summary), CAST(:text AS text)) > 0

-- part: only_merged_contain_text
-- The nodes of which only what was merged into them contains the text.
FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.n IN (SELECT m.node_n FROM work_merged_texts AS m WHERE {merged_contains_text})
           AND instr(lower(c.summary), CAST(:text AS text)) = 0

-- part: by_text
-- Nodes whose summary has the trigrams of the text.
SELECT work_text.rowid - CAST(:first_key AS bigint)
      FROM work_text
     CROSS JOIN work_text_content AS t
     WHERE work_text MATCH :match
       AND work_text.rowid BETWEEN CAST(:first_key AS bigint) AND CAST(:last_key AS bigint)
       AND t.id = work_text.rowid
       AND instr(t.c0, CAST(:text AS text)) > 0
       AND CAST(:source AS text) = 'text'
     UNION ALL
    SELECT t.id - CAST(:first_key AS bigint)
      FROM work_text_content AS t
     WHERE t.id BETWEEN CAST(:first_key AS bigint) AND CAST(:last_key AS bigint)
       AND instr(t.c0, CAST(:text AS text)) > 0
       AND CAST(:source AS text) = 'summaries'
     UNION ALL
    SELECT c.n
      {only_merged_contain_text}
       AND CAST(:source AS text) IN ('text', 'summaries')

-- part: chosen
-- The nodes that the source finds; only the arm of that source returns rows.
WITH RECURSIVE below (n) AS (
    SELECT c.n
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = CAST(:ancestor_n AS bigint)
     UNION ALL
    SELECT c.n
      FROM below AS b
     {children_of_b}
), chosen (n) AS MATERIALIZED (
    SELECT below.n
      FROM below
     WHERE CAST(:source AS text) = 'below'
     UNION ALL
    SELECT d.from_n
      FROM work_edges AS d
     WHERE d.tenant_id = :tenant_id
       AND d.project_id = :project_id
       AND d.to_n = CAST(:depends_on_n AS bigint)
       AND d.type = 'depends_on'
       AND CAST(:source AS text) = 'waiting'
     UNION ALL
    SELECT d.to_n
      FROM work_edges AS d
     WHERE d.tenant_id = :tenant_id
       AND d.project_id = :project_id
       AND d.from_n = CAST(:depended_by_n AS bigint)
       AND d.type = 'depends_on'
       AND CAST(:source AS text) = 'waited_for'
     UNION ALL
    SELECT c.n
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.claimed_by = CAST(:claimed_by AS text)
       AND CAST(:source AS text) = 'claimed'
     UNION ALL
    SELECT t.node_n
      FROM work_node_tags AS t
     WHERE t.tenant_id = :tenant_id
       AND t.project_id = :project_id
       AND t.tag = CAST(:tag AS text)
       AND CAST(:source AS text) = 'tagged'
     UNION ALL
    {by_text}
     UNION ALL
    SELECT c.n
      FROM work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = CAST(:parent_n AS bigint)
       AND CAST(:source AS text) = 'children'
)

-- part: from_chosen
  FROM chosen
 {node_chosen}
{filters}

-- part: from_whole_project
-- For queries that read every node: the last condition is always true, and makes SQLite read in the order of the file.
{from_project}
   AND c.n > 0

-- part: from_project
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
{filters}

-- part: behind_in_rank
-- After a node by rank. The first line is the start of the index range; the others are the exact condition.
   AND c.priority <= CAST(:after_priority AS double precision)
   AND (c.priority < CAST(:after_priority AS double precision)
        OR c.depth < CAST(:after_depth AS bigint)
        OR (c.depth = CAST(:after_depth AS bigint)
            AND (c.changed_rev > CAST(:after_changed_rev AS bigint)
                 OR (c.changed_rev = CAST(:after_changed_rev AS bigint) AND c.n > CAST(:after_n AS bigint)))))

-- name: search_counts
-- The project's number in the text index, and the numbers of its nodes by state.
SELECT number, last_n, total, resolved, dropped, blocked, actionable
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: sample_trigrams
-- For each trigram the number of the node at which a sample of summaries with it is complete; null if there are fewer.
SELECT (SELECT work_text.rowid - CAST(:first_key AS bigint)
          FROM work_text
         WHERE work_text MATCH wanted.value
           AND work_text.rowid BETWEEN CAST(:first_key AS bigint) AND CAST(:last_key AS bigint)
         ORDER BY work_text.rowid
         LIMIT 1 OFFSET CAST(:sample AS bigint) - 1)
  FROM each(:trigrams) AS wanted;

-- name: count_summaries
-- The number of nodes with a text. The texts of the index are a tenth of the rows, and in lower case.
SELECT (SELECT count(*)
          FROM work_text_content AS t
         WHERE t.id BETWEEN CAST(:first_key AS bigint) AND CAST(:last_key AS bigint)
           AND instr(t.c0, CAST(:text AS text)) > 0)
       + (SELECT count(*) {only_merged_contain_text});

-- name: count_matches
-- The same among the summaries that the text index finds, for which the rows of the nodes are not needed.
SELECT (SELECT count(*)
          FROM work_text
         CROSS JOIN work_text_content AS t
         WHERE work_text MATCH :match
           AND work_text.rowid BETWEEN CAST(:first_key AS bigint) AND CAST(:last_key AS bigint)
           AND t.id = work_text.rowid
           AND instr(t.c0, CAST(:text AS text)) > 0)
       + (SELECT count(*) {only_merged_contain_text});

-- name: ready_nodes_with_text
-- Ready nodes with a text, best first, and whether each is unclaimed: of the best unclaimed ones, and of all claimed ones.
SELECT n, is_unclaimed
  FROM (SELECT c.n, c.priority, c.depth, c.changed_rev, true AS is_unclaimed
          FROM (SELECT c.n, c.priority, c.depth, c.changed_rev, c.summary
                  FROM work_nodes AS c
                 WHERE c.tenant_id = :tenant_id
                   AND c.project_id = :project_id
                   AND c.is_ready
                   AND c.claimed_by IS NULL
                {behind_in_rank}
                 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
                 LIMIT :looked_at) AS c
         WHERE {contains_text}
         UNION ALL
        SELECT c.n, c.priority, c.depth, c.changed_rev, false AS is_unclaimed
          FROM work_nodes AS c
         WHERE c.tenant_id = :tenant_id
           AND c.project_id = :project_id
           AND c.is_ready
           AND c.claimed_by IS NOT NULL
           AND {contains_text}
        {behind_in_rank}) AS ready
 ORDER BY priority DESC, depth DESC, changed_rev, n;

-- name: ready_nodes
-- Ready nodes, best first. Unclaimed and claimed nodes have separate indexes; the first rows of both are merged.
SELECT n
  FROM (SELECT *
          FROM (SELECT c.n, c.priority, c.depth, c.changed_rev
                {from_project}
                   AND c.is_ready
                   AND c.claimed_by IS NULL
                {behind_in_rank}
                 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
                 LIMIT :at_most) AS unclaimed
         UNION ALL
        SELECT *
          FROM (SELECT c.n, c.priority, c.depth, c.changed_rev
                {from_project}
                   AND c.is_ready
                   AND c.claimed_by IS NOT NULL
                {behind_in_rank}
                 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
                 LIMIT :at_most) AS claimed) AS ready
 ORDER BY priority DESC, depth DESC, changed_rev, n
 LIMIT :at_most;

-- name: unready_nodes
-- Nodes that are not ready, in the same order.
SELECT c.n
{from_whole_project}
   AND NOT c.is_ready
{behind_in_rank}
 ORDER BY c.priority DESC, c.depth DESC, c.changed_rev, c.n
 LIMIT :at_most;

-- name: by_depth
-- Nodes of the project, from the top down.
SELECT c.n
{from_whole_project}
   AND (c.depth, c.n) > (CAST(:after_depth AS bigint), CAST(:after_n AS bigint))
 ORDER BY c.depth, c.n
 LIMIT :at_most;

-- name: by_creation
-- Nodes of the project, from the oldest to the newest.
SELECT c.n
{from_project}
   AND c.n > CAST(:after_n AS bigint)
 ORDER BY c.n
 LIMIT :at_most;

-- name: by_change
-- Nodes of the project, from the latest change to the earliest. The claimed ones are few, and in no index by change.
SELECT n
  FROM (SELECT *
          FROM (SELECT c.n, c.changed_rev
                {from_project}
                   AND c.claimed_by IS NULL
                   AND (c.changed_rev, c.n) < (CAST(:after_changed_rev AS bigint), CAST(:after_n AS bigint))
                 ORDER BY c.changed_rev DESC, c.n DESC
                 LIMIT :at_most) AS unclaimed
         UNION ALL
        SELECT *
          FROM (SELECT c.n, c.changed_rev
                {from_project}
                   AND c.claimed_by IS NOT NULL
                   AND (c.changed_rev, c.n) < (CAST(:after_changed_rev AS bigint), CAST(:after_n AS bigint))
                 ORDER BY c.changed_rev DESC, c.n DESC
                 LIMIT :at_most) AS claimed) AS changed
 ORDER BY changed_rev DESC, n DESC
 LIMIT :at_most;

-- name: chosen_by_rank
-- Nodes that a source finds: the ready ones, best first, then the rest in the same order.
{chosen}
SELECT c.n, count(*) OVER ()
{from_chosen}
   AND (c.is_ready < CAST(:after_ready AS boolean)
        OR (c.is_ready = CAST(:after_ready AS boolean)
{behind_in_rank}))
 ORDER BY c.is_ready DESC, c.priority DESC, c.depth DESC, c.changed_rev, c.n
 LIMIT :at_most;

-- name: chosen_by_depth
-- Nodes that a source finds, from the top down.
{chosen}
SELECT c.n, count(*) OVER ()
{from_chosen}
   AND (c.depth, c.n) > (CAST(:after_depth AS bigint), CAST(:after_n AS bigint))
 ORDER BY c.depth, c.n
 LIMIT :at_most;

-- name: chosen_by_creation
-- Nodes that a source finds, from the oldest to the newest.
{chosen}
SELECT c.n, count(*) OVER ()
{from_chosen}
   AND c.n > CAST(:after_n AS bigint)
 ORDER BY c.n
 LIMIT :at_most;

-- name: chosen_by_change
-- Nodes that a source finds, from the latest change to the earliest.
{chosen}
SELECT c.n, count(*) OVER ()
{from_chosen}
   AND (c.changed_rev, c.n) < (CAST(:after_changed_rev AS bigint), CAST(:after_n AS bigint))
 ORDER BY c.changed_rev DESC, c.n DESC
 LIMIT :at_most;

-- name: count_in_project
-- The number of nodes of the project that pass the filter.
SELECT count(*)
{from_whole_project};

-- name: count_of_chosen
-- The number of nodes that a source finds and that pass the filter.
{chosen}
SELECT count(*)
{from_chosen};

-- part: searched_projects
-- The projects of a search, each with the first key of its nodes in the text index.
FROM (SELECT w.tenant_id, w.project_id, w.number * 4294967296 AS first_key, w.last_n
          FROM each(:projects) AS p
         CROSS JOIN work_projects AS w
         WHERE w.tenant_id = :tenant_id
           AND w.project_id = p.value) AS w

-- part: node_found
-- The node of a number that a search found.
CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = w.tenant_id
   AND c.project_id = w.project_id
   AND c.n = found.value

-- part: match_columns
c.project_id, c.id AS ref, coalesce(c.kind, 'task') AS kind, c.summary AS title, '' AS text

-- name: nodes_with_id
-- Return the node of these projects whose id is the text.
SELECT {match_columns}
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.id = :folded_text
   AND c.project_id IN (SELECT value FROM each(:projects));

-- name: nodes_with_words
-- Return the newest nodes of each project with all words, of which one has a trigram.
SELECT {match_columns}
  {searched_projects}
 CROSS JOIN each((SELECT json_group_array(n)
                    FROM (SELECT work_text.rowid - w.first_key AS n
                            FROM work_text
                           WHERE work_text MATCH :match
                             AND work_text.rowid BETWEEN w.first_key AND w.first_key + 4294967295
                             AND NOT EXISTS (SELECT 1
                                               FROM each(:word_parts) AS part
                                              WHERE instr(work_text.summary, part.value) = 0)
                             AND NOT EXISTS (SELECT 1
                                               FROM each(:other_globs) AS pattern
                                              WHERE work_text.summary NOT GLOB pattern.value)
                           ORDER BY work_text.rowid DESC
                           LIMIT :per_project) AS newest)) AS found
 {node_found}
 ORDER BY found.key, c.project_id
 LIMIT :at_most;

-- name: nodes_with_short_words
-- Return the newest nodes of each project with all words, of which none has a trigram, so that the summaries are read.
SELECT {match_columns}
  {searched_projects}
 CROSS JOIN each((SELECT json_group_array(n)
                    FROM (SELECT t.id - w.first_key AS n
                            FROM work_text_content AS t
                           WHERE t.id BETWEEN w.first_key + max(w.last_n - :read_max, 0) AND w.first_key + 4294967295
                             AND instr(t.c0, :longest_part) > 0
                             AND NOT EXISTS (SELECT 1
                                               FROM each(:word_parts) AS part
                                              WHERE instr(t.c0, part.value) = 0)
                             AND NOT EXISTS (SELECT 1
                                               FROM each(:other_globs) AS pattern
                                              WHERE t.c0 NOT GLOB pattern.value)
                           ORDER BY t.id DESC
                           LIMIT :per_project) AS newest)) AS found
 {node_found}
 ORDER BY found.key, c.project_id
 LIMIT :at_most;

-- name: nodes_with_summary
-- Return the newest nodes of each project whose summary is the text, apart from the case of ASCII letters.
SELECT {match_columns}
  {searched_projects}
 CROSS JOIN each((SELECT json_group_array(n)
                    FROM (SELECT t.id - w.first_key AS n
                            FROM work_text_content AS t
                           WHERE t.id BETWEEN w.first_key AND w.first_key + 4294967295
                             AND t.c0 = :folded_text
                           ORDER BY t.id DESC
                           LIMIT :per_project) AS newest)) AS found
 {node_found}
 ORDER BY found.key, c.project_id
 LIMIT :at_most;

-- part: of_project
WHERE t.tenant_id = :tenant_id
           AND t.project_id = p.value

-- part: texts
-- What was written about nodes beside their summaries, with the words of the nodes that were merged into them.
FROM (SELECT t.project_id, t.node_n, t.summary || ' ' || coalesce(t.description, '') AS text
          FROM each(:projects) AS p
         CROSS JOIN work_merged_texts AS t
         {of_project}
         UNION ALL
        SELECT t.project_id, t.node_n, t.title || ' ' || t.content
          FROM each(:projects) AS p
         CROSS JOIN work_sections AS t
         {of_project}
         UNION ALL
        SELECT t.project_id, t.node_n, t.ref
          FROM each(:projects) AS p
         CROSS JOIN work_evidence AS t
         {of_project}
         UNION ALL
        SELECT t.project_id, t.n, {description}
          FROM each(:projects) AS p
         CROSS JOIN work_nodes AS t
         {of_project}
           AND {has_description}) AS x
 CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = x.project_id
   AND c.n = x.node_n

-- part: description
coalesce(json_extract(t.properties, '$.description'), '')

-- part: has_description
instr(t.properties, '"description":') > 0

-- name: nodes_with_texts
-- Return the newest nodes of these projects about which a text with all words was written.
SELECT c.project_id, c.id AS ref, coalesce(c.kind, 'task') AS kind, c.summary AS title, x.text
  {texts}
   AND NOT EXISTS (SELECT 1
                     FROM each(:word_parts) AS part
                    WHERE instr(lower(x.text), part.value) = 0)
   AND NOT EXISTS (SELECT 1
                     FROM each(:other_globs) AS pattern
                    WHERE lower(x.text) NOT GLOB pattern.value)
 ORDER BY x.node_n DESC, c.project_id, x.text
 LIMIT :at_most;
