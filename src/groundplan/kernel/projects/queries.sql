-- columns: project
id, name, goal, rev, created_at, created_by, updated_at, archived_at

-- name: add_project
-- Make a project. No row changed means that the id or the name is taken.
INSERT INTO projects (tenant_id, id, name, goal, rev, created_at, created_by, updated_at)
VALUES (:tenant_id, :id, :name, :goal, 1, :now, :actor_id, :now)
    ON CONFLICT DO NOTHING;

-- name: project
-- One project as a member with this role sees it.
SELECT {project}, CAST(:role AS text) AS role
  FROM projects
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: projects
-- Every project of the organization, for an actor who is trusted with all of them.
SELECT {project}, 'owner' AS role
  FROM projects
 WHERE tenant_id = :tenant_id
   AND (:with_archived OR archived_at IS NULL);

-- name: projects_of_member
-- The projects the actor is in, with the role held in each, in no order: SQLite would walk all projects for it.
SELECT {p.project}, m.role
  FROM project_members AS m
  JOIN projects AS p
    ON p.tenant_id = m.tenant_id
   AND p.id = m.project_id
 WHERE m.tenant_id = :tenant_id
   AND m.user_id = :actor_id
   AND (:with_archived OR p.archived_at IS NULL);

-- name: set_archived
-- Archive the project, or bring it back.
UPDATE projects
   SET archived_at = :archived_at
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: set_policies
-- Say how the project wants to be worked in.
UPDATE projects
   SET policies = :policies
 WHERE tenant_id = :tenant_id
   AND id = :id;
