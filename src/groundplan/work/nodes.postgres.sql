-- name: add_nodes
-- Differs from SQLite, where a statement costs next to nothing: here many rows are sent at once, and the policies are
-- checked once for all of them. An absent priority is -Infinity, which JSON cannot express, so the base record has it.
INSERT INTO work_nodes (tenant_id, project_id, {position}, {content}, {imported}, order_key,
                        rev, claim_number, changed_rev, created_at, created_by, updated_at, updated_by)
SELECT :tenant_id, r.project_id, {r.position}, {r.content}, {r.imported}, r.order_key, 1, 0, r.changed_rev, :now,
       :actor_id, :now, :actor_id
  FROM json_populate_recordset(
           json_populate_record(NULL::work_nodes, '{"priority": "-Infinity"}'), json_strip_nulls(:rows::json)
       ) AS r;

-- name: index_summaries
-- Differs from SQLite, which has a text index: here a search reads the summaries, so there is nothing to do.
SELECT 1
 WHERE CAST(:rows AS text) IS NULL;

-- name: find_unused_ids
-- Differs from SQLite, which has no policies: here nodes of hidden projects are invisible, but their ids are used too. So
-- the database makes ids of its own, as many and as long as these. About a given id it would reveal whether it is used.
SELECT gp_new_work_ids(json_array_length(:ids::json), length(:ids::json ->> 0));

-- name: add_evidence
-- Differs from SQLite for the same reason as add_nodes.
INSERT INTO work_evidence (tenant_id, project_id, {evidence})
SELECT :tenant_id, r.project_id, {r.evidence}
  FROM json_populate_recordset(NULL::work_evidence, :rows::json) AS r;
