-- name: unset_facts
-- The required facts without a value, oldest first: those of drafts, and those of the run in force that no draft has set.
-- What a draft only copied unset, and has been set in force since, does not count: a commit of the draft takes the value.
SELECT unset.pointer, min(unset.label) AS label, min(unset.value_kind) AS value_kind, min(unset.updated_at) AS since,
       coalesce(min(unset.draft_id), CAST(:in_force_id AS text)) AS run_id
  FROM (SELECT i.pointer, i.label, i.value_kind, i.updated_at,
               CASE WHEN i.run_id <> :in_force_id THEN i.run_id END AS draft_id
          FROM each(:run_ids) AS run
          CROSS JOIN pciv_inputs AS i
         WHERE i.tenant_id = :tenant_id
           AND i.run_id = run.value
           AND i.required
           AND i.value_string IS NULL
           AND i.value_number IS NULL
           AND i.value_boolean IS NULL
           AND i.value_enum IS NULL
           AND i.value_json IS NULL
           AND (i.run_id <> :in_force_id
                OR NOT EXISTS (SELECT 1
                                 FROM each(:run_ids) AS draft
                                 CROSS JOIN pciv_inputs AS s
                                WHERE s.tenant_id = :tenant_id
                                  AND s.run_id = draft.value
                                  AND s.pointer = i.pointer
                                  AND (s.value_string IS NOT NULL
                                       OR s.value_number IS NOT NULL
                                       OR s.value_boolean IS NOT NULL
                                       OR s.value_enum IS NOT NULL
                                       OR s.value_json IS NOT NULL)))
           AND NOT EXISTS (SELECT 1
                             FROM pciv_runs AS d
                             CROSS JOIN pciv_inputs AS b
                             CROSS JOIN pciv_inputs AS f
                            WHERE d.tenant_id = :tenant_id
                              AND d.id = i.run_id
                              AND d.status = 'draft'
                              AND b.tenant_id = :tenant_id
                              AND b.run_id = d.base_run_id
                              AND b.pointer = i.pointer
                              AND b.value_string IS NULL
                              AND b.value_number IS NULL
                              AND b.value_boolean IS NULL
                              AND b.value_enum IS NULL
                              AND b.value_json IS NULL
                              AND f.tenant_id = :tenant_id
                              AND f.run_id = :in_force_id
                              AND f.pointer = i.pointer
                              AND (f.value_string IS NOT NULL
                                   OR f.value_number IS NOT NULL
                                   OR f.value_boolean IS NOT NULL
                                   OR f.value_enum IS NOT NULL
                                   OR f.value_json IS NOT NULL))) AS unset
 GROUP BY unset.pointer
HAVING min(unset.updated_at) >= :since
 ORDER BY since, unset.pointer
 LIMIT :at_most;
