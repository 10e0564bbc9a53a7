-- Facts: what a person set is protected from agents whatever its provenance, and what is source-backed names a source.

-- The kind of actor that last wrote a constraint, as of an input. Of older rows it is known where a person entered them.
ALTER TABLE pciv_constraints ADD COLUMN updated_by {text} NOT NULL DEFAULT 'model'
    CONSTRAINT pciv_constraints_updated_by_is_known CHECK (updated_by IN ('user', 'model', 'system'));

-- The guard of final rows is generated again after the last step.
-- only: sqlite
DROP TRIGGER IF EXISTS guard_pciv_constraints_frozen_update;
-- end
-- only: postgres
DROP TRIGGER IF EXISTS guard_pciv_constraints_frozen_row ON pciv_constraints;
-- end
UPDATE pciv_constraints
   SET updated_by = 'user'
 WHERE provenance = 'user-entered';

-- A value that a person set becomes that of another actor only in another row: by what somebody else's run brings.
REFUSE lower_provenance AS *_of_a_person_stay_theirs
BEFORE UPDATE ON pciv_inputs, pciv_constraints
WHEN (coalesce(OLD.value_string, OLD.value_enum, OLD.value_json) IS NOT NULL OR OLD.value_number IS NOT NULL
      OR OLD.value_boolean IS NOT NULL)
 AND OLD.updated_by = 'user'
 AND NEW.updated_by IN ('model', 'system');

-- only: sqlite
DROP TRIGGER pciv_runs_commit_is_backed;
DROP VIEW pciv_displaced;
-- end
-- only: postgres
DROP TRIGGER pciv_runs_commit_is_backed ON pciv_runs;
DROP FUNCTION gp_pciv_runs_commit_is_backed();
DROP VIEW pciv_displaced;
-- end

-- What is said to have a source has one at the latest now, also while its value is not known.
REFUSE source_missing AS pciv_runs_commit_is_backed
BEFORE UPDATE OF status ON pciv_runs
WHEN NEW.status <> 'draft'
IF EXISTS (SELECT 1
             FROM pciv_inputs AS i
            WHERE i.tenant_id = NEW.tenant_id
              AND i.run_id = NEW.id
              AND i.provenance = 'source-backed'
              AND NOT EXISTS (SELECT 1
                                FROM pciv_input_sources AS s
                               WHERE s.tenant_id = i.tenant_id
                                 AND s.run_id = i.run_id
                                 AND s.input_id = i.id))
   OR EXISTS (SELECT 1
                FROM pciv_constraints
               WHERE tenant_id = NEW.tenant_id
                 AND run_id = NEW.id
                 AND provenance = 'source-backed'
                 AND source_id IS NULL);

-- What a person set in one run, and another run of the same project has with another value, does not have, or no longer
-- requires. What a person wrote later takes the place of it and displaces nothing, unless a value that was entered would
-- give way to one that only comes from somewhere.
-- only: postgres
CREATE VIEW pciv_displaced WITH (security_invoker = true) AS
-- end
-- only: sqlite
CREATE VIEW pciv_displaced AS
-- end
SELECT *
  FROM (SELECT p.tenant_id, p.run_id AS before_run_id, r.id AS run_id, p.pointer, NULL AS key, p.value_kind,
               p.value_string, p.value_number, p.value_boolean, p.value_enum, p.value_json,
               CASE WHEN n.id IS NULL THEN 'removed'
                    WHEN (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                          OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL)
                         AND NOT (n.value_kind = p.value_kind
                                  AND coalesce(coalesce(n.value_string, n.value_enum, n.value_json)
                                               = coalesce(p.value_string, p.value_enum, p.value_json),
                                               n.value_number = p.value_number, n.value_boolean = p.value_boolean,
                                               false))
                         AND NOT (n.updated_by = 'user' AND n.updated_at >= p.updated_at
                                  AND (n.provenance = 'user-entered' OR p.provenance <> 'user-entered')) THEN 'changed'
                    WHEN p.required AND NOT n.required
                         AND NOT (n.updated_by = 'user' AND n.updated_at >= p.updated_at) THEN 'optional'
                END AS change
          FROM pciv_inputs AS p
          JOIN pciv_runs AS r
            ON r.tenant_id = p.tenant_id
           AND r.project_id = p.project_id
          LEFT JOIN pciv_inputs AS n
            ON n.tenant_id = p.tenant_id
           AND n.run_id = r.id
           AND n.pointer = p.pointer
         WHERE ((p.provenance = 'user-entered' OR p.updated_by = 'user')
                AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                     OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL))
            OR (p.required AND p.updated_by = 'user')
         UNION ALL
        SELECT p.tenant_id, p.run_id, r.id, NULL, p.key, p.value_kind,
               p.value_string, p.value_number, p.value_boolean, p.value_enum, p.value_json,
               CASE WHEN n.id IS NULL THEN 'removed'
                    WHEN NOT (n.value_kind = p.value_kind
                              AND coalesce(coalesce(n.value_string, n.value_enum, n.value_json)
                                           = coalesce(p.value_string, p.value_enum, p.value_json),
                                           n.value_number = p.value_number, n.value_boolean = p.value_boolean,
                                           false))
                         AND NOT (n.updated_by = 'user' AND n.updated_at >= p.updated_at
                                  AND (n.provenance = 'user-entered' OR p.provenance <> 'user-entered')) THEN 'changed'
                END
          FROM pciv_constraints AS p
          JOIN pciv_runs AS r
            ON r.tenant_id = p.tenant_id
           AND r.project_id = p.project_id
          LEFT JOIN pciv_constraints AS n
            ON n.tenant_id = p.tenant_id
           AND n.run_id = r.id
           AND n.key = p.key
         WHERE (p.provenance = 'user-entered' OR p.updated_by = 'user')
           AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL)) AS compared
 WHERE change IS NOT NULL;
