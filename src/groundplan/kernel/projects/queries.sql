-- name: add_project
-- Make a project. No row changed means that the id or the name is taken.
INSERT INTO projects (tenant_id, id, name, goal, rev, created_at, created_by, updated_at)
VALUES (:tenant_id, :id, :name, :goal, 1, :now, :actor_id, :now)
    ON CONFLICT DO NOTHING;

-- name: project
-- One project as its members see it.
SELECT id, name, goal, rev, created_at, created_by, updated_at, archived_at
  FROM projects
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: projects
-- Every project of the organization, for an actor who is trusted with all of them.
SELECT id, name, goal, rev, created_at, created_by, updated_at, archived_at, 'owner'
  FROM projects
 WHERE tenant_id = :tenant_id
   AND (:with_archived OR archived_at IS NULL);

-- name: projects_of_member
-- The projects the actor is in, with the role held in each, in no order: SQLite would walk all projects for it.
SELECT p.id, p.name, p.goal, p.rev, p.created_at, p.created_by, p.updated_at, p.archived_at, m.role
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
