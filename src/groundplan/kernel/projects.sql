-- columns: project
id, name, goal, rev, created_at, created_by, updated_at, archived_at

-- name: add_project
-- Create a project. Changes no row if the id or the name is in use.
INSERT INTO projects (tenant_id, id, name, goal, rev, created_at, created_by, updated_at, policies)
VALUES (:tenant_id, :id, :name, :goal, 1, :now, :actor_id, :now, :policies)
    ON CONFLICT DO NOTHING;

-- name: default_policies
-- Returns the policies of new projects; no row if nobody has set any.
SELECT default_policies
  FROM organization_settings
 WHERE tenant_id = :tenant_id;

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

-- name: policies_of_projects
-- Returns the policies of some projects.
SELECT id, policies
  FROM projects
 WHERE tenant_id = :tenant_id
   AND id IN (SELECT value FROM each(:ids));

-- part: no_person_owns_it
NOT EXISTS (SELECT 1
              FROM project_members AS m
              JOIN principals AS who
                ON who.tenant_id = m.tenant_id
               AND who.id = m.user_id
               AND who.kind = 'person'
             WHERE m.tenant_id = p.tenant_id
               AND m.project_id = p.id
               AND m.role = 'owner')

-- name: projects_without_person
-- Returns the names of the projects without an owner who is a person.
SELECT p.name
  FROM projects AS p
 WHERE p.tenant_id = :tenant_id
   AND {no_person_owns_it}
 ORDER BY p.name;

-- name: created_without_person
-- Returns when the project was created if no person owns it; else no row.
SELECT p.created_at
  FROM projects AS p
 WHERE p.tenant_id = :tenant_id
   AND p.id = :project_id
   AND {no_person_owns_it};

-- name: set_archived
-- Archive or restore the project.
UPDATE projects
   SET archived_at = :archived_at
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: set_aside
-- Archive the project under another name, so that its own is free.
UPDATE projects
   SET archived_at = :now,
       name = :name
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: set_policies
-- Set the policies of the project.
UPDATE projects
   SET policies = :policies
 WHERE tenant_id = :tenant_id
   AND id = :id;
