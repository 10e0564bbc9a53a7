-- name: add_principal
-- Add a principal unless it exists. It is looked for first: the policies check a row also if it is then not added, and an
-- actor with a limited token may add none.
INSERT INTO principals (tenant_id, id, name, kind, created_at)
SELECT :tenant_id, :id, :id, :kind, :now
 WHERE NOT EXISTS (SELECT 1 FROM principals AS p WHERE p.tenant_id = :tenant_id AND p.id = :id)
    ON CONFLICT DO NOTHING;

-- name: add_to_organization
-- Add a member to the organization unless they are one.
INSERT INTO user_memberships (tenant_id, user_id, created_at, created_by)
SELECT :tenant_id, :user_id, :now, :actor_id
 WHERE NOT EXISTS (SELECT 1 FROM user_memberships AS m WHERE m.tenant_id = :tenant_id AND m.user_id = :user_id)
    ON CONFLICT DO NOTHING;

-- name: principals_by_ref
-- Returns the principals with this id or this name. Two index lookups; with OR it would scan all principals.
SELECT id
  FROM principals
 WHERE tenant_id = :tenant_id
   AND id = :ref
UNION
SELECT id
  FROM principals
 WHERE tenant_id = :tenant_id
   AND name = :ref;

-- name: kind_of_principal
-- Returns whether a principal is a person, an agent or a service.
SELECT kind
  FROM principals
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: other_kinds
-- Returns the principals that are no persons, with their kinds.
SELECT id, kind
  FROM principals
 WHERE tenant_id = :tenant_id
   AND kind <> 'person';
