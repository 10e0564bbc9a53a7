-- name: counts
-- The numbers of nodes in a project.
SELECT total, resolved, total - resolved AS unresolved, blocked, actionable, dropped
  FROM work_projects
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id;

-- name: open_children_of
-- A few open children of a node.
SELECT c.id
  FROM work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_n = :n
   AND NOT c.resolved
 ORDER BY c.n
 LIMIT :at_most;

-- part: from_resolved_dependencies
FROM work_edges AS d
  JOIN work_nodes AS c
    ON c.tenant_id = d.tenant_id
   AND c.project_id = d.project_id
   AND c.n = d.to_n
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.from_n = :n
   AND d.type = 'depends_on'
   AND c.resolved
 ORDER BY c.changed_rev DESC, c.n

-- name: root_id
-- The id of the root of the project.
SELECT id
  FROM work_nodes
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n = 1;

-- part: children_of_b
CROSS JOIN work_nodes AS c
     WHERE c.tenant_id = :tenant_id
       AND c.project_id = :project_id
       AND c.parent_n = b.n

-- part: node_chosen
CROSS JOIN work_nodes AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.n = chosen.n

-- part: has_wanted_claim
-- A node `c` is unclaimed, or has a live claim of an actor, where that is wanted.
(CAST(:is_unclaimed AS boolean) IS NULL OR c.claimed_by IS NULL OR c.claimed_until <= :now)
   AND (CAST(:claimed_by AS text) IS NULL
        OR (c.claimed_by = CAST(:claimed_by AS text) AND (c.claimed_until IS NULL OR c.claimed_until > :now)))

-- part: has_wanted_properties
-- A node `c` has the wanted properties, and not those that it must not have.
(CAST(:properties AS text) IS NULL OR {has_properties})
   AND (CAST(:absent AS text) IS NULL OR {lacks_properties})

-- part: has_properties
-- The node has every wanted property with a value that is equal as JSON: 1 equals 1.0, but neither true nor "1", and the
-- order of the keys of an object does not count. The check for the fragment, which the stored text must contain, avoids
-- parsing the JSON of most nodes.
instr(c.properties, CAST(:fragment AS text)) > 0
        AND (SELECT count(*)
           FROM json_each(:properties) AS wanted
           JOIN json_each(c.properties) AS had
             ON had.key = wanted.key
            AND CASE
                WHEN wanted.type NOT IN ('array', 'object')
                    THEN had.value = wanted.value
                     AND (had.type = wanted.type
                          OR (had.type IN ('integer', 'real') AND wanted.type IN ('integer', 'real')))
                WHEN had.type = wanted.type
                    THEN (SELECT json_group_array(json(part.row))
                            FROM (SELECT {part_of_value} FROM json_tree(had.value) AS t ORDER BY t.fullkey) AS part)
                       = (SELECT json_group_array(json(part.row))
                            FROM (SELECT {part_of_value} FROM json_tree(wanted.value) AS t ORDER BY t.fullkey) AS part)
                END
        ) = (SELECT count(*) FROM json_each(:properties))

-- part: part_of_value
-- A part of a JSON value: where it is, its type and its atom. A number is written alike whether it was 1 or 1.0.
json_array(t.fullkey,
           CASE WHEN t.type IN ('integer', 'real') THEN 'number' ELSE t.type END,
           CASE WHEN t.type = 'real' AND t.atom <> CAST(t.atom AS INTEGER) THEN printf('%!.17g', t.atom)
                WHEN t.type = 'real' THEN CAST(t.atom AS INTEGER)
                ELSE t.atom END) AS row

-- part: lacks_properties
NOT EXISTS (SELECT 1
                         FROM json_each(:absent) AS unwanted
                         JOIN json_each(c.properties) AS had
                           ON had.key = unwanted.value)
