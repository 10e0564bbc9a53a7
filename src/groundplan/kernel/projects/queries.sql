-- columns: project
id, name, goal, rev, created_at, created_by, updated_at, archived_at

-- name: add_project
-- Create a project. Changes no row if the id or the name is in use.
INSERT INTO projects (tenant_id, id, name, goal, rev, created_at, created_by, updated_at)
VALUES (:tenant_id, :id, :name, :goal, 1, :now, :actor_id, :now)
    ON CONFLICT DO NOTHING;

-- name: project
-- Returns one project, with the given role.
SELECT {project}, CAST(:role AS text) AS role
  FROM projects
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: projects
-- Returns every project of the organization, for an actor with access to all of them.
SELECT {project}, 'owner' AS role
  FROM projects
 WHERE tenant_id = :tenant_id
   AND (:with_archived OR archived_at IS NULL);

-- name: projects_of_member
-- Returns the projects of the actor with their roles, unordered: to order them, SQLite would read all projects.
SELECT {p.project}, m.role
  FROM project_members AS m
  JOIN projects AS p
    ON p.tenant_id = m.tenant_id
   AND p.id = m.project_id
 WHERE m.tenant_id = :tenant_id
   AND m.user_id = :actor_id
   AND (:with_archived OR p.archived_at IS NULL);

-- name: set_archived
-- Archive or restore the project.
UPDATE projects
   SET archived_at = :archived_at
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: set_policies
-- Set the policies of the project.
UPDATE projects
   SET policies = :policies
 WHERE tenant_id = :tenant_id
   AND id = :id;
