-- columns: token
id, kind, actor_id, access, role_max, projects, sponsor_id, label, parent_id, created_at, created_by, expires_at,
renewable_until, last_used_at, revoked_at, revoked_by

-- part: use_actor_index
-- Without these, SQLite takes the primary key and reads every token of the organization.
INDEXED BY access_tokens_by_actor

-- part: use_creator_index
INDEXED BY access_tokens_by_creator

-- part: use_parent_index
INDEXED BY access_tokens_by_parent

-- name: add_token
-- Add a token.
INSERT INTO access_tokens (tenant_id, id, digest, kind, actor_id, access, role_max, projects, sponsor_id, label,
                           parent_id, created_at, created_by, expires_at, renewable_until)
VALUES (:tenant_id, :id, :digest, :kind, :user_id, :access, :role_max, :projects, :sponsor_id, :label,
        :parent_id, :now, :actor_id, :expires_at, :renewable_until);

-- name: token
-- Returns one token.
SELECT {token}
  FROM access_tokens
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: tokens
-- Returns every token of the organization, for its owners.
SELECT {token}
  FROM access_tokens
 WHERE tenant_id = :tenant_id;

-- name: own_tokens
-- Returns the tokens that are for the actor or were created by the actor. Two index lookups; with OR it would read all.
SELECT {token}
  FROM access_tokens {use_actor_index}
 WHERE tenant_id = :tenant_id
   AND actor_id = :actor_id
UNION ALL
SELECT {token}
  FROM access_tokens {use_creator_index}
 WHERE tenant_id = :tenant_id
   AND created_by = :actor_id
   AND actor_id <> :actor_id;

-- name: tokens_of_person
-- Returns the tokens of a person, and those of agents that have at most the rights of this person, unless revoked.
SELECT {token}
  FROM access_tokens {use_actor_index}
 WHERE tenant_id = :tenant_id
   AND actor_id = :user_id
   AND revoked_at IS NULL
UNION ALL
SELECT {token}
  FROM access_tokens {use_creator_index}
 WHERE tenant_id = :tenant_id
   AND created_by = :user_id
   AND sponsor_id = :user_id
   AND actor_id <> :user_id
   AND revoked_at IS NULL;

-- name: children_of_tokens
-- Returns the ids of the tokens that were created with one of these, and are not revoked.
SELECT t.id
  FROM each(:ids) AS k
 CROSS JOIN access_tokens AS t {use_parent_index}
 WHERE t.tenant_id = :tenant_id
   AND t.parent_id = k.value
   AND t.revoked_at IS NULL;

-- name: revoke_tokens
-- Revoke some tokens.
UPDATE access_tokens
   SET revoked_at = :now,
       revoked_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND id IN (SELECT value FROM each(:ids))
   AND revoked_at IS NULL;

-- name: token_by_digest
-- Returns the token with this digest. The only query without a tenant: which one it is, is what the token tells.
SELECT {token}, tenant_id, digest, :now AS now
  FROM access_tokens
 WHERE digest = :digest;

-- name: record_use
-- Set when a token was last used, and how long a login lasts, unless another request just did.
UPDATE access_tokens
   SET last_used_at = :now,
       expires_at = :expires_at
 WHERE tenant_id = :tenant_id
   AND id = :id
   AND revoked_at IS NULL
   AND (last_used_at IS NULL OR last_used_at <= :recorded_before);

-- name: projects_of_actor
-- Returns the projects that somebody is a member of.
SELECT project_id
  FROM project_members
 WHERE tenant_id = :tenant_id
   AND user_id = :user_id;
