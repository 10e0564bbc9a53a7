-- part: of_kind
-- Whether a member is a person, an agent or a service.
(SELECT p.kind FROM principals AS p WHERE p.tenant_id = m.tenant_id AND p.id = m.user_id) AS kind

-- name: add_member
-- Add a member to a project.
INSERT INTO project_members (tenant_id, project_id, user_id, role, created_at, created_by)
VALUES (:tenant_id, :project_id, :user_id, :role, :now, :actor_id);

-- name: change_role
-- Change the role of a member.
UPDATE project_members
   SET role = :role
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND user_id = :user_id;

-- name: remove_member
-- Remove a member from a project.
DELETE FROM project_members
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND user_id = :user_id;

-- name: member
-- Returns one member of a project.
SELECT m.user_id, m.role, m.created_at, m.created_by, {of_kind}
  FROM project_members AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.user_id = :user_id;

-- name: members
-- Returns the members of a project whose ids come after :after, ordered by id.
SELECT m.user_id, m.role, m.created_at, m.created_by, {of_kind}
  FROM project_members AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.user_id > :after
 ORDER BY m.user_id
 LIMIT :at_most;
