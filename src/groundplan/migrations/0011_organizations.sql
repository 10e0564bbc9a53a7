-- More than one organization: who administers one, its settings, whom it expects, and which account of an identity provider
-- belongs to which of its people.

ALTER TABLE user_memberships ADD COLUMN role {text} NOT NULL DEFAULT 'member'
    CONSTRAINT user_memberships_role_is_known CHECK (role IN ('member', 'administrator'));

-- One row for an organization that has changed a setting.
CREATE TABLE organization_settings (
    tenant_id        {text} NOT NULL,
    project_creators {text} NOT NULL,
    allowed_domains  {text} NOT NULL,
    default_policies {text} NOT NULL,
    updated_at       {instant} NOT NULL,
    updated_by       {text} NOT NULL,
    CONSTRAINT organization_settings_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT organization_settings_are_of_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id),
    CONSTRAINT organization_settings_creators_are_known CHECK (
        project_creators IN ('members', 'owners', 'administrators')),
    CONSTRAINT organization_settings_domains_are_a_list CHECK ({json_type(allowed_domains)} = 'array'
                                                               AND {bytes(allowed_domains)} <= 32768),
    CONSTRAINT organization_settings_policies_are_an_object CHECK ({json_type(default_policies)} = 'object'
                                                                   AND {bytes(default_policies)} <= 4096)
){strict_without_rowid};

-- A person who is expected under an e-mail address. The principal and its memberships exist from the start; what is missing
-- until the first login is the account.
CREATE TABLE invitations (
    tenant_id    {text} NOT NULL,
    id           {text} NOT NULL,
    email        {text} NOT NULL,
    principal_id {text} NOT NULL,
    created_at   {instant} NOT NULL,
    created_by   {text} NOT NULL,
    expires_at   {instant} NOT NULL,
    accepted_at  {instant},
    revoked_at   {instant},
    revoked_by   {text},
    CONSTRAINT invitations_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT invitations_have_a_person_and_an_address UNIQUE (tenant_id, id, principal_id, email),
    CONSTRAINT invitations_are_of_principals FOREIGN KEY (tenant_id, principal_id) REFERENCES principals (tenant_id, id),
    CONSTRAINT invitations_email_fits CHECK (length(email) BETWEEN 3 AND 254),
    CONSTRAINT invitations_expire_later CHECK (expires_at > created_at),
    CONSTRAINT invitations_are_accepted_in_time CHECK (accepted_at < expires_at),
    CONSTRAINT invitations_end_once CHECK (accepted_at IS NULL OR revoked_at IS NULL),
    CONSTRAINT invitations_revoked_by_somebody CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
){strict_without_rowid};

CREATE UNIQUE INDEX invitations_open_email_is_unique ON invitations (tenant_id, email)
    WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX invitations_by_principal ON invitations (tenant_id, principal_id);
CREATE INDEX invitations_by_creator ON invitations (tenant_id, created_by);

-- An account of an identity provider. `email` is the verified address at the first login, as it is compared.
CREATE TABLE identities (
    tenant_id     {text} NOT NULL,
    issuer        {text} NOT NULL,
    subject       {text} NOT NULL,
    principal_id  {text} NOT NULL,
    email         {text} NOT NULL,
    invitation_id {text},
    bound_at      {instant} NOT NULL,
    CONSTRAINT identities_pkey PRIMARY KEY (tenant_id, issuer, subject),
    CONSTRAINT identities_use_an_invitation_once UNIQUE (tenant_id, invitation_id),
    CONSTRAINT identities_are_of_principals FOREIGN KEY (tenant_id, principal_id) REFERENCES principals (tenant_id, id),
    -- For the same person and address. Without an invitation there is nothing to compare.
    CONSTRAINT identities_come_from_their_invitation FOREIGN KEY (tenant_id, invitation_id, principal_id, email)
        REFERENCES invitations (tenant_id, id, principal_id, email),
    CONSTRAINT identities_issuer_fits CHECK (length(issuer) BETWEEN 1 AND 1024),
    CONSTRAINT identities_subject_fits CHECK (length(subject) BETWEEN 1 AND 255),
    CONSTRAINT identities_email_fits CHECK (length(email) BETWEEN 3 AND 254)
){strict_without_rowid};

CREATE INDEX identities_by_principal ON identities (tenant_id, principal_id);
CREATE INDEX identities_by_email ON identities (tenant_id, email);

-- An invitation is for one address and one person, and once it is accepted or revoked it is over.
REFUSE invitation_is_final AS invitations_terms_are_final
BEFORE UPDATE ON invitations
WHEN NEW.tenant_id <> OLD.tenant_id
  OR NEW.id <> OLD.id
  OR NEW.email <> OLD.email
  OR NEW.principal_id <> OLD.principal_id
  OR NEW.created_at <> OLD.created_at
  OR NEW.created_by <> OLD.created_by
  OR NEW.expires_at <> OLD.expires_at;

REFUSE invitation_is_final AS invitations_ended_are_final
BEFORE UPDATE ON invitations
WHEN OLD.accepted_at IS NOT NULL OR OLD.revoked_at IS NOT NULL;

REFUSE identity_is_final AS identities_are_final
BEFORE UPDATE ON identities;

-- An account acts as a person, and as nobody else.
REFUSE identity_kind AS identities_are_of_persons
BEFORE INSERT ON identities
-- only: postgres
IF NOT gp_is_person(NEW.tenant_id, NEW.principal_id);
-- end
-- only: sqlite
IF NOT EXISTS (SELECT 1 FROM principals WHERE tenant_id = NEW.tenant_id AND id = NEW.principal_id AND kind = 'person');

-- On PostgreSQL the app role has no right to delete these rows.
REFUSE invitation_is_final AS invitations_are_never_deleted
BEFORE DELETE ON invitations;
-- end

-- only: postgres
-- Whether the actor may manage the organization itself: a person who owns it, or whom it has as an administrator. Read with
-- every statement, never from a token, so that it ends when the role does.
CREATE FUNCTION gp_administers() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT gp_owns_organization()
        OR (gp_is_unlimited_person()
            AND EXISTS (SELECT 1
                          FROM user_memberships
                         WHERE tenant_id = gp_tenant()
                           AND user_id = gp_actor()
                           AND role = 'administrator'))
$$;

-- Whether the actor may create projects, which a setting of the organization can reserve.
CREATE FUNCTION gp_may_create_projects() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT CASE (SELECT project_creators FROM organization_settings WHERE tenant_id = gp_tenant())
           WHEN 'administrators' THEN gp_administers()
           WHEN 'owners' THEN gp_administers() OR EXISTS (SELECT 1
                                                            FROM project_members
                                                           WHERE tenant_id = gp_tenant()
                                                             AND user_id = gp_actor()
                                                             AND role = 'owner')
           ELSE true
           END
$$;

-- Changes the name, which administrators may. Every member writes the revision of the same row.
CREATE FUNCTION gp_rename_organization(new_name text) RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    WITH renamed AS (
        UPDATE organizations
           SET name = new_name
         WHERE id = gp_tenant()
           AND gp_administers()
        RETURNING 1)
    SELECT count(*) FROM renamed
$$;

-- Unbinds the accounts of a person. A function, because a role that may delete rows of a table may also lock all of it.
CREATE FUNCTION gp_unbind_accounts(person text) RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    WITH unbound AS (
        DELETE FROM identities
         WHERE tenant_id = gp_tenant()
           AND principal_id = person
           AND gp_administers()
        RETURNING 1)
    SELECT count(*) FROM unbound
$$;

-- The person whom an address stands for, by an account or by an open invitation. An owner who adds an address needs to know
-- no more of either than this.
CREATE FUNCTION gp_person_of_email(wanted text, at text) RETURNS TABLE (principal_id text, is_bound boolean)
    LANGUAGE sql STABLE ROWS 1 SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT i.principal_id, true
      FROM identities AS i
     WHERE i.tenant_id = gp_tenant()
       AND i.email = wanted
       AND gp_in_organization()
    UNION ALL
    SELECT v.principal_id, false
      FROM invitations AS v
     WHERE v.tenant_id = gp_tenant()
       AND v.email = wanted
       AND v.accepted_at IS NULL
       AND v.revoked_at IS NULL
       AND v.expires_at > at
       AND gp_in_organization()
$$;

-- Ends an invitation that has expired, whoever made it, so that the address can be invited again.
CREATE FUNCTION gp_end_expired_invitation(wanted text, at text) RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    WITH ended AS (
        UPDATE invitations
           SET revoked_at = at,
               revoked_by = gp_actor()
         WHERE tenant_id = gp_tenant()
           AND email = wanted
           AND accepted_at IS NULL
           AND revoked_at IS NULL
           AND expires_at <= at
           AND gp_in_organization()
           AND gp_may_write()
        RETURNING 1)
    SELECT count(*) FROM ended
$$;

-- Takes somebody out of the organization and all its projects, each with its own revision and event. Whoever removes them
-- need not be in any of these projects. The lock of the organization is held, so no two of these wait for each other.
CREATE FUNCTION gp_leave_organization(leaver text, clock text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
DECLARE
    membership record;
    written record;
    projects_left bigint := 0;
BEGIN
    IF NOT gp_in_organization() OR NOT (gp_administers() OR (gp_is_unlimited_person() AND leaver = gp_actor())) THEN
        RAISE EXCEPTION 'only administrators may remove others' USING ERRCODE = '42501';
    END IF;
    FOR membership IN SELECT project_id, role
                        FROM project_members
                       WHERE tenant_id = gp_tenant()
                         AND user_id = leaver
                       ORDER BY project_id
    LOOP
        UPDATE projects
           SET rev = rev + 1,
               updated_at = gp_write_time(updated_at, clock)
         WHERE tenant_id = gp_tenant()
           AND id = membership.project_id
        RETURNING rev, updated_at INTO written;
        INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes)
        VALUES (gp_tenant(), membership.project_id, written.rev, 0, 1, written.updated_at, gp_actor(), 'member.removed',
                leaver, '[{"field":"role","before":"' || membership.role || '","after":null}]');
        DELETE FROM project_members
         WHERE tenant_id = gp_tenant()
           AND project_id = membership.project_id
           AND user_id = leaver;
        projects_left := projects_left + 1;
    END LOOP;
    DELETE FROM user_memberships
     WHERE tenant_id = gp_tenant()
       AND user_id = leaver;
    RETURN projects_left;
END
$$;
-- end
