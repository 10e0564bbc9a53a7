-- name: add_principal
-- Remember somebody by name, once.
INSERT INTO principals (tenant_id, id, name, kind, created_at)
VALUES (:tenant_id, :id, :id, :kind, :now)
    ON CONFLICT DO NOTHING;

-- name: add_to_organization
-- Let somebody into the organization, once.
INSERT INTO user_memberships (tenant_id, user_id, created_at, created_by)
VALUES (:tenant_id, :user_id, :now, :actor_id)
    ON CONFLICT DO NOTHING;

-- name: principals_by_ref
-- Whoever has this id and whoever has this name. Two seeks, not a look at everybody.
SELECT id
  FROM principals
 WHERE tenant_id = :tenant_id
   AND id = :ref
UNION
SELECT id
  FROM principals
 WHERE tenant_id = :tenant_id
   AND name = :ref;

-- name: add_member
-- Give somebody a role in a project for the first time.
INSERT INTO project_members (tenant_id, project_id, user_id, role, created_at, created_by)
VALUES (:tenant_id, :project_id, :user_id, :role, :now, :actor_id);

-- name: change_role
-- Give a member another role.
UPDATE project_members
   SET role = :role
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND user_id = :user_id;

-- name: remove_member
-- Take somebody out of a project.
DELETE FROM project_members
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND user_id = :user_id;

-- name: member
-- One member of a project.
SELECT user_id, role, created_at, created_by
  FROM project_members
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND user_id = :user_id;

-- name: members
-- Everybody in a project whose id comes after another one.
SELECT user_id, role, created_at, created_by
  FROM project_members
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND user_id > :after
 ORDER BY user_id
 LIMIT :at_most;
