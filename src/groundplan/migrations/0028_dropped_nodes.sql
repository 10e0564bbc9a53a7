-- The number of dropped nodes of a project, which are part of its resolved ones.
ALTER TABLE work_projects ADD COLUMN dropped {integer} NOT NULL DEFAULT 0
    CONSTRAINT work_projects_dropped_are_resolved CHECK (dropped >= 0 AND dropped <= resolved);

-- only: postgres
-- The guard of the pipelines asks for an actor, and a migration has none.
ALTER TABLE work_projects DISABLE TRIGGER USER;
-- end
UPDATE work_projects
   SET dropped = (SELECT count(*)
                    FROM work_nodes AS c
                   WHERE c.tenant_id = work_projects.tenant_id
                     AND c.project_id = work_projects.project_id
                     AND c.outcome IS NOT NULL);
-- only: postgres
ALTER TABLE work_projects ENABLE TRIGGER USER;
-- end
