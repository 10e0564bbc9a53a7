-- Tokens: how a person, an agent or a program proves who it is, and what it may do at most. The secret itself is not here.

CREATE TABLE access_tokens (
    tenant_id        {text} NOT NULL,
    id               {text} NOT NULL,
    digest           {text} NOT NULL,
    kind             {text} NOT NULL,
    actor_id         {text} NOT NULL,
    access           {text} NOT NULL,
    role_max         {text},
    projects         {text},
    sponsor_id       {text},
    label            {text},
    parent_id        {text},
    created_at       {instant} NOT NULL,
    created_by       {text} NOT NULL,
    expires_at       {instant},
    renewable_until  {instant},
    last_used_at     {instant},
    revoked_at       {instant},
    revoked_by       {text},
    CONSTRAINT access_tokens_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT access_tokens_digest_is_unique UNIQUE (tenant_id, digest),
    CONSTRAINT access_tokens_are_of_principals FOREIGN KEY (tenant_id, actor_id) REFERENCES principals (tenant_id, id),
    CONSTRAINT access_tokens_parent_is_a_token FOREIGN KEY (tenant_id, parent_id)
        REFERENCES access_tokens (tenant_id, id),
    CONSTRAINT access_tokens_digest_is_sha256 CHECK (length(digest) = 64),
    CONSTRAINT access_tokens_kind_is_known CHECK (kind IN ('person', 'agent', 'service', 'session')),
    CONSTRAINT access_tokens_access_is_known CHECK (access IN ('open', 'members')),
    CONSTRAINT access_tokens_role_is_known CHECK (role_max IN ('viewer', 'editor', 'owner')),
    CONSTRAINT access_tokens_of_programs_have_a_role CHECK (role_max IS NOT NULL OR kind IN ('person', 'session')),
    CONSTRAINT access_tokens_projects_are_a_list CHECK ({json_type(projects)} = 'array' AND length(projects) > 2),
    CONSTRAINT access_tokens_label_fits CHECK (length(label) BETWEEN 1 AND 255),
    CONSTRAINT access_tokens_sponsor_limits_stored_roles CHECK (sponsor_id IS NULL OR access = 'members'),
    CONSTRAINT access_tokens_only_sessions_are_renewed CHECK ((renewable_until IS NULL) = (kind <> 'session')),
    CONSTRAINT access_tokens_sessions_end CHECK (kind <> 'session' OR (expires_at IS NOT NULL
                                                                      AND expires_at <= renewable_until)),
    CONSTRAINT access_tokens_revoked_by_somebody CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
){strict_without_rowid};

-- Whose a token is becomes known only by finding it, so this index alone has no tenant. It is not a key.
CREATE INDEX access_tokens_by_digest ON access_tokens (digest);
CREATE INDEX access_tokens_by_actor ON access_tokens (tenant_id, actor_id);
CREATE INDEX access_tokens_by_creator ON access_tokens (tenant_id, created_by);
CREATE INDEX access_tokens_by_parent ON access_tokens (tenant_id, parent_id);

-- What a token allows never changes, and a revoked one never works again.
REFUSE token_is_final AS access_tokens_rights_are_final
BEFORE UPDATE ON access_tokens
WHEN NEW.tenant_id <> OLD.tenant_id
  OR NEW.id <> OLD.id
  OR NEW.digest <> OLD.digest
  OR NEW.kind <> OLD.kind
  OR NEW.actor_id <> OLD.actor_id
  OR NEW.access <> OLD.access
  OR NEW.role_max IS DISTINCT FROM OLD.role_max
  OR NEW.projects IS DISTINCT FROM OLD.projects
  OR NEW.sponsor_id IS DISTINCT FROM OLD.sponsor_id
  OR NEW.parent_id IS DISTINCT FROM OLD.parent_id
  OR NEW.renewable_until IS DISTINCT FROM OLD.renewable_until
  OR NEW.created_at <> OLD.created_at
  OR NEW.created_by <> OLD.created_by;

REFUSE token_is_final AS access_tokens_expiry_is_final
BEFORE UPDATE ON access_tokens
WHEN OLD.kind <> 'session' AND NEW.expires_at IS DISTINCT FROM OLD.expires_at;

REFUSE token_is_final AS access_tokens_revoked_is_final
BEFORE UPDATE ON access_tokens
WHEN OLD.revoked_at IS NOT NULL;

-- only: sqlite
-- On PostgreSQL the app role has no right to delete these rows.
REFUSE token_is_final AS access_tokens_are_never_deleted
BEFORE DELETE ON access_tokens;
-- end

-- The token of an agent never acts as a person: its kind is the kind of whom it is for.
REFUSE token_kind AS access_tokens_kind_is_that_of_the_actor
BEFORE INSERT ON access_tokens
IF NOT EXISTS (SELECT 1
                 FROM principals
                WHERE tenant_id = NEW.tenant_id
                  AND id = NEW.actor_id
                  AND kind = CASE NEW.kind WHEN 'session' THEN 'person' ELSE NEW.kind END);

-- only: postgres
-- The token with this digest. Whoever asks has no identity yet, so no policy shows them the row; who knows the digest
-- of a random secret knows the secret.
CREATE FUNCTION gp_find_token(wanted text) RETURNS SETOF access_tokens
    LANGUAGE sql STABLE ROWS 1 SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT * FROM access_tokens WHERE digest = wanted
$$;
-- end
