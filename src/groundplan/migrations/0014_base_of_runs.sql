-- Facts: which run a draft was copied from, so that a commit can be merged with what was committed since.

ALTER TABLE pciv_runs ADD COLUMN base_run_id {text};
ALTER TABLE pciv_runs ADD COLUMN starts_empty {boolean} NOT NULL DEFAULT false;

-- The row of which a source or an artifact is a copy, through all copies; null if it is none.
ALTER TABLE pciv_sources ADD COLUMN origin_id {text};
ALTER TABLE pciv_artifacts ADD COLUMN origin_id {text};

-- A commit replaces the run in force, so it is based on that run: it holds what others have committed meanwhile.
REFUSE stale_base AS pciv_runs_commit_on_the_run_in_force
BEFORE UPDATE OF status ON pciv_runs
WHEN NEW.status <> 'draft'
IF coalesce(NEW.base_run_id, '') <> coalesce((SELECT r.id
                                                FROM pciv_runs AS r
                                               WHERE r.tenant_id = NEW.tenant_id
                                                 AND r.project_id = NEW.project_id
                                                 AND r.status <> 'draft'
                                                 AND NOT EXISTS (SELECT 1
                                                                   FROM pciv_deleted_runs AS d
                                                                  WHERE d.tenant_id = r.tenant_id
                                                                    AND d.project_id = r.project_id
                                                                    AND d.run_id = r.id)
                                               ORDER BY r.committed_at DESC, r.updated_at DESC, r.id
                                               LIMIT 1), '');
