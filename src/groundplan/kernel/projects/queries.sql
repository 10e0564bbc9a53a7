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

-- name: projects_of_actor
-- The projects the actor is in, or all of them for an actor who is trusted with all, with the role held in each.
SELECT p.id, p.name, p.goal, p.rev, p.created_at, p.created_by, p.updated_at, p.archived_at,
       CASE WHEN :sees_all THEN 'owner' ELSE m.role END
  FROM projects AS p
  LEFT JOIN project_members AS m
    ON m.tenant_id = p.tenant_id
   AND m.project_id = p.id
   AND m.user_id = :actor_id
 WHERE p.tenant_id = :tenant_id
   AND (:sees_all OR m.role IS NOT NULL)
   AND (:with_archived OR p.archived_at IS NULL)
 ORDER BY p.name;

-- name: set_archived
-- Archive the project, or bring it back.
UPDATE projects
   SET archived_at = :archived_at
 WHERE tenant_id = :tenant_id
   AND id = :id;
