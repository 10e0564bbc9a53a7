-- The schema: one text for both engines, a part for each slice in the order in which they refer to each other.

-- --- kernel ----------------------------------------------------------------------------------------------------------

-- Who there is, which projects there are, what happened, and what was already answered.
-- The tenant stands first in every key, so one organization's rows lie together and a key can never cross over.
-- Text compares by code point (COLLATE "C"), as SQLite does, so that both engines sort and match alike.

-- only: sqlite
-- The mark ties the write-ahead log to the file; see kernel/store/sqlite/log_identity.py. It is the first table, so that its
-- row is on page 2 and can be found in the log without the schema.
CREATE TABLE file_mark (
    id          INTEGER NOT NULL,
    mark        TEXT NOT NULL,
    CONSTRAINT file_mark_pkey PRIMARY KEY (id),
    CONSTRAINT file_mark_is_one_row CHECK (id = 1),
    CONSTRAINT file_mark_has_its_format CHECK (length(mark) = 107)
) STRICT;

INSERT INTO file_mark (id, mark)
VALUES (1, lower(hex(randomblob(8))) || printf(' %016d %020d %020d %020d %010d', 0, 0, 0, 0, 0));

-- Each mark names the one before it, so a file that is older than its log is recognised.
CREATE TRIGGER file_mark_names_the_one_before
BEFORE UPDATE ON file_mark
WHEN substr(NEW.mark, 18, 16) <> substr(OLD.mark, 1, 16)
BEGIN
    SELECT RAISE(ABORT, 'rev_step: file_mark');
END;

CREATE TRIGGER file_mark_is_never_deleted
BEFORE DELETE ON file_mark
BEGIN
    SELECT RAISE(ABORT, 'rev_step: file_mark');
END;
-- end

-- only: postgres
-- Text, not timestamptz: the same bytes on both engines and on every surface, and its order is the order of time.
CREATE DOMAIN instant AS text COLLATE "C"
    CONSTRAINT instant_is_utc_with_milliseconds
    CHECK (VALUE ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$');
-- end

CREATE TABLE organizations (
    id          {text} NOT NULL,
    name        {text} NOT NULL,
    rev         {integer} NOT NULL DEFAULT 0,
    created_at  {instant} NOT NULL,
    updated_at  {instant},
    -- Signs the cursors of this organization. It exists from the start, because reads, which need it, write nothing.
    cursor_key  {text} NOT NULL DEFAULT {random_key},
    CONSTRAINT organizations_pkey PRIMARY KEY (id),
    CONSTRAINT organizations_cursor_key_is_long CHECK (length(cursor_key) = 64)
){strict_without_rowid};

-- Everybody who ever acted or was invited. A principal outlives its membership: history still needs the name.
CREATE TABLE principals (
    tenant_id   {text} NOT NULL,
    id          {text} NOT NULL,
    name        {text} NOT NULL,
    kind        {text} NOT NULL,
    created_at  {instant} NOT NULL,
    CONSTRAINT principals_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT principals_name_is_unique UNIQUE (tenant_id, name),
    CONSTRAINT principals_belong_to_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id),
    CONSTRAINT principals_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT principals_kind_is_known CHECK (kind IN ('person', 'agent', 'service'))
){strict_without_rowid};

CREATE TABLE user_memberships (
    tenant_id   {text} NOT NULL,
    user_id     {text} NOT NULL,
    created_at  {instant} NOT NULL,
    created_by  {text} NOT NULL,
    role        {text} NOT NULL DEFAULT 'member'
        CONSTRAINT user_memberships_role_is_known CHECK (role IN ('member', 'administrator')),
    CONSTRAINT user_memberships_pkey PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT user_memberships_are_of_principals FOREIGN KEY (tenant_id, user_id)
        REFERENCES principals (tenant_id, id)
){strict_without_rowid};

CREATE TABLE projects (
    tenant_id   {text} NOT NULL,
    id          {text} NOT NULL,
    name        {text} NOT NULL,
    goal        {text},
    rev         {integer} NOT NULL DEFAULT 1,
    created_at  {instant} NOT NULL,
    created_by  {text} NOT NULL,
    updated_at  {instant} NOT NULL,
    archived_at {instant},
    policies    {text} NOT NULL DEFAULT '{}',
    -- On a file: which start of the machine the last writer knew, and when it was by the clock of that writer.
    machine_start {text},
    CONSTRAINT projects_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT projects_name_is_unique UNIQUE (tenant_id, name),
    CONSTRAINT projects_belong_to_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id),
    CONSTRAINT projects_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT projects_goal_fits CHECK ({bytes(goal)} <= 4096),
    CONSTRAINT projects_rev_starts_at_one CHECK (rev >= 1)
){strict_without_rowid};

CREATE TABLE project_members (
    tenant_id   {text} NOT NULL,
    project_id  {text} NOT NULL,
    user_id     {text} NOT NULL,
    role        {text} NOT NULL,
    created_at  {instant} NOT NULL,
    created_by  {text} NOT NULL,
    CONSTRAINT project_members_pkey PRIMARY KEY (tenant_id, project_id, user_id),
    CONSTRAINT project_members_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES projects (tenant_id, id),
    CONSTRAINT project_members_are_principals FOREIGN KEY (tenant_id, user_id)
        REFERENCES principals (tenant_id, id),
    CONSTRAINT project_members_role_is_known CHECK (role IN ('viewer', 'editor', 'owner'))
){strict_without_rowid};

CREATE INDEX project_members_by_user ON project_members (tenant_id, user_id, role);

CREATE TABLE events (
    tenant_id   {text} NOT NULL,
    project_id  {text} NOT NULL,
    rev         {integer} NOT NULL,
    n           {integer} NOT NULL,
    v           {integer} NOT NULL,
    at          {instant} NOT NULL,
    actor_id    {text} NOT NULL,
    op          {text} NOT NULL,
    subject     {text} NOT NULL,
    changes     {text} NOT NULL,
    decision    {text},
    CONSTRAINT events_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT events_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id)
){strict_without_rowid};

-- History is asked for by subject.
CREATE INDEX events_by_subject ON events (tenant_id, project_id, subject, rev, n);

-- The same for what is done to the organization itself; its revision is another one.
CREATE TABLE organization_events (
    tenant_id   {text} NOT NULL,
    rev         {integer} NOT NULL,
    n           {integer} NOT NULL,
    v           {integer} NOT NULL,
    at          {instant} NOT NULL,
    actor_id    {text} NOT NULL,
    op          {text} NOT NULL,
    subject     {text} NOT NULL,
    changes     {text} NOT NULL,
    decision    {text},
    CONSTRAINT organization_events_pkey PRIMARY KEY (tenant_id, rev, n),
    CONSTRAINT organization_events_are_of_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id)
){strict_without_rowid};

-- What an op_id was answered, so that a repeated request has the same answer and no second effect.
CREATE TABLE answers (
    tenant_id   {text} NOT NULL,
    actor_id    {text} NOT NULL,
    op_id       {text} NOT NULL,
    body_digest {text} NOT NULL,
    answer      {text} NOT NULL,
    at          {instant} NOT NULL,
    -- How many answers were stored before this one, so that a clock alone never makes one old.
    n           {integer} NOT NULL,
    CONSTRAINT answers_pkey PRIMARY KEY (tenant_id, actor_id, op_id),
    CONSTRAINT answers_belong_to_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id)
){strict_without_rowid};

CREATE INDEX answers_in_order ON answers (tenant_id, n);

-- only: postgres
-- Who is asking. Set for one transaction at a time, never for a connection, so a pooled one cannot keep it.
CREATE FUNCTION gp_tenant() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('groundplan.tenant', true), '');

CREATE FUNCTION gp_actor() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('groundplan.actor', true), '');

CREATE FUNCTION gp_access_is_open() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(current_setting('groundplan.access', true), '') = 'open';

CREATE FUNCTION gp_actor_is_agent() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(current_setting('groundplan.kind', true), '') = 'agent';

-- What the token of the actor allows at most: the largest role, the only projects (as a JSON array), and the person
-- whose roles limit an agent, too. Null where there is no limit.
CREATE FUNCTION gp_role_max() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('groundplan.role_max', true), '');

CREATE FUNCTION gp_only_projects() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('groundplan.projects', true), '');

CREATE FUNCTION gp_sponsor() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('groundplan.sponsor', true), '');

CREATE FUNCTION gp_is_limited() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(gp_role_max(), gp_only_projects(), gp_sponsor()) IS NOT NULL;

-- Whether the token of the actor allows changes at all, and changes that reach beyond its projects.
CREATE FUNCTION gp_may_write() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(gp_role_max(), 'owner') IN ('editor', 'owner');

CREATE FUNCTION gp_may_write_organization() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN gp_may_write() AND gp_only_projects() IS NULL;

-- Whether the actor is a person, and one whom the store trusts with all projects and whose token has no limits.
CREATE FUNCTION gp_actor_is_person() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(current_setting('groundplan.kind', true), '') = 'person';

CREATE FUNCTION gp_is_unlimited_person() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN gp_actor_is_person() AND coalesce(gp_role_max(), 'owner') = 'owner' AND gp_only_projects() IS NULL;

CREATE FUNCTION gp_owns_organization() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN gp_is_unlimited_person() AND gp_access_is_open();

-- The moment as an instant, some time ago or now.
CREATE FUNCTION gp_now(ago interval DEFAULT '0') RETURNS text
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN to_char((clock_timestamp() - ago) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- An instant some time after another.
CREATE FUNCTION gp_later(at text, by interval) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN to_char((at::timestamptz + by) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The time of a write: this clock's, but not before the last write, unless that is too far ahead to be right.
CREATE FUNCTION gp_write_time(last text, clock text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN (SELECT CASE WHEN last > present.at AND last <= gp_later(present.at, '5 minutes') THEN last ELSE present.at END
              FROM (SELECT coalesce(clock, gp_now()) AS at) AS present);

-- The role of an agent: the smaller of its own and the one that the project's policy `agents` allows.
CREATE FUNCTION gp_role_of_agent(role text, policies text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ARRAY['viewer', 'editor', 'owner'])[least(
        array_position(ARRAY['viewer', 'editor', 'owner'], role),
        coalesce(array_position(ARRAY['viewer', 'editor', 'owner'], coalesce(policies::json ->> 'agents', 'editor')), 1))];

-- The smaller of two roles; null as the second is no limit, and an unknown one is the smallest.
CREATE FUNCTION gp_smaller_role(role text, role_max text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN role_max IS NULL THEN role
                ELSE (ARRAY['viewer', 'editor', 'owner'])[least(
                    array_position(ARRAY['viewer', 'editor', 'owner'], role),
                    coalesce(array_position(ARRAY['viewer', 'editor', 'owner'], role_max), 1))]
           END;

-- The same as gp_projects_as, for an actor whose token has limits.
CREATE FUNCTION gp_limited_projects_as(roles text[]) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    WITH stored AS (
        SELECT id, policies, 'owner' AS role
          FROM projects
         WHERE tenant_id = gp_tenant()
           AND gp_access_is_open()
        UNION ALL
        SELECT p.id, p.policies, m.role
          FROM project_members AS m
          JOIN projects AS p
            ON p.tenant_id = m.tenant_id
           AND p.id = m.project_id
         WHERE m.tenant_id = gp_tenant()
           AND m.user_id = gp_actor()
           AND NOT gp_access_is_open())
    SELECT ARRAY(SELECT o.id
                   FROM stored AS o
                   LEFT JOIN project_members AS s
                     ON s.tenant_id = gp_tenant()
                    AND s.project_id = o.id
                    AND s.user_id = gp_sponsor()
                  WHERE (gp_sponsor() IS NULL OR s.role IS NOT NULL)
                    AND (gp_only_projects() IS NULL
                         OR o.id IN (SELECT json_array_elements_text(gp_only_projects()::json)))
                    AND gp_smaller_role(
                            gp_smaller_role(
                                CASE WHEN gp_actor_is_agent() THEN gp_role_of_agent(o.role, o.policies)
                                     ELSE o.role
                                END,
                                gp_role_max()),
                            s.role) = ANY (roles))
$$;

-- The projects in which the actor has one of the roles. Policies ask once per statement, not once per row.
-- SECURITY DEFINER, because the policy of project_members asks the same question of project_members.
CREATE FUNCTION gp_projects_as(roles text[]) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT CASE WHEN gp_is_limited()
                THEN gp_limited_projects_as(roles)
                WHEN gp_access_is_open() AND gp_actor_is_agent()
                THEN ARRAY(SELECT id
                             FROM projects
                            WHERE tenant_id = gp_tenant()
                              AND gp_role_of_agent('owner', policies) = ANY (roles))
                WHEN gp_access_is_open()
                THEN ARRAY(SELECT id FROM projects WHERE tenant_id = gp_tenant())
                WHEN gp_actor_is_agent()
                THEN ARRAY(SELECT m.project_id
                             FROM project_members AS m
                             JOIN projects AS p
                               ON p.tenant_id = m.tenant_id
                              AND p.id = m.project_id
                            WHERE m.tenant_id = gp_tenant()
                              AND m.user_id = gp_actor()
                              AND gp_role_of_agent(m.role, p.policies) = ANY (roles))
                ELSE ARRAY(SELECT project_id
                             FROM project_members
                            WHERE tenant_id = gp_tenant()
                              AND user_id = gp_actor()
                              AND role = ANY (roles))
           END
$$;

CREATE FUNCTION gp_in_organization() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT CASE WHEN gp_access_is_open()
                THEN EXISTS (SELECT 1 FROM organizations WHERE id = gp_tenant())
                ELSE EXISTS (SELECT 1 FROM user_memberships WHERE tenant_id = gp_tenant() AND user_id = gp_actor())
           END
$$;

-- A project that has just been made has nobody in it; only then may its maker come in without being invited.
CREATE FUNCTION gp_has_no_members(project text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT NOT EXISTS (SELECT 1 FROM project_members WHERE tenant_id = gp_tenant() AND project_id = project)
$$;

-- Whether the actor is just making this project: nothing has been written to it yet.
CREATE FUNCTION gp_is_making(project text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT EXISTS (SELECT 1
                     FROM projects
                    WHERE tenant_id = gp_tenant()
                      AND id = project
                      AND created_by = gp_actor()
                      AND rev = 1)
$$;

-- The number of the last answer of the organization, whoever got it.
CREATE FUNCTION gp_last_answer() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT coalesce(max(n), 0) FROM answers WHERE tenant_id = gp_tenant() AND gp_in_organization()
$$;

-- Takes a few old answers away, whoever got them: an actor that never comes back would leave them for ever. The first
-- ones are looked at, so that a sweep costs the same whatever there is.
CREATE FUNCTION gp_sweep_answers(older_than text, newer_than text, later_min bigint, at_most bigint) RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    WITH looked_at AS (
        SELECT tenant_id, actor_id, op_id, at
          FROM answers
         WHERE tenant_id = gp_tenant()
           AND gp_in_organization()
           AND n <= gp_last_answer() - greatest(later_min, 1000)
         ORDER BY n
         LIMIT at_most
           FOR UPDATE SKIP LOCKED),
    swept AS (
        DELETE FROM answers
         WHERE (tenant_id, actor_id, op_id) IN (SELECT tenant_id, actor_id, op_id
                                                  FROM looked_at
                                                 WHERE at < least(older_than, (SELECT gp_now('7 days')))
                                                    OR at > greatest(newer_than, (SELECT gp_now('-7 days'))))
        RETURNING 1)
    SELECT count(*) FROM swept
$$;
-- end

-- A project is never left without an owner, whoever asks and in whatever way, nor without a person among its owners once
-- there is one: an agent that owns a project is held to the role that a person's policy allows it.
-- only: postgres
-- Every function here that refuses runs with the owner's rights. With those of the caller, row level security would hide
-- rows from it, and a statement that changes the actor between two rows could choose which. So it compares the project,
-- too: rows of a project that the caller cannot see never decide.
-- The project row is locked first: without it two owners who remove each other at the same moment would each still see
-- the other.
CREATE FUNCTION gp_is_person(tenant text, principal text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT EXISTS (SELECT 1 FROM principals WHERE tenant_id = tenant AND id = principal AND kind = 'person')
$$;

CREATE FUNCTION gp_keep_an_owner() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.role = 'owner' AND NEW.project_id = OLD.project_id AND NEW.tenant_id = OLD.tenant_id THEN
        RETURN NEW;
    END IF;
    PERFORM 1 FROM projects WHERE tenant_id = OLD.tenant_id AND id = OLD.project_id FOR UPDATE;
    IF NOT EXISTS (SELECT 1
                     FROM project_members
                    WHERE tenant_id = OLD.tenant_id
                      AND project_id = OLD.project_id
                      AND role = 'owner'
                      AND user_id <> OLD.user_id
                      AND (gp_is_person(tenant_id, user_id) OR NOT gp_is_person(OLD.tenant_id, OLD.user_id))) THEN
        RAISE EXCEPTION 'last_owner: project_members' USING ERRCODE = 'GP001';
    END IF;
    RETURN CASE WHEN TG_OP = 'UPDATE' THEN NEW ELSE OLD END;
END
$$;

CREATE TRIGGER project_members_last_owner_stays
    BEFORE DELETE ON project_members
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION gp_keep_an_owner();

CREATE TRIGGER project_members_last_owner_keeps_role
    BEFORE UPDATE ON project_members
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION gp_keep_an_owner();
-- end
-- only: sqlite
CREATE TRIGGER project_members_last_owner_stays
BEFORE DELETE ON project_members
WHEN OLD.role = 'owner'
BEGIN
    SELECT RAISE(ABORT, 'last_owner: project_members')
     WHERE NOT EXISTS (SELECT 1
                         FROM project_members AS m
                         JOIN principals AS p
                           ON p.tenant_id = m.tenant_id
                          AND p.id = m.user_id
                        WHERE m.tenant_id = OLD.tenant_id
                          AND m.project_id = OLD.project_id
                          AND m.role = 'owner'
                          AND m.user_id <> OLD.user_id
                          AND (p.kind = 'person'
                               OR (SELECT kind FROM principals WHERE tenant_id = OLD.tenant_id AND id = OLD.user_id)
                                  <> 'person'));
END;

CREATE TRIGGER project_members_last_owner_keeps_role
BEFORE UPDATE ON project_members
WHEN OLD.role = 'owner'
 AND (NEW.role <> 'owner' OR NEW.project_id <> OLD.project_id OR NEW.tenant_id <> OLD.tenant_id)
BEGIN
    SELECT RAISE(ABORT, 'last_owner: project_members')
     WHERE NOT EXISTS (SELECT 1
                         FROM project_members AS m
                         JOIN principals AS p
                           ON p.tenant_id = m.tenant_id
                          AND p.id = m.user_id
                        WHERE m.tenant_id = OLD.tenant_id
                          AND m.project_id = OLD.project_id
                          AND m.role = 'owner'
                          AND m.user_id <> OLD.user_id
                          AND (p.kind = 'person'
                               OR (SELECT kind FROM principals WHERE tenant_id = OLD.tenant_id AND id = OLD.user_id)
                                  <> 'person'));
END;
-- end

-- A revision is the name of a state: it moves by one and never back, else a cursor could mean two states.
REFUSE rev_step AS *_rev_moves_by_one
BEFORE UPDATE OF rev ON projects, organizations
WHEN NEW.rev <> OLD.rev + 1;

-- only: postgres
-- Wakes servers that follow a project. The message has ids and nothing of the content: who is allowed to, reads that.
CREATE FUNCTION gp_notify_commit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
BEGIN
    PERFORM pg_notify(
        'groundplan_commits',
        CASE TG_TABLE_NAME WHEN 'projects' THEN jsonb_build_array(to_jsonb(NEW) -> 'tenant_id', to_jsonb(NEW) -> 'id')
                           ELSE jsonb_build_array(to_jsonb(NEW) -> 'id') END::text
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER projects_notify_commit
    AFTER UPDATE OF rev ON projects
    FOR EACH ROW EXECUTE FUNCTION gp_notify_commit();

CREATE TRIGGER organizations_notify_commit
    AFTER UPDATE OF rev ON organizations
    FOR EACH ROW EXECUTE FUNCTION gp_notify_commit();
-- end

-- Nor does time go back with the revision, but by more than five minutes: then the clock of the last writer was wrong.
REFUSE time_step AS *_time_moves_forward
BEFORE UPDATE OF updated_at ON projects, organizations
WHEN NEW.updated_at < OLD.updated_at
-- only: postgres
 AND OLD.updated_at <= gp_later(NEW.updated_at, '5 minutes');
-- end
-- only: sqlite
 AND OLD.updated_at <= strftime('%Y-%m-%dT%H:%M:%fZ', NEW.updated_at, '+5 minutes');
-- end

-- only: sqlite
-- Nor does a revision begin again: REPLACE would delete the row and put one with an old revision in its place. On
-- PostgreSQL there is no REPLACE, and the app role has no right to delete these rows.
REFUSE rev_step AS *_are_never_deleted
BEFORE DELETE ON projects, organizations;

-- Another key would break every cursor that is in use, or, if it is known, let anybody sign one. On PostgreSQL the app
-- role has no right to change the column.
REFUSE frozen AS organizations_cursor_key_stays
BEFORE UPDATE OF cursor_key ON organizations;
-- end

-- An event belongs to the write that is going on: nobody can put one into the past, or take the place of a later one.
-- only: postgres
-- Once for all rows of a statement: a write can record a hundred thousand events.
CREATE FUNCTION gp_events_are_of_this_write() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT 1
                 FROM (SELECT DISTINCT tenant_id, project_id, rev FROM added) AS e
                 LEFT JOIN projects AS p
                   ON p.tenant_id = e.tenant_id
                  AND p.id = e.project_id
                WHERE e.rev IS DISTINCT FROM p.rev) THEN
        RAISE EXCEPTION 'rev_step: events' USING ERRCODE = 'GP001';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER events_are_of_this_write
    AFTER INSERT ON events
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION gp_events_are_of_this_write();
-- end
-- only: sqlite
REFUSE rev_step AS events_are_of_this_write
BEFORE INSERT ON events
WHEN NEW.rev IS DISTINCT FROM (SELECT rev FROM projects WHERE tenant_id = NEW.tenant_id AND id = NEW.project_id);
-- end

REFUSE rev_step AS organization_events_are_of_this_write
BEFORE INSERT ON organization_events
IF NEW.rev IS DISTINCT FROM (SELECT rev FROM organizations WHERE id = NEW.tenant_id);

-- only: postgres
-- The elements of a JSON array, under the name that SQLite's json_each gives them.
CREATE FUNCTION gp_each(elements text) RETURNS TABLE (value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT json_array_elements_text(elements::json) AS value
$$;
-- end

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

-- More than one organization: who administers one, its settings, whom it expects, and which account of an identity provider
-- belongs to which of its people.

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

-- The steps this database has taken.
CREATE TABLE schema_migrations (
    number      {integer} NOT NULL,
    name        {text} NOT NULL,
    checksum    {text} NOT NULL,
    applied_at  {instant} NOT NULL,
    CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
){strict_without_rowid};

-- The one organization that there is from the start.
INSERT INTO organizations (id, name, rev, created_at)
-- only: postgres
VALUES ('local', 'local', 0, gp_now());
-- end
-- only: sqlite
VALUES ('local', 'local', 0, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
-- end


-- --- work ------------------------------------------------------------------------------------------------------------

-- The work graph: what there is to do, what waits for what, and what is ready now.
-- Inside a project a node is known by its number `n`, counted in the order of creation. Keys of numbers lie together on
-- disk, and a reference that carries the project cannot lead out of it. `id` is the name that callers use.

-- What is known of a project's work as a whole, kept in the transaction of each change.
CREATE TABLE work_projects (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    number        {integer} NOT NULL,
    last_n        {integer} NOT NULL,
    total         {integer} NOT NULL,
    resolved      {integer} NOT NULL,
    blocked       {integer} NOT NULL,
    actionable    {integer} NOT NULL,
    -- The steps that tasks and features take, where they are not the usual ones.
    pipelines     {text},
    features      {integer} NOT NULL DEFAULT 0,
    tasks         {integer} NOT NULL DEFAULT 0,
    tasks_closed  {integer} NOT NULL DEFAULT 0,
    tasks_dropped {integer} NOT NULL DEFAULT 0
        CONSTRAINT work_projects_tasks_add_up CHECK (
            features >= 0 AND tasks_closed >= 0 AND tasks_dropped >= 0 AND tasks_closed + tasks_dropped <= tasks
            AND tasks + features + 1 = total
        ),
    is_ordered    {boolean} NOT NULL DEFAULT false
        CONSTRAINT work_projects_is_ordered_is_a_fact CHECK (is_ordered IN (false, true)),
    CONSTRAINT work_projects_pkey PRIMARY KEY (tenant_id, project_id),
    CONSTRAINT work_projects_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT work_projects_counts_add_up CHECK (
        total >= 1 AND resolved >= 0 AND blocked >= 0 AND actionable >= 0
        AND resolved + blocked + actionable <= total AND total <= last_n
    )
){strict_without_rowid};

-- The number is the upper half of the key of a summary in SQLite's text index, which has one key for the whole file.
-- only: postgres
CREATE UNIQUE INDEX work_projects_number_is_unique ON work_projects (tenant_id, number);
-- end
-- only: sqlite
CREATE UNIQUE INDEX work_projects_number_is_unique ON work_projects (number);
-- end

CREATE TABLE work_nodes (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    n             {integer} NOT NULL,
    id            {text} NOT NULL,
    parent_n      {integer},
    kind          {text},
    rev           {integer} NOT NULL,
    summary       {text} NOT NULL,
    resolved      {boolean} NOT NULL,
    outcome       {text},
    state         {text},
    properties    {text} NOT NULL,
    context_links {text} NOT NULL,
    created_at    {instant} NOT NULL,
    created_by    {text} NOT NULL,
    updated_at    {instant} NOT NULL,
    -- The revision of the project at the last change: it orders, for times of two clocks have no order.
    changed_rev   {integer} NOT NULL,
    priority      {double} NOT NULL,
    depth         {integer} NOT NULL,
    open_children {integer} NOT NULL,
    open_deps     {integer} NOT NULL,
    blocked_above {integer} NOT NULL,
    claimed_by    {text},
    claimed_at    {instant},
    claimed_until {instant},
    claim_number  {integer} NOT NULL,
    -- Only where nothing else tells it: a resolved node is closed or dropped, and an open one without a status is new, or
    -- active while a claim holds.
    status        {text} CONSTRAINT work_nodes_status_is_of_the_begun CHECK (
        status IS NULL
        OR (NOT resolved AND parent_n IS NOT NULL AND length(status) BETWEEN 1 AND 40
            AND status NOT IN ('NEW', 'CLOSED', 'WILL_NOT_IMPLEMENT'))
    ),
    -- The nearest feature above.
    feature_n     {integer} CONSTRAINT work_nodes_are_not_their_own_feature CHECK (feature_n <> n),
    -- A hold: the node must wait, for this reason.
    held_reason   {text} CONSTRAINT work_nodes_hold_has_a_reason CHECK (
        held_reason IS NULL OR (parent_n IS NOT NULL AND {bytes(held_reason)} BETWEEN 1 AND 4096)
    ),
    -- Why a caller let it wait for others; nothing follows from it.
    blocked_reason {text} CONSTRAINT work_nodes_reason_fits CHECK (
        {bytes(blocked_reason)} <= 4096
    ),
    -- 1 to 10; one that was not given ranks behind all of them, as 11.
    complexity    {integer} NOT NULL DEFAULT 11
        CONSTRAINT work_nodes_complexity_ranks CHECK (complexity BETWEEN 1 AND 11),
    updated_by    {text} NOT NULL DEFAULT '',
    -- A held node and what is past being worked on cannot be started, and a feature never: its tasks can.
    is_ready      {boolean} NOT NULL GENERATED ALWAYS AS (
        NOT resolved AND open_children = 0 AND open_deps = 0 AND blocked_above = 0 AND held_reason IS NULL
        AND parent_n IS NOT NULL AND kind IS DISTINCT FROM 'feature' AND (status IS NULL OR status = 'ACTIVE')
    ) {stored_or_virtual},
    is_blocked    {boolean} NOT NULL GENERATED ALWAYS AS (
        NOT resolved AND (open_deps > 0 OR blocked_above > 0 OR held_reason IS NOT NULL)
    ) {stored_or_virtual},
    -- Keys that prove that a plan can be finished. While a project is ordered, the key of every open node is greater than
    -- the keys of the open nodes that it waits for: its children and its dependencies. Then nothing waits for itself, and
    -- a new node needs no search for loops.
    order_key     {text}
        CONSTRAINT work_nodes_order_key_fits CHECK (length(order_key) BETWEEN 1 AND 120),
    CONSTRAINT work_nodes_pkey PRIMARY KEY (tenant_id, project_id, n),
    CONSTRAINT work_nodes_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT work_nodes_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES work_projects (tenant_id, project_id),
    CONSTRAINT work_nodes_have_a_parent_in_the_project FOREIGN KEY (tenant_id, project_id, parent_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_nodes_root_is_the_first CHECK (
        (parent_n IS NULL) = (n = 1) AND (n = 1) = (kind IS NOT DISTINCT FROM 'project')
    ),
    CONSTRAINT work_nodes_kind_is_known CHECK (kind IN ('project', 'feature', 'task')),
    CONSTRAINT work_nodes_are_not_their_own_parent CHECK (parent_n <> n),
    CONSTRAINT work_nodes_resolved_is_a_fact CHECK (resolved IN (false, true)),
    CONSTRAINT work_nodes_resolved_leaves_nothing_open CHECK (NOT resolved OR open_children = 0),
    CONSTRAINT work_nodes_outcome_is_of_the_resolved CHECK (outcome IS NULL OR (resolved AND outcome = 'dropped')),
    CONSTRAINT work_nodes_counters_count CHECK (
        depth >= 0 AND open_children >= 0 AND open_deps >= 0 AND blocked_above >= 0 AND rev >= 1
    ),
    CONSTRAINT work_nodes_claim_is_whole CHECK (
        (claimed_by IS NULL) = (claimed_at IS NULL)
        AND (claimed_by IS NOT NULL OR claimed_until IS NULL)
        AND (claimed_by IS NULL OR NOT resolved)
    ),
    CONSTRAINT work_nodes_summary_fits CHECK ({bytes(summary)} BETWEEN 1 AND 4096),
    CONSTRAINT work_nodes_properties_fit CHECK ({bytes(properties)} <= 32768)
){strict};

CREATE INDEX work_nodes_by_parent ON work_nodes (tenant_id, project_id, parent_n, n);

-- By change without the claimed, which are few and have an index of their own: taking a node enters it into that one only.
CREATE INDEX work_nodes_by_change ON work_nodes (tenant_id, project_id, changed_rev, n)
 WHERE claimed_by IS NULL;

-- What may be started, best first: `next` is the first entry. What is claimed is looked at apart.
CREATE INDEX work_nodes_ready ON work_nodes (tenant_id, project_id, priority DESC, depth DESC, changed_rev, n)
 WHERE is_ready AND claimed_by IS NULL;
CREATE INDEX work_nodes_claimed ON work_nodes (tenant_id, project_id, priority DESC, depth DESC, changed_rev, n)
 WHERE claimed_by IS NOT NULL;

-- The same nodes in the order of the container dialect, of a project and of each feature.
CREATE INDEX work_nodes_next_task ON work_nodes (tenant_id, project_id, priority DESC, complexity, n)
 WHERE is_ready AND claimed_by IS NULL;
CREATE INDEX work_nodes_next_task_of_feature
    ON work_nodes (tenant_id, project_id, feature_n, priority DESC, complexity, n)
 WHERE is_ready AND claimed_by IS NULL AND feature_n IS NOT NULL;
CREATE INDEX work_nodes_blocked ON work_nodes (tenant_id, project_id, priority DESC, n)
 WHERE is_blocked;
CREATE INDEX work_nodes_features ON work_nodes (tenant_id, project_id, priority DESC, n)
 WHERE kind = 'feature';
CREATE INDEX work_nodes_by_feature ON work_nodes (tenant_id, project_id, feature_n, n)
 WHERE feature_n IS NOT NULL;
CREATE INDEX work_nodes_by_status ON work_nodes (tenant_id, project_id, status, feature_n, n)
 WHERE status IS NOT NULL;

-- A fence that could come back would let a late writer through.
REFUSE claim_step AS work_nodes_claim_number_only_grows
BEFORE UPDATE OF claim_number ON work_nodes
WHEN NEW.claim_number < OLD.claim_number;

REFUSE rev_step AS work_nodes_rev_moves_by_one
BEFORE UPDATE OF rev ON work_nodes
WHEN NEW.rev NOT IN (OLD.rev, OLD.rev + 1);

CREATE TABLE work_edges (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    from_n        {integer} NOT NULL,
    type          {text} NOT NULL,
    to_n          {integer} NOT NULL,
    CONSTRAINT work_edges_pkey PRIMARY KEY (tenant_id, project_id, from_n, type, to_n),
    CONSTRAINT work_edges_begin_in_the_project FOREIGN KEY (tenant_id, project_id, from_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_edges_end_in_the_project FOREIGN KEY (tenant_id, project_id, to_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_edges_do_not_end_where_they_begin CHECK (from_n <> to_n),
    CONSTRAINT work_edges_type_fits CHECK (length(type) BETWEEN 1 AND 255)
){strict_without_rowid};

CREATE INDEX work_edges_by_end ON work_edges (tenant_id, project_id, to_n, type, from_n);

CREATE TABLE work_evidence (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    node_n        {integer} NOT NULL,
    k             {integer} NOT NULL,
    type          {text} NOT NULL,
    ref           {text} NOT NULL,
    agent         {text} NOT NULL,
    at            {instant} NOT NULL,
    CONSTRAINT work_evidence_pkey PRIMARY KEY (tenant_id, project_id, node_n, k),
    CONSTRAINT work_evidence_is_of_a_node FOREIGN KEY (tenant_id, project_id, node_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_evidence_type_fits CHECK (length(type) BETWEEN 1 AND 255),
    CONSTRAINT work_evidence_ref_fits CHECK ({bytes(ref)} <= 4096)
){strict_without_rowid};

-- Nodes that were merged away: their ids stay taken, and lead to where the work went.
CREATE TABLE work_merged (
    tenant_id     {text} NOT NULL,
    id            {text} NOT NULL,
    project_id    {text} NOT NULL,
    into_id       {text} NOT NULL,
    CONSTRAINT work_merged_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT work_merged_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES work_projects (tenant_id, project_id)
){strict_without_rowid};

-- only: sqlite
-- Summaries in lower case, by their trigrams. Only where each trigram occurs is kept, not at which place: what is found
-- is looked at again. A word that nearly every summary has is looked for in the texts themselves, which are kept here a
-- second time because they are a tenth of the rows. PostgreSQL has none: under row level security it would go unused. New
-- nodes are put in beside their rows, in one statement for all of them: done by a trigger, each would cost twice as much.
CREATE VIRTUAL TABLE work_text USING fts5 (summary, columnsize = 0, detail = none, tokenize = 'trigram');

CREATE TRIGGER work_text_relearns
AFTER UPDATE OF summary ON work_nodes
WHEN NEW.summary <> OLD.summary
BEGIN
    UPDATE work_text
       SET summary = lower(NEW.summary)
     WHERE rowid = NEW.n + 4294967296 * (SELECT number
                                           FROM work_projects
                                          WHERE tenant_id = NEW.tenant_id
                                            AND project_id = NEW.project_id);
END;

CREATE TRIGGER work_text_forgets
AFTER DELETE ON work_nodes
BEGIN
    DELETE FROM work_text
     WHERE rowid = OLD.n + 4294967296 * (SELECT number
                                           FROM work_projects
                                          WHERE tenant_id = OLD.tenant_id
                                            AND project_id = OLD.project_id);
END;
-- end

-- How many tasks each feature has.
CREATE TABLE work_features (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    n             {integer} NOT NULL,
    tasks         {integer} NOT NULL,
    tasks_closed  {integer} NOT NULL,
    tasks_dropped {integer} NOT NULL,
    CONSTRAINT work_features_pkey PRIMARY KEY (tenant_id, project_id, n),
    CONSTRAINT work_features_are_nodes FOREIGN KEY (tenant_id, project_id, n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_features_tasks_add_up CHECK (
        tasks_closed >= 0 AND tasks_dropped >= 0 AND tasks_closed + tasks_dropped <= tasks
    )
){strict_without_rowid};

-- Nodes and sections that were deleted: their ids stay taken, and lead to the project that has their history.
CREATE TABLE work_deleted (
    tenant_id  {text} NOT NULL,
    id         {text} NOT NULL,
    project_id {text} NOT NULL,
    thing      {text} NOT NULL,
    CONSTRAINT work_deleted_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT work_deleted_thing_is_known CHECK (thing IN ('node', 'section')),
    CONSTRAINT work_deleted_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES work_projects (tenant_id, project_id)
){strict_without_rowid};

-- Text about a project, a feature or a task, in parts that stand in an order.
CREATE TABLE work_sections (
    tenant_id         {text} NOT NULL,
    project_id        {text} NOT NULL,
    id                {text} NOT NULL,
    node_n            {integer} NOT NULL,
    ordinal           {integer} NOT NULL,
    version           {integer} NOT NULL,
    title             {text} NOT NULL,
    usage_description {text} NOT NULL,
    content_format    {text} NOT NULL,
    content           {text} NOT NULL,
    created_at        {instant} NOT NULL,
    created_by        {text} NOT NULL,
    modified_at       {instant} NOT NULL,
    modified_by       {text} NOT NULL,
    CONSTRAINT work_sections_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT work_sections_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT work_sections_stand_in_an_order UNIQUE (tenant_id, project_id, node_n, ordinal),
    CONSTRAINT work_sections_are_of_a_node FOREIGN KEY (tenant_id, project_id, node_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_sections_ordinal_counts CHECK (ordinal >= 0 AND version >= 1),
    CONSTRAINT work_sections_title_fits CHECK (length(title) BETWEEN 1 AND 255),
    CONSTRAINT work_sections_usage_fits CHECK ({bytes(usage_description)} <= 4096),
    CONSTRAINT work_sections_format_is_known CHECK (content_format IN ('PLAIN_TEXT', 'MARKDOWN', 'JSON', 'CODE')),
    CONSTRAINT work_sections_content_fits CHECK ({bytes(content)} <= 32768)
){strict};

REFUSE version_step AS work_sections_version_moves_by_one
BEFORE UPDATE ON work_sections
WHEN NEW.version <> OLD.version + 1;

CREATE TABLE work_node_tags (
    tenant_id  {text} NOT NULL,
    project_id {text} NOT NULL,
    node_n     {integer} NOT NULL,
    tag        {text} NOT NULL,
    CONSTRAINT work_node_tags_pkey PRIMARY KEY (tenant_id, project_id, node_n, tag),
    CONSTRAINT work_node_tags_are_of_a_node FOREIGN KEY (tenant_id, project_id, node_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_node_tags_fit CHECK (length(tag) BETWEEN 1 AND 100)
){strict_without_rowid};

CREATE INDEX work_node_tags_by_tag ON work_node_tags (tenant_id, project_id, tag, node_n);

CREATE TABLE work_section_tags (
    tenant_id  {text} NOT NULL,
    project_id {text} NOT NULL,
    section_id {text} NOT NULL,
    tag        {text} NOT NULL,
    CONSTRAINT work_section_tags_pkey PRIMARY KEY (tenant_id, project_id, section_id, tag),
    CONSTRAINT work_section_tags_are_of_a_section FOREIGN KEY (tenant_id, project_id, section_id)
        REFERENCES work_sections (tenant_id, project_id, id),
    CONSTRAINT work_section_tags_fit CHECK (length(tag) BETWEEN 1 AND 100)
){strict_without_rowid};

CREATE INDEX work_section_tags_by_tag ON work_section_tags (tenant_id, project_id, tag, section_id);

-- Sections to give to containers of one kind. They belong to the organization, and no project is changed with them.
CREATE TABLE work_templates (
    tenant_id    {text} NOT NULL,
    id           {text} NOT NULL,
    name         {text} NOT NULL,
    description  {text} NOT NULL,
    target       {text} NOT NULL,
    tags         {text} NOT NULL,
    is_built_in  {boolean} NOT NULL,
    is_protected {boolean} NOT NULL,
    is_enabled   {boolean} NOT NULL,
    created_at   {instant} NOT NULL,
    created_by   {text} NOT NULL,
    modified_at  {instant} NOT NULL,
    CONSTRAINT work_templates_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT work_templates_name_is_unique UNIQUE (tenant_id, name),
    CONSTRAINT work_templates_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT work_templates_description_fits CHECK ({bytes(description)} <= 4096),
    CONSTRAINT work_templates_target_is_known CHECK (target IN ('PROJECT', 'FEATURE', 'TASK')),
    CONSTRAINT work_templates_flags_are_facts CHECK (
        is_built_in IN (false, true) AND is_protected IN (false, true) AND is_enabled IN (false, true)
    )
){strict};

CREATE TABLE work_template_sections (
    tenant_id         {text} NOT NULL,
    template_id       {text} NOT NULL,
    id                {text} NOT NULL,
    ordinal           {integer} NOT NULL,
    title             {text} NOT NULL,
    usage_description {text} NOT NULL,
    content_sample    {text} NOT NULL,
    content_format    {text} NOT NULL,
    is_required       {boolean} NOT NULL,
    tags              {text} NOT NULL,
    CONSTRAINT work_template_sections_pkey PRIMARY KEY (tenant_id, template_id, id),
    CONSTRAINT work_template_sections_stand_in_an_order UNIQUE (tenant_id, template_id, ordinal),
    CONSTRAINT work_template_sections_are_of_a_template FOREIGN KEY (tenant_id, template_id)
        REFERENCES work_templates (tenant_id, id),
    CONSTRAINT work_template_sections_ordinal_counts CHECK (ordinal >= 0),
    CONSTRAINT work_template_sections_title_fits CHECK (length(title) BETWEEN 1 AND 255),
    CONSTRAINT work_template_sections_usage_fits CHECK ({bytes(usage_description)} <= 4096),
    CONSTRAINT work_template_sections_sample_fits CHECK ({bytes(content_sample)} <= 32768),
    CONSTRAINT work_template_sections_format_is_known CHECK (
        content_format IN ('PLAIN_TEXT', 'MARKDOWN', 'JSON', 'CODE')
    ),
    CONSTRAINT work_template_sections_required_is_a_fact CHECK (is_required IN (false, true))
){strict};

-- only: postgres
-- New random ids that no node has, also none that the actor may not see or that was deleted. It takes no ids to check,
-- because an actor could learn from the answer which ids there are. Fewer than wanted if some were used.
-- A random UUID costs system calls, so all ids are digests of one; five bits of each byte are a letter.
CREATE FUNCTION gp_new_work_ids(wanted integer, chars integer) RETURNS SETOF text
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    WITH seed AS MATERIALIZED (
        SELECT uuid_send(gen_random_uuid()) AS bytes
    ), digests AS MATERIALIZED (
        SELECT sha256(seed.bytes || int4send(n)) AS bytes FROM seed CROSS JOIN generate_series(1, wanted) AS n
    ), made AS MATERIALIZED (
        SELECT (SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (get_byte(bytes, place) & 31), 1), '')
                  FROM generate_series(0, chars - 1) AS place) AS id
          FROM digests
    ), used AS (
        SELECT id FROM work_nodes WHERE tenant_id = gp_tenant() AND id = ANY (ARRAY(SELECT id FROM made))
         UNION ALL
        SELECT id FROM work_merged WHERE tenant_id = gp_tenant() AND id = ANY (ARRAY(SELECT id FROM made))
         UNION ALL
        SELECT id FROM work_deleted WHERE tenant_id = gp_tenant() AND id = ANY (ARRAY(SELECT id FROM made))
    )
    SELECT id FROM made EXCEPT SELECT id FROM used
$$;
-- end

-- Plans of other tools: the ids under which people know their items, and what the last import said about each of them.

-- Other names of a node. A node that was merged into another leaves it its aliases; those of a deleted node are removed.
CREATE TABLE work_aliases (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    alias         {text} NOT NULL,
    node_n        {integer} NOT NULL,
    CONSTRAINT work_aliases_pkey PRIMARY KEY (tenant_id, alias, project_id),
    CONSTRAINT work_aliases_are_of_a_node FOREIGN KEY (tenant_id, project_id, node_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_aliases_fit CHECK (length(alias) BETWEEN 1 AND 255)
){strict_without_rowid};

CREATE INDEX work_aliases_by_node ON work_aliases (tenant_id, project_id, node_n, alias);

-- One row for each item that was ever imported. The digest tells whether the item changed since, and `base` what it was.
-- `node_n` is null if the node was deleted or merged away here: it is not made again.
CREATE TABLE work_imports (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    tool          {text} NOT NULL,
    source_id     {text} NOT NULL,
    node_n        {integer},
    digest        {text} NOT NULL,
    base          {text} NOT NULL,
    CONSTRAINT work_imports_pkey PRIMARY KEY (tenant_id, project_id, tool, source_id),
    CONSTRAINT work_imports_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES work_projects (tenant_id, project_id),
    CONSTRAINT work_imports_are_of_a_node FOREIGN KEY (tenant_id, project_id, node_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_imports_fit CHECK (
        length(tool) BETWEEN 1 AND 40 AND {bytes(source_id)} BETWEEN 1 AND 1024 AND {bytes(base)} <= 4194304
    )
){strict_without_rowid};

CREATE INDEX work_imports_by_node ON work_imports (tenant_id, project_id, node_n, tool);

-- Links between slices: what a work node serves, what it and the purpose rest on, and what its evidence says about an
-- assumption. Both ends are names that outlive versions and runs: a purpose key, an assumption key, a pointer. So a link
-- stays when its target is gone in a later version; it is then shown as dangling.

CREATE TABLE links (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    source        {text} NOT NULL,
    type          {text} NOT NULL,
    target        {text} NOT NULL,
    -- The number of the work node that `source` names; null if it names a purpose node.
    node_n        {integer},
    -- The revision of the project in which the link was made: it tells whether a fact changed since.
    rev           {integer} NOT NULL,
    created_at    {instant} NOT NULL,
    created_by    {text} NOT NULL,
    CONSTRAINT links_pkey PRIMARY KEY (tenant_id, project_id, source, type, target),
    CONSTRAINT links_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT links_begin_at_a_node_of_the_project FOREIGN KEY (tenant_id, project_id, node_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT links_type_is_known CHECK (type IN ('serves', 'rests_on', 'supports', 'refutes')),
    CONSTRAINT links_of_purpose_nodes_rest_on_facts CHECK (node_n IS NOT NULL OR type = 'rests_on'),
    CONSTRAINT links_ends_fit CHECK ({bytes(source)} BETWEEN 1 AND 255 AND {bytes(target)} BETWEEN 1 AND 4096)
){strict_without_rowid};

CREATE INDEX links_by_target ON links (tenant_id, project_id, type, target, source);
CREATE INDEX links_by_node ON links (tenant_id, project_id, node_n, type, target);


-- --- knowledge -------------------------------------------------------------------------------------------------------

-- Knowledge: what one must know to touch some files. Molecules group atoms; an atom owns path patterns.
-- Beside their ids, atoms and molecules of a project have numbers `n` from one count: the key of their words in the index.

-- What is known of a project's knowledge as a whole. Its revision moves with every change of knowledge and with nothing
-- else; `patterns_rev` is the one at which patterns last changed, so that whoever keeps them in memory knows when to look
-- again, and since when. How many patterns there are, with braces written out, is counted, because somebody keeps them all.
CREATE TABLE graph_projects (
    tenant_id          {text} NOT NULL,
    project_id         {text} NOT NULL,
    number             {integer} NOT NULL,
    rev                {integer} NOT NULL,
    last_n             {integer} NOT NULL,
    patterns           {integer} NOT NULL,
    patterns_rev       {integer} NOT NULL,
    CONSTRAINT graph_projects_pkey PRIMARY KEY (tenant_id, project_id),
    CONSTRAINT graph_projects_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT graph_projects_count CHECK (
        number >= 1 AND rev >= 1 AND last_n >= 0 AND patterns BETWEEN 0 AND 200000 AND patterns_rev <= rev
    )
){strict_without_rowid};

-- The number is the upper half of the key of words in SQLite's index, which has one key for the whole file.
-- only: postgres
CREATE UNIQUE INDEX graph_projects_number_is_unique ON graph_projects (tenant_id, number);
-- end
-- only: sqlite
CREATE UNIQUE INDEX graph_projects_number_is_unique ON graph_projects (number);
-- end

REFUSE rev_step AS graph_projects_rev_moves_by_one
BEFORE UPDATE OF rev ON graph_projects
WHEN NEW.rev <> OLD.rev + 1;

CREATE TABLE graph_molecules (
    tenant_id          {text} NOT NULL,
    project_id         {text} NOT NULL,
    n                  {integer} NOT NULL,
    id                 {text} NOT NULL,
    name               {text} NOT NULL,
    version            {integer} NOT NULL,
    created_by_task_id {text} NOT NULL,
    last_task_id       {text} NOT NULL,
    created_at         {instant} NOT NULL,
    created_by         {text} NOT NULL,
    updated_at         {instant} NOT NULL,
    updated_by         {text} NOT NULL,
    related_molecules  {text} NOT NULL DEFAULT '[]',
    knowledge          {text} NOT NULL DEFAULT '',
    words              {text} NOT NULL,
    CONSTRAINT graph_molecules_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT graph_molecules_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT graph_molecules_number_is_unique UNIQUE (tenant_id, project_id, n),
    CONSTRAINT graph_molecules_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES graph_projects (tenant_id, project_id),
    CONSTRAINT graph_molecules_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT graph_molecules_knowledge_fits CHECK ({bytes(knowledge)} <= 32768),
    CONSTRAINT graph_molecules_relations_fit CHECK (json_array_length({json(related_molecules)}) <= 50),
    CONSTRAINT graph_molecules_version_counts CHECK (version >= 1)
){strict};

CREATE INDEX graph_molecules_by_name ON graph_molecules (tenant_id, project_id, name, id);

CREATE TABLE graph_atoms (
    tenant_id          {text} NOT NULL,
    project_id         {text} NOT NULL,
    n                  {integer} NOT NULL,
    id                 {text} NOT NULL,
    molecule_id        {text},
    name               {text} NOT NULL,
    version            {integer} NOT NULL,
    created_by_task_id {text} NOT NULL,
    last_task_id       {text} NOT NULL,
    created_at         {instant} NOT NULL,
    created_by         {text} NOT NULL,
    updated_at         {instant} NOT NULL,
    updated_by         {text} NOT NULL,
    patterns           {integer} NOT NULL,
    patterns_rev       {integer} NOT NULL,
    confirmed_commit   {text},
    confirmed_at       {instant},
    paths              {text} NOT NULL,
    related_atoms      {text} NOT NULL DEFAULT '[]',
    knowledge          {text} NOT NULL DEFAULT '',
    words              {text} NOT NULL,
    CONSTRAINT graph_atoms_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT graph_atoms_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT graph_atoms_number_is_unique UNIQUE (tenant_id, project_id, n),
    CONSTRAINT graph_atoms_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES graph_projects (tenant_id, project_id),
    CONSTRAINT graph_atoms_share_the_project_of_their_molecule FOREIGN KEY (tenant_id, project_id, molecule_id)
        REFERENCES graph_molecules (tenant_id, project_id, id),
    CONSTRAINT graph_atoms_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT graph_atoms_have_a_boundary CHECK (json_array_length({json(paths)}) BETWEEN 1 AND 20),
    CONSTRAINT graph_atoms_knowledge_fits CHECK ({bytes(knowledge)} <= 32768),
    CONSTRAINT graph_atoms_relations_fit CHECK (json_array_length({json(related_atoms)}) <= 50),
    CONSTRAINT graph_atoms_version_counts CHECK (version >= 1),
    CONSTRAINT graph_atoms_confirmation_is_whole CHECK ((confirmed_commit IS NULL) = (confirmed_at IS NULL))
){strict};

CREATE INDEX graph_atoms_by_name ON graph_atoms (tenant_id, project_id, name, id);
CREATE INDEX graph_atoms_by_molecule ON graph_atoms (tenant_id, project_id, molecule_id, name, id);
CREATE INDEX graph_atoms_by_change_of_patterns ON graph_atoms (tenant_id, project_id, patterns_rev);

-- Of two writers who read the same version one is refused, whatever the statement.
REFUSE version_step AS *_version_moves_by_one
BEFORE UPDATE ON graph_molecules, graph_atoms
WHEN NEW.version <> OLD.version + 1;

-- Entries are never edited. Those of a parent that was deleted stay behind where nobody looks: history is only ever added.
CREATE TABLE graph_changelog (
    tenant_id          {text} NOT NULL,
    project_id         {text} NOT NULL,
    id                 {text} NOT NULL,
    parent_type        {text} NOT NULL,
    parent_id          {text} NOT NULL,
    rev                {integer} NOT NULL,
    task_id            {text} NOT NULL,
    created_at         {instant} NOT NULL,
    created_by         {text} NOT NULL,
    summary            {text} NOT NULL,
    CONSTRAINT graph_changelog_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT graph_changelog_is_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES graph_projects (tenant_id, project_id),
    CONSTRAINT graph_changelog_parent_is_known CHECK (parent_type IN ('atom', 'molecule')),
    CONSTRAINT graph_changelog_summary_fits CHECK ({bytes(summary)} BETWEEN 1 AND 4096)
){strict};

CREATE INDEX graph_changelog_by_parent
    ON graph_changelog (tenant_id, project_id, parent_type, parent_id, rev DESC);
CREATE INDEX graph_changelog_by_task ON graph_changelog (tenant_id, project_id, task_id);

-- The parent is of one of two tables, which no foreign key can say.
REFUSE no_parent AS graph_changelog_has_a_parent
BEFORE INSERT ON graph_changelog
IF NOT EXISTS (SELECT 1
                 FROM graph_atoms
                WHERE NEW.parent_type = 'atom'
                  AND tenant_id = NEW.tenant_id
                  AND project_id = NEW.project_id
                  AND id = NEW.parent_id)
   AND NOT EXISTS (SELECT 1
                     FROM graph_molecules
                    WHERE NEW.parent_type = 'molecule'
                      AND tenant_id = NEW.tenant_id
                      AND project_id = NEW.project_id
                      AND id = NEW.parent_id);

-- What was deleted, and at which revision of the project's knowledge: patterns kept in memory are let go of by it, and a
-- request that is sent again finds its project.
CREATE TABLE graph_deleted (
    tenant_id          {text} NOT NULL,
    id                 {text} NOT NULL,
    project_id         {text} NOT NULL,
    entity_type        {text} NOT NULL,
    rev                {integer} NOT NULL,
    CONSTRAINT graph_deleted_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT graph_deleted_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES graph_projects (tenant_id, project_id),
    CONSTRAINT graph_deleted_type_is_known CHECK (entity_type IN ('atom', 'molecule'))
){strict_without_rowid};

CREATE INDEX graph_deleted_by_revision ON graph_deleted (tenant_id, project_id, rev);

-- How an atom compared with its files when somebody last looked. Not a part of the atom: looking changes no version.
CREATE TABLE graph_freshness (
    tenant_id          {text} NOT NULL,
    project_id         {text} NOT NULL,
    atom_id            {text} NOT NULL,
    state              {text} NOT NULL,
    commit_id          {text},
    checked_at         {instant} NOT NULL,
    files              {text} NOT NULL,
    CONSTRAINT graph_freshness_pkey PRIMARY KEY (tenant_id, project_id, atom_id),
    CONSTRAINT graph_freshness_is_of_an_atom FOREIGN KEY (tenant_id, project_id, atom_id)
        REFERENCES graph_atoms (tenant_id, project_id, id),
    CONSTRAINT graph_freshness_state_is_known CHECK (state IN ('fresh', 'changed', 'orphaned', 'unanchored'))
){strict_without_rowid};

-- only: sqlite
-- Names and knowledge by their words. Only where each word occurs is kept here; the words themselves stand beside the text
-- they are of, for they are needed again to take them out. PostgreSQL has none: under row level security it would go unused.
CREATE VIRTUAL TABLE graph_text USING fts5 (words, content = '', columnsize = 0, detail = none, tokenize = 'ascii');

CREATE TRIGGER graph_text_learns_atoms
AFTER INSERT ON graph_atoms
BEGIN
    INSERT INTO graph_text (rowid, words)
    SELECT number * 4294967296 + NEW.n, NEW.words
      FROM graph_projects
     WHERE tenant_id = NEW.tenant_id
       AND project_id = NEW.project_id;
END;

CREATE TRIGGER graph_text_relearns_atoms
AFTER UPDATE OF words ON graph_atoms
WHEN NEW.words <> OLD.words
BEGIN
    INSERT INTO graph_text (graph_text, rowid, words)
    SELECT 'delete', number * 4294967296 + OLD.n, OLD.words
      FROM graph_projects
     WHERE tenant_id = OLD.tenant_id
       AND project_id = OLD.project_id;
    INSERT INTO graph_text (rowid, words)
    SELECT number * 4294967296 + NEW.n, NEW.words
      FROM graph_projects
     WHERE tenant_id = NEW.tenant_id
       AND project_id = NEW.project_id;
END;

CREATE TRIGGER graph_text_forgets_atoms
AFTER DELETE ON graph_atoms
BEGIN
    INSERT INTO graph_text (graph_text, rowid, words)
    SELECT 'delete', number * 4294967296 + OLD.n, OLD.words
      FROM graph_projects
     WHERE tenant_id = OLD.tenant_id
       AND project_id = OLD.project_id;
END;

CREATE TRIGGER graph_text_learns_molecules
AFTER INSERT ON graph_molecules
BEGIN
    INSERT INTO graph_text (rowid, words)
    SELECT number * 4294967296 + NEW.n, NEW.words
      FROM graph_projects
     WHERE tenant_id = NEW.tenant_id
       AND project_id = NEW.project_id;
END;

CREATE TRIGGER graph_text_relearns_molecules
AFTER UPDATE OF words ON graph_molecules
WHEN NEW.words <> OLD.words
BEGIN
    INSERT INTO graph_text (graph_text, rowid, words)
    SELECT 'delete', number * 4294967296 + OLD.n, OLD.words
      FROM graph_projects
     WHERE tenant_id = OLD.tenant_id
       AND project_id = OLD.project_id;
    INSERT INTO graph_text (rowid, words)
    SELECT number * 4294967296 + NEW.n, NEW.words
      FROM graph_projects
     WHERE tenant_id = NEW.tenant_id
       AND project_id = NEW.project_id;
END;

CREATE TRIGGER graph_text_forgets_molecules
AFTER DELETE ON graph_molecules
BEGIN
    INSERT INTO graph_text (graph_text, rowid, words)
    SELECT 'delete', number * 4294967296 + OLD.n, OLD.words
      FROM graph_projects
     WHERE tenant_id = OLD.tenant_id
       AND project_id = OLD.project_id;
END;
-- end

-- The files of the commit that was checked last, so that readers without a repository see which files a pattern matches and
-- which files no atom covers. One row for each project; the paths are compressed, because nothing looks for a single one.
CREATE TABLE graph_files (
    tenant_id          {text} NOT NULL,
    project_id         {text} NOT NULL,
    commit_id          {text} NOT NULL,
    checked_at         {instant} NOT NULL,
    total              {integer} NOT NULL,
    kept               {integer} NOT NULL,
    packed             {text} NOT NULL,
    CONSTRAINT graph_files_pkey PRIMARY KEY (tenant_id, project_id),
    CONSTRAINT graph_files_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT graph_files_fit CHECK (kept BETWEEN 1 AND 20000 AND total >= kept AND {bytes(packed)} <= 6291456)
){strict_without_rowid};


-- --- context ---------------------------------------------------------------------------------------------------------

-- Context: which facts the plan stands on. A run holds sources, inputs and constraints while it is a draft, is
-- committed once, wholly or in part, and never changes afterwards, nor does anything below it (guards see to that).

CREATE TABLE pciv_runs (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    id               {text} NOT NULL,
    user_id          {text},
    status           {text} NOT NULL,
    allow_partial    {boolean} NOT NULL,
    committed_at     {instant},
    created_at       {instant} NOT NULL,
    created_by       {text} NOT NULL,
    sole_writer      {text},
    updated_at       {instant} NOT NULL,
    rev              {integer} NOT NULL,
    committed_by     {text},
    committer_kind   {text},
    replaced_run_id  {text},
    CONSTRAINT pciv_runs_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT pciv_runs_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT pciv_runs_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT pciv_runs_status_is_known CHECK (status IN ('draft', 'committed', 'partial_committed')),
    CONSTRAINT pciv_runs_are_committed_at_a_moment CHECK ((committed_at IS NULL) = (status = 'draft')),
    CONSTRAINT pciv_runs_are_partial_by_permission CHECK (allow_partial = (status = 'partial_committed')),
    CONSTRAINT pciv_runs_rev_starts_at_one CHECK (rev >= 1),
    CONSTRAINT pciv_runs_are_committed_by_somebody CHECK (
        (committed_by IS NULL) = (status = 'draft') AND (committer_kind IS NULL) = (status = 'draft')
    ),
    CONSTRAINT pciv_runs_committer_is_known CHECK (committer_kind IN ('user', 'model', 'system')),
    -- The run that was in force until this one was committed.
    CONSTRAINT pciv_runs_replace_a_run_of_their_project FOREIGN KEY (tenant_id, project_id, replaced_run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id)
){strict_without_rowid};

-- The run in force is the first of these.
CREATE INDEX pciv_runs_by_commit ON pciv_runs (tenant_id, project_id, committed_at DESC, updated_at DESC, id)
 WHERE status <> 'draft';
CREATE INDEX pciv_runs_by_creation ON pciv_runs (tenant_id, project_id, created_at DESC, id);

-- A committed run cannot go, so it is taken out of view: whoever looks for a run looks here too. A draft that was
-- removed is named here as well, for a request that is sent again must find its project.
CREATE TABLE pciv_deleted_runs (
    tenant_id        {text} NOT NULL,
    run_id           {text} NOT NULL,
    project_id       {text} NOT NULL,
    deleted_at       {instant} NOT NULL,
    deleted_by       {text} NOT NULL,
    deleter_kind     {text} NOT NULL,
    CONSTRAINT pciv_deleted_runs_deleter_is_known CHECK (deleter_kind IN ('user', 'model', 'system')),
    CONSTRAINT pciv_deleted_runs_pkey PRIMARY KEY (tenant_id, project_id, run_id),
    CONSTRAINT pciv_deleted_runs_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES projects (tenant_id, id)
){strict_without_rowid};

CREATE INDEX pciv_deleted_runs_by_run ON pciv_deleted_runs (tenant_id, run_id);

-- What lies below a run has the run in front of its key, so that a view is read from one place.
CREATE TABLE pciv_sources (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    kind             {text} NOT NULL,
    title            {text} NOT NULL,
    uri              {text} NOT NULL,
    file_id          {text},
    mime_type        {text},
    size_bytes       {integer},
    parse_status     {text} NOT NULL,
    excerpt          {text},
    raw_meta         {text} NOT NULL,
    created_at       {instant} NOT NULL,
    CONSTRAINT pciv_sources_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_sources_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_sources_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_sources_kind_is_known CHECK (kind IN ('file', 'url', 'gis', 'api', 'manual')),
    CONSTRAINT pciv_sources_parse_status_is_known CHECK (
        parse_status IN ('pending', 'parsed', 'failed', 'unsupported')
    ),
    CONSTRAINT pciv_sources_size_counts CHECK (size_bytes >= 0),
    CONSTRAINT pciv_sources_are_named CHECK (
        {bytes(title)} BETWEEN 1 AND 1024 AND {bytes(uri)} BETWEEN 1 AND 4096
    ),
    CONSTRAINT pciv_sources_fit CHECK (
        {bytes(mime_type)} <= 255 AND {bytes(excerpt)} <= 16384 AND {bytes(raw_meta)} <= 16384
    ),
    CONSTRAINT pciv_sources_meta_is_an_object CHECK ({json_type(raw_meta)} = 'object')
){strict_without_rowid};

CREATE TABLE pciv_inputs (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    pointer          {text} NOT NULL,
    label            {text} NOT NULL,
    domain           {text} NOT NULL,
    required         {boolean} NOT NULL,
    field_type       {text} NOT NULL,
    options          {text},
    value_kind       {text} NOT NULL,
    value_string     {text},
    value_number     {double},
    value_boolean    {boolean},
    value_enum       {text},
    value_json       {text},
    provenance       {text} NOT NULL,
    updated_by       {text} NOT NULL,
    updated_at       {instant} NOT NULL,
    evidence_snippet {text},
    CONSTRAINT pciv_inputs_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_inputs_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_inputs_pointer_is_unique UNIQUE (tenant_id, run_id, pointer),
    CONSTRAINT pciv_inputs_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_inputs_pointer_begins_with_a_slash CHECK (
        substr(pointer, 1, 1) = '/' AND length(pointer) <= 1024
    ),
    CONSTRAINT pciv_inputs_are_named CHECK (
        {bytes(label)} BETWEEN 1 AND 1024
        AND length(domain) BETWEEN 1 AND 255
        AND length(field_type) BETWEEN 1 AND 255
    ),
    CONSTRAINT pciv_inputs_required_is_yes_or_no CHECK (required IN (false, true)),
    CONSTRAINT pciv_inputs_options_are_a_list CHECK (
        {json_type(options)} = 'array' AND {bytes(options)} <= 8192
    ),
    CONSTRAINT pciv_inputs_updated_by_is_known CHECK (updated_by IN ('user', 'model', 'system')),
    CONSTRAINT pciv_inputs_evidence_fits CHECK ({bytes(evidence_snippet)} <= 8192),
    CONSTRAINT pciv_inputs_value_matches_kind CHECK (
        (value_string IS NULL OR value_kind = 'string')
        AND (value_number IS NULL OR value_kind = 'number')
        AND (value_boolean IS NULL OR (value_kind = 'boolean' AND value_boolean IN (false, true)))
        AND (value_enum IS NULL OR value_kind = 'enum')
        AND (value_json IS NULL OR value_kind = 'json')
    ),
    CONSTRAINT pciv_inputs_kind_is_known CHECK (value_kind IN ('string', 'number', 'boolean', 'enum', 'json')),
    CONSTRAINT pciv_inputs_unknown_has_no_value CHECK (
        provenance <> 'unknown'
        OR (value_string IS NULL AND value_number IS NULL AND value_boolean IS NULL AND value_enum IS NULL
            AND value_json IS NULL)
    ),
    CONSTRAINT pciv_inputs_provenance_is_known CHECK (
        provenance IN ('unknown', 'model-inferred', 'source-backed', 'user-entered')
    ),
    -- Neither infinite nor, which PostgreSQL sorts above everything, no number at all.
    CONSTRAINT pciv_inputs_number_is_finite CHECK (
        value_number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    -- JSON's null would be a second way to say that there is no value.
    CONSTRAINT pciv_inputs_json_is_a_value CHECK ({json_type(value_json)} <> 'null'),
    CONSTRAINT pciv_inputs_value_fits CHECK (
        {bytes(value_string)} <= 32768 AND {bytes(value_enum)} <= 1024 AND {bytes(value_json)} <= 32768
    )
){strict_without_rowid};

-- The project stands last: the check of SQLite 3.40 takes a column that alone is outside of the key, and before a column
-- of the key, for damaged.
CREATE TABLE pciv_input_sources (
    tenant_id        {text} NOT NULL,
    run_id           {text} NOT NULL,
    input_id         {text} NOT NULL,
    source_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    CONSTRAINT pciv_input_sources_pkey PRIMARY KEY (tenant_id, run_id, input_id, source_id),
    CONSTRAINT pciv_input_sources_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_input_sources_share_the_run_of_their_input FOREIGN KEY (tenant_id, run_id, input_id)
        REFERENCES pciv_inputs (tenant_id, run_id, id),
    CONSTRAINT pciv_input_sources_share_the_run_of_their_source FOREIGN KEY (tenant_id, run_id, source_id)
        REFERENCES pciv_sources (tenant_id, run_id, id)
){strict_without_rowid};

CREATE INDEX pciv_input_sources_by_source ON pciv_input_sources (tenant_id, run_id, source_id);

CREATE TABLE pciv_constraints (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    key              {text} NOT NULL,
    domain           {text} NOT NULL,
    label            {text} NOT NULL,
    value_kind       {text} NOT NULL,
    value_string     {text},
    value_number     {double},
    value_boolean    {boolean},
    value_enum       {text},
    value_json       {text},
    provenance       {text} NOT NULL,
    source_id        {text},
    snippet          {text},
    created_at       {instant} NOT NULL,
    updated_at       {instant} NOT NULL,
    CONSTRAINT pciv_constraints_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_constraints_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_constraints_key_is_unique UNIQUE (tenant_id, run_id, key),
    CONSTRAINT pciv_constraints_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_constraints_share_the_run_of_their_source FOREIGN KEY (tenant_id, run_id, source_id)
        REFERENCES pciv_sources (tenant_id, run_id, id),
    CONSTRAINT pciv_constraints_are_named CHECK (
        length(key) BETWEEN 1 AND 255 AND {bytes(label)} BETWEEN 1 AND 1024 AND length(domain) BETWEEN 1 AND 255
    ),
    CONSTRAINT pciv_constraints_snippet_fits CHECK ({bytes(snippet)} <= 8192),
    CONSTRAINT pciv_constraints_value_matches_kind CHECK (
        (value_string IS NULL OR value_kind = 'string')
        AND (value_number IS NULL OR value_kind = 'number')
        AND (value_boolean IS NULL OR (value_kind = 'boolean' AND value_boolean IN (false, true)))
        AND (value_enum IS NULL OR value_kind = 'enum')
        AND (value_json IS NULL OR value_kind = 'json')
    ),
    CONSTRAINT pciv_constraints_kind_is_known CHECK (value_kind IN ('string', 'number', 'boolean', 'enum', 'json')),
    CONSTRAINT pciv_constraints_unknown_has_no_value CHECK (
        provenance <> 'unknown'
        OR (value_string IS NULL AND value_number IS NULL AND value_boolean IS NULL AND value_enum IS NULL
            AND value_json IS NULL)
    ),
    CONSTRAINT pciv_constraints_provenance_is_known CHECK (
        provenance IN ('unknown', 'model-inferred', 'source-backed', 'user-entered')
    ),
    -- Neither infinite nor, which PostgreSQL sorts above everything, no number at all.
    CONSTRAINT pciv_constraints_number_is_finite CHECK (
        value_number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    -- JSON's null would be a second way to say that there is no value.
    CONSTRAINT pciv_constraints_json_is_a_value CHECK ({json_type(value_json)} <> 'null'),
    CONSTRAINT pciv_constraints_value_fits CHECK (
        {bytes(value_string)} <= 32768 AND {bytes(value_enum)} <= 1024 AND {bytes(value_json)} <= 32768
    )
){strict_without_rowid};

CREATE INDEX pciv_constraints_by_source ON pciv_constraints (tenant_id, run_id, source_id);

CREATE TABLE pciv_artifacts (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    type             {text} NOT NULL,
    title            {text} NOT NULL,
    payload          {text} NOT NULL,
    created_at       {instant} NOT NULL,
    CONSTRAINT pciv_artifacts_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_artifacts_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_artifacts_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_artifacts_are_named CHECK (
        length(type) BETWEEN 1 AND 255 AND {bytes(title)} BETWEEN 1 AND 1024
    ),
    CONSTRAINT pciv_artifacts_payload_is_an_object CHECK (
        {json_type(payload)} = 'object' AND {bytes(payload)} <= 65536
    )
){strict_without_rowid};

CREATE INDEX pciv_artifacts_by_type ON pciv_artifacts (tenant_id, run_id, type, created_at, id);

-- A value that was written onto one of higher provenance stays beside it until a person decides. It is of an input or
-- of a constraint, and a writer has one open on each: who thinks again replaces what they said before.
CREATE TABLE pciv_suggestions (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    input_id         {text},
    constraint_id    {text},
    value_kind       {text} NOT NULL,
    value_string     {text},
    value_number     {double},
    value_boolean    {boolean},
    value_enum       {text},
    value_json       {text},
    provenance       {text} NOT NULL,
    source_ids       {text} NOT NULL,
    snippet          {text},
    rationale        {text},
    created_at       {instant} NOT NULL,
    created_by       {text} NOT NULL,
    author_kind      {text} NOT NULL,
    status           {text} NOT NULL,
    decided_at       {instant},
    decided_by       {text},
    CONSTRAINT pciv_suggestions_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_suggestions_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_suggestions_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_suggestions_share_the_run_of_their_input FOREIGN KEY (tenant_id, run_id, input_id)
        REFERENCES pciv_inputs (tenant_id, run_id, id),
    CONSTRAINT pciv_suggestions_share_the_run_of_their_constraint FOREIGN KEY (tenant_id, run_id, constraint_id)
        REFERENCES pciv_constraints (tenant_id, run_id, id),
    CONSTRAINT pciv_suggestions_are_about_one_thing CHECK ((input_id IS NULL) <> (constraint_id IS NULL)),
    CONSTRAINT pciv_suggestions_sources_are_a_list CHECK ({json_type(source_ids)} = 'array'),
    CONSTRAINT pciv_suggestions_author_is_known CHECK (author_kind IN ('user', 'model', 'system')),
    CONSTRAINT pciv_suggestions_status_is_known CHECK (status IN ('pending', 'accepted', 'rejected')),
    CONSTRAINT pciv_suggestions_are_decided_at_a_moment CHECK (
        (status = 'pending') = (decided_at IS NULL) AND (decided_at IS NULL) = (decided_by IS NULL)
    ),
    CONSTRAINT pciv_suggestions_words_fit CHECK ({bytes(snippet)} <= 8192 AND {bytes(rationale)} <= 4096),
    CONSTRAINT pciv_suggestions_value_matches_kind CHECK (
        (value_string IS NULL OR value_kind = 'string')
        AND (value_number IS NULL OR value_kind = 'number')
        AND (value_boolean IS NULL OR (value_kind = 'boolean' AND value_boolean IN (false, true)))
        AND (value_enum IS NULL OR value_kind = 'enum')
        AND (value_json IS NULL OR value_kind = 'json')
    ),
    CONSTRAINT pciv_suggestions_kind_is_known CHECK (value_kind IN ('string', 'number', 'boolean', 'enum', 'json')),
    CONSTRAINT pciv_suggestions_unknown_has_no_value CHECK (
        provenance <> 'unknown'
        OR (value_string IS NULL AND value_number IS NULL AND value_boolean IS NULL AND value_enum IS NULL
            AND value_json IS NULL)
    ),
    CONSTRAINT pciv_suggestions_provenance_is_known CHECK (
        provenance IN ('unknown', 'model-inferred', 'source-backed', 'user-entered')
    ),
    -- Neither infinite nor, which PostgreSQL sorts above everything, no number at all.
    CONSTRAINT pciv_suggestions_number_is_finite CHECK (
        value_number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    -- JSON's null would be a second way to say that there is no value.
    CONSTRAINT pciv_suggestions_json_is_a_value CHECK ({json_type(value_json)} <> 'null'),
    CONSTRAINT pciv_suggestions_value_fits CHECK (
        {bytes(value_string)} <= 32768 AND {bytes(value_enum)} <= 1024 AND {bytes(value_json)} <= 32768
    )
){strict_without_rowid};

CREATE UNIQUE INDEX pciv_suggestions_of_input_are_one_a_writer
    ON pciv_suggestions (tenant_id, run_id, input_id, created_by)
 WHERE status = 'pending' AND input_id IS NOT NULL;
CREATE UNIQUE INDEX pciv_suggestions_of_constraint_are_one_a_writer
    ON pciv_suggestions (tenant_id, run_id, constraint_id, created_by)
 WHERE status = 'pending' AND constraint_id IS NOT NULL;

REFUSE rev_step AS pciv_runs_rev_moves_by_one
BEFORE UPDATE ON pciv_runs
WHEN NEW.rev <> OLD.rev + 1;

-- A run that is born committed would never have been asked whether it may be.
REFUSE not_a_draft AS pciv_runs_begin_as_drafts
BEFORE INSERT ON pciv_runs
WHEN NEW.status <> 'draft';

REFUSE required_unset AS pciv_runs_commit_is_whole
BEFORE UPDATE OF status ON pciv_runs
WHEN NEW.status = 'committed'
IF EXISTS (SELECT 1
             FROM pciv_inputs
            WHERE tenant_id = NEW.tenant_id
              AND run_id = NEW.id
              AND required
              AND value_string IS NULL
              AND value_number IS NULL
              AND value_boolean IS NULL
              AND value_enum IS NULL
              AND value_json IS NULL);

-- What is said to have a source has one at the latest now. Without a value there is nothing to be backed.
REFUSE source_missing AS pciv_runs_commit_is_backed
BEFORE UPDATE OF status ON pciv_runs
WHEN NEW.status <> 'draft'
IF EXISTS (SELECT 1
             FROM pciv_inputs AS i
            WHERE i.tenant_id = NEW.tenant_id
              AND i.run_id = NEW.id
              AND i.provenance = 'source-backed'
              AND (coalesce(i.value_string, i.value_enum, i.value_json) IS NOT NULL
                   OR i.value_number IS NOT NULL OR i.value_boolean IS NOT NULL)
              AND NOT EXISTS (SELECT 1
                                FROM pciv_input_sources AS s
                               WHERE s.tenant_id = i.tenant_id
                                 AND s.run_id = i.run_id
                                 AND s.input_id = i.id))
   OR EXISTS (SELECT 1
                FROM pciv_constraints
               WHERE tenant_id = NEW.tenant_id
                 AND run_id = NEW.id
                 AND provenance = 'source-backed'
                 AND source_id IS NULL
                 AND (coalesce(value_string, value_enum, value_json) IS NOT NULL
                      OR value_number IS NOT NULL OR value_boolean IS NOT NULL));

-- What a person entered in one run, and another run of the same project has with another value, does not have, or no
-- longer requires. A value that a person wrote later takes the place of the earlier one and displaces nothing.
-- only: postgres
CREATE VIEW pciv_displaced WITH (security_invoker = true) AS
-- end
-- only: sqlite
CREATE VIEW pciv_displaced AS
-- end
SELECT *
  FROM (SELECT p.tenant_id, p.run_id AS before_run_id, r.id AS run_id, p.pointer, NULL AS key, p.value_kind,
               p.value_string, p.value_number, p.value_boolean, p.value_enum, p.value_json,
               CASE WHEN n.id IS NULL THEN 'removed'
                    WHEN p.provenance = 'user-entered'
                         AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                              OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL)
                         AND NOT (n.value_kind = p.value_kind
                                  AND coalesce(coalesce(n.value_string, n.value_enum, n.value_json)
                                               = coalesce(p.value_string, p.value_enum, p.value_json),
                                               n.value_number = p.value_number, n.value_boolean = p.value_boolean,
                                               false))
                         AND NOT (n.provenance = 'user-entered' AND n.updated_by = 'user'
                                  AND n.updated_at >= p.updated_at) THEN 'changed'
                    WHEN p.required AND NOT n.required
                         AND NOT (n.updated_by = 'user' AND n.updated_at >= p.updated_at) THEN 'optional'
                END AS change
          FROM pciv_inputs AS p
          JOIN pciv_runs AS r
            ON r.tenant_id = p.tenant_id
           AND r.project_id = p.project_id
          LEFT JOIN pciv_inputs AS n
            ON n.tenant_id = p.tenant_id
           AND n.run_id = r.id
           AND n.pointer = p.pointer
         WHERE (p.provenance = 'user-entered'
                AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                     OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL))
            OR (p.required AND p.updated_by = 'user')
         UNION ALL
        SELECT p.tenant_id, p.run_id, r.id, NULL, p.key, p.value_kind,
               p.value_string, p.value_number, p.value_boolean, p.value_enum, p.value_json,
               CASE WHEN n.id IS NULL THEN 'removed'
                    WHEN NOT (n.value_kind = p.value_kind
                              AND coalesce(coalesce(n.value_string, n.value_enum, n.value_json)
                                           = coalesce(p.value_string, p.value_enum, p.value_json),
                                           n.value_number = p.value_number, n.value_boolean = p.value_boolean,
                                           false))
                         AND NOT (n.provenance = 'user-entered' AND n.updated_at >= p.updated_at) THEN 'changed'
                END
          FROM pciv_constraints AS p
          JOIN pciv_runs AS r
            ON r.tenant_id = p.tenant_id
           AND r.project_id = p.project_id
          LEFT JOIN pciv_constraints AS n
            ON n.tenant_id = p.tenant_id
           AND n.run_id = r.id
           AND n.key = p.key
         WHERE p.provenance = 'user-entered'
           AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL)) AS compared
 WHERE change IS NOT NULL;

-- Only a person commits a run that displaces what a person entered.
REFUSE displaces_user_entered AS pciv_runs_commit_displaces_nobody
BEFORE UPDATE OF status ON pciv_runs
WHEN NEW.status <> 'draft' AND NEW.committer_kind <> 'user'
IF EXISTS (SELECT 1
             FROM pciv_displaced
            WHERE tenant_id = NEW.tenant_id
              AND run_id = NEW.id
              AND before_run_id = (SELECT r.id
                                     FROM pciv_runs AS r
                                    WHERE r.tenant_id = NEW.tenant_id
                                      AND r.project_id = NEW.project_id
                                      AND r.status <> 'draft'
                                      AND NOT EXISTS (SELECT 1
                                                        FROM pciv_deleted_runs AS d
                                                       WHERE d.tenant_id = r.tenant_id
                                                         AND d.project_id = r.project_id
                                                         AND d.run_id = r.id)
                                    ORDER BY r.committed_at DESC, r.updated_at DESC, r.id
                                    LIMIT 1));

REFUSE person_required AS pciv_deleted_runs_are_deleted_by_persons
BEFORE INSERT ON pciv_deleted_runs
WHEN NEW.deleter_kind <> 'user'
IF EXISTS (SELECT 1
             FROM pciv_runs
            WHERE tenant_id = NEW.tenant_id
              AND project_id = NEW.project_id
              AND id = NEW.run_id
              AND status <> 'draft');

REFUSE lower_provenance AS *_provenance_never_lowers
BEFORE UPDATE ON pciv_inputs, pciv_constraints
WHEN (coalesce(OLD.value_string, OLD.value_enum, OLD.value_json) IS NOT NULL OR OLD.value_number IS NOT NULL
      OR OLD.value_boolean IS NOT NULL)
 AND CASE NEW.provenance WHEN 'unknown' THEN 0 WHEN 'model-inferred' THEN 1 WHEN 'source-backed' THEN 2 ELSE 3 END
   < CASE OLD.provenance WHEN 'unknown' THEN 0 WHEN 'model-inferred' THEN 1 WHEN 'source-backed' THEN 2 ELSE 3 END;

REFUSE not_an_option AS pciv_inputs_value_is_an_option
BEFORE INSERT OR UPDATE ON pciv_inputs
WHEN NEW.value_enum IS NOT NULL AND NEW.options IS NOT NULL
IF NOT EXISTS (SELECT 1 FROM {each}(NEW.options) WHERE value = NEW.value_enum);

-- The members of a scope under the name that the contract gives them.
-- only: postgres
CREATE VIEW pciv_scope_members WITH (security_invoker = true) AS
-- end
-- only: sqlite
CREATE VIEW pciv_scope_members AS
-- end
SELECT tenant_id, project_id, user_id, role, created_at, created_by
  FROM project_members;


-- --- purpose ---------------------------------------------------------------------------------------------------------

-- Purpose: why the work is done. A version holds nodes, edges, assumptions and indicators while it is a draft, is
-- published once, behind its gates, and never changes afterwards, nor does anything below it (guards see to that).
-- What is observed later (measurements, reviews, waivers, decisions) lies beside the versions, by stable keys.

CREATE TABLE toc_versions (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    id              {text} NOT NULL,
    version_number  {integer} NOT NULL,
    status          {text} NOT NULL,
    label           {text} NOT NULL,
    source_number   {integer},
    profile         {text} NOT NULL,
    rev             {integer} NOT NULL,
    created_at      {instant} NOT NULL,
    created_by      {text} NOT NULL,
    sole_writer     {text},
    updated_at      {instant} NOT NULL,
    content_hash    {text},
    context_run_id  {text},
    gates           {text},
    outside         {text},
    published_at    {instant},
    published_by    {text},
    published_rev   {integer},
    CONSTRAINT toc_versions_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT toc_versions_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT toc_versions_number_is_unique UNIQUE (tenant_id, project_id, version_number),
    CONSTRAINT toc_versions_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_versions_come_from_a_version FOREIGN KEY (tenant_id, project_id, source_number)
        REFERENCES toc_versions (tenant_id, project_id, version_number),
    CONSTRAINT toc_versions_stand_on_a_run FOREIGN KEY (tenant_id, project_id, context_run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT toc_versions_status_is_known CHECK (status IN ('DRAFT', 'PUBLISHED')),
    CONSTRAINT toc_versions_profile_is_known CHECK (profile IN ('standard', 'strict', 'light')),
    CONSTRAINT toc_versions_number_starts_at_one CHECK (version_number >= 1),
    CONSTRAINT toc_versions_source_is_earlier CHECK (source_number < version_number),
    CONSTRAINT toc_versions_rev_starts_at_one CHECK (rev >= 1),
    CONSTRAINT toc_versions_label_tells_drafts CHECK (
        (status = 'DRAFT') = (label = 'draft') AND length(label) BETWEEN 1 AND 255
    ),
    -- A status that is changed alone publishes nothing.
    CONSTRAINT toc_versions_are_published_whole CHECK (
        (status = 'DRAFT') = (published_at IS NULL)
        AND (status = 'DRAFT') = (published_by IS NULL)
        AND (status = 'DRAFT') = (published_rev IS NULL)
        AND (status = 'DRAFT') = (content_hash IS NULL)
        AND (status = 'DRAFT') = (gates IS NULL)
        AND (status = 'DRAFT') = (outside IS NULL)
        AND (status = 'PUBLISHED' OR context_run_id IS NULL)
    ),
    CONSTRAINT toc_versions_passed_their_gate CHECK (
        status = 'DRAFT'
        OR coalesce(
            -- only: postgres
            (gates::json -> 0 ->> 'gate') = 'A'
            AND (gates::json -> 0 ->> 'passed') = 'true'
            AND (gates::json -> 0 ->> 'content_hash') = content_hash
            -- end
            -- only: sqlite
            json_extract(gates, '$[0].gate') = 'A'
            AND json_type(gates, '$[0].passed') = 'true'
            AND json_extract(gates, '$[0].content_hash') = content_hash
            -- end
            AND length(content_hash) = 64,
            false
        )
    )
){strict_without_rowid};

CREATE UNIQUE INDEX toc_versions_one_draft_a_project ON toc_versions (tenant_id, project_id) WHERE status = 'DRAFT';
CREATE INDEX toc_versions_by_run ON toc_versions (tenant_id, context_run_id, version_number)
    WHERE context_run_id IS NOT NULL;

-- How far the keys of a project have been given out, and the revisions of discarded drafts (REV). None is given twice,
-- not even when what had it is gone.
CREATE TABLE toc_keys (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    prefix          {text} NOT NULL,
    last_number     {integer} NOT NULL,
    CONSTRAINT toc_keys_pkey PRIMARY KEY (tenant_id, project_id, prefix),
    CONSTRAINT toc_keys_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_keys_prefix_is_known CHECK (prefix IN ('G', 'OC', 'OP', 'AC', 'AS', 'IN', 'REV')),
    CONSTRAINT toc_keys_count_up CHECK (last_number >= 1)
){strict_without_rowid};

-- What lies below a version has the version in front of its key, so that one is read from one place.
CREATE TABLE toc_nodes (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    toc_version_id  {text} NOT NULL,
    id              {text} NOT NULL,
    key             {text} NOT NULL,
    node_type       {text} NOT NULL,
    title           {text} NOT NULL,
    description     {text},
    narrative       {text},
    owner           {text},
    metadata        {text} NOT NULL,
    CONSTRAINT toc_nodes_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_nodes_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_nodes_key_is_unique UNIQUE (tenant_id, toc_version_id, key),
    CONSTRAINT toc_nodes_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_nodes_type_is_known CHECK (node_type IN ('GOAL', 'OUTCOME', 'OUTPUT', 'ACTIVITY')),
    CONSTRAINT toc_nodes_key_is_well_formed CHECK (
        -- only: postgres
        key ~ '^(G|OC|OP|AC)[1-9][0-9]*$'
        -- end
        -- only: sqlite
        rtrim(key, '0123456789') IN ('G', 'OC', 'OP', 'AC') AND ltrim(key, 'GOCPA') GLOB '[1-9]*'
        -- end
    ),
    CONSTRAINT toc_nodes_fit CHECK (
        length(title) <= 500
        AND {bytes(description)} <= 16384
        AND {bytes(narrative)} <= 16384
        AND length(owner) <= 255
        AND {bytes(metadata)} <= 16384
    ),
    CONSTRAINT toc_nodes_metadata_is_an_object CHECK ({json_type(metadata)} = 'object')
){strict_without_rowid};

CREATE TABLE toc_edges (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    toc_version_id  {text} NOT NULL,
    id              {text} NOT NULL,
    source_node_id  {text} NOT NULL,
    target_node_id  {text} NOT NULL,
    edge_type       {text} NOT NULL DEFAULT 'CONTRIBUTES_TO',
    mechanism       {text},
    confidence      {text},
    CONSTRAINT toc_edges_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edges_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_edges_are_unique UNIQUE (tenant_id, toc_version_id, source_node_id, target_node_id, edge_type),
    CONSTRAINT toc_edges_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_edges_share_the_version_of_their_source FOREIGN KEY (tenant_id, toc_version_id, source_node_id)
        REFERENCES toc_nodes (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edges_share_the_version_of_their_target FOREIGN KEY (tenant_id, toc_version_id, target_node_id)
        REFERENCES toc_nodes (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edges_not_to_self CHECK (source_node_id <> target_node_id),
    CONSTRAINT toc_edges_type_is_known CHECK (edge_type IN ('CONTRIBUTES_TO', 'CAUSES', 'DEPENDS_ON', 'FEEDBACK')),
    CONSTRAINT toc_edges_confidence_is_known CHECK (confidence IN ('low', 'medium', 'high')),
    CONSTRAINT toc_edges_fit CHECK ({bytes(mechanism)} <= 4096)
){strict_without_rowid};

CREATE INDEX toc_edges_by_target ON toc_edges (tenant_id, toc_version_id, target_node_id);

-- An assumption is of a node or of an edge: two tables, so that none can be of both, or of nothing.
CREATE TABLE toc_assumptions (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    toc_version_id  {text} NOT NULL,
    id              {text} NOT NULL,
    key             {text} NOT NULL,
    node_id         {text} NOT NULL,
    assumption_text {text} NOT NULL,
    risk_level      {text},
    owner           {text},
    review_by       {text},
    CONSTRAINT toc_assumptions_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_assumptions_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_assumptions_key_is_unique UNIQUE (tenant_id, toc_version_id, key),
    CONSTRAINT toc_assumptions_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_assumptions_share_the_version_of_their_node FOREIGN KEY (tenant_id, toc_version_id, node_id)
        REFERENCES toc_nodes (tenant_id, toc_version_id, id),
    CONSTRAINT toc_assumptions_key_is_well_formed CHECK ({is_key(key, AS)}),
    CONSTRAINT toc_assumptions_risk_is_known CHECK (risk_level IN ('LOW', 'MEDIUM', 'HIGH')),
    CONSTRAINT toc_assumptions_review_is_a_date CHECK ({is_date(review_by)}),
    CONSTRAINT toc_assumptions_fit CHECK (
        {bytes(assumption_text)} BETWEEN 1 AND 4096 AND length(owner) <= 255
    )
){strict_without_rowid};

CREATE INDEX toc_assumptions_by_node ON toc_assumptions (tenant_id, toc_version_id, node_id);

CREATE TABLE toc_edge_assumptions (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    toc_version_id  {text} NOT NULL,
    id              {text} NOT NULL,
    key             {text} NOT NULL,
    edge_id         {text} NOT NULL,
    assumption_text {text} NOT NULL,
    risk_level      {text},
    owner           {text},
    review_by       {text},
    CONSTRAINT toc_edge_assumptions_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edge_assumptions_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_edge_assumptions_key_is_unique UNIQUE (tenant_id, toc_version_id, key),
    CONSTRAINT toc_edge_assumptions_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_edge_assumptions_share_the_version_of_their_edge FOREIGN KEY (tenant_id, toc_version_id, edge_id)
        REFERENCES toc_edges (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edge_assumptions_key_is_well_formed CHECK ({is_key(key, AS)}),
    CONSTRAINT toc_edge_assumptions_risk_is_known CHECK (risk_level IN ('LOW', 'MEDIUM', 'HIGH')),
    CONSTRAINT toc_edge_assumptions_review_is_a_date CHECK ({is_date(review_by)}),
    CONSTRAINT toc_edge_assumptions_fit CHECK (
        {bytes(assumption_text)} BETWEEN 1 AND 4096 AND length(owner) <= 255
    )
){strict_without_rowid};

CREATE INDEX toc_edge_assumptions_by_edge ON toc_edge_assumptions (tenant_id, toc_version_id, edge_id);

CREATE TABLE toc_indicators (
    tenant_id         {text} NOT NULL,
    project_id        {text} NOT NULL,
    toc_version_id    {text} NOT NULL,
    id                {text} NOT NULL,
    key               {text} NOT NULL,
    node_id           {text} NOT NULL,
    name              {text} NOT NULL,
    unit              {text},
    direction         {text},
    baseline          {double},
    baseline_verified {boolean},
    target            {double},
    method            {text},
    frequency         {text},
    owner             {text},
    CONSTRAINT toc_indicators_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_indicators_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_indicators_key_is_unique UNIQUE (tenant_id, toc_version_id, key),
    CONSTRAINT toc_indicators_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_indicators_share_the_version_of_their_node FOREIGN KEY (tenant_id, toc_version_id, node_id)
        REFERENCES toc_nodes (tenant_id, toc_version_id, id),
    CONSTRAINT toc_indicators_key_is_well_formed CHECK ({is_key(key, IN)}),
    CONSTRAINT toc_indicators_direction_is_known CHECK (direction IN ('increase', 'decrease')),
    CONSTRAINT toc_indicators_verified_is_yes_or_no CHECK (baseline_verified IN (false, true)),
    -- Neither infinite nor, which PostgreSQL sorts above everything, no number at all.
    CONSTRAINT toc_indicators_numbers_are_finite CHECK (
        baseline BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
        AND target BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    CONSTRAINT toc_indicators_fit CHECK (
        length(name) BETWEEN 1 AND 500
        AND length(unit) <= 255
        AND {bytes(method)} <= 4096
        AND length(frequency) <= 255
        AND length(owner) <= 255
    )
){strict_without_rowid};

CREATE INDEX toc_indicators_by_node ON toc_indicators (tenant_id, toc_version_id, node_id);

-- Observations: of the write that made them (rev) and in its order (n), so that "as it was then" is exact.
CREATE TABLE toc_measurements (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    indicator_key   {text} NOT NULL,
    value           {double} NOT NULL,
    as_of           {text} NOT NULL,
    as_of_until     {instant} NOT NULL,
    source          {text},
    note            {text},
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_measurements_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_measurements_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_measurements_value_is_finite CHECK (
        value BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    CONSTRAINT toc_measurements_are_of_a_moment CHECK (
        -- only: postgres
        as_of ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}'
        -- end
        -- only: sqlite
        as_of GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
        -- end
    ),
    CONSTRAINT toc_measurements_fit CHECK ({bytes(source)} <= 4096 AND {bytes(note)} <= 4096)
){strict_without_rowid};

-- A day counts as its end, so that the newest measurement is the last of this index.
CREATE INDEX toc_measurements_by_indicator
    ON toc_measurements (tenant_id, project_id, indicator_key, as_of_until, rev, n);

CREATE TABLE toc_assumption_reviews (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    assumption_key  {text} NOT NULL,
    status          {text} NOT NULL,
    reason          {text} NOT NULL,
    evidence        {text},
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_assumption_reviews_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_assumption_reviews_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_assumption_reviews_status_is_known CHECK (
        status IN ('untested', 'holding', 'at_risk', 'refuted')
    ),
    CONSTRAINT toc_assumption_reviews_fit CHECK (
        {bytes(reason)} BETWEEN 1 AND 4096 AND {bytes(evidence)} <= 4096
    )
){strict_without_rowid};

CREATE INDEX toc_assumption_reviews_by_assumption
    ON toc_assumption_reviews (tenant_id, project_id, assumption_key, rev, n);

CREATE TABLE toc_waivers (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    code            {text} NOT NULL,
    refs            {text} NOT NULL,
    reason          {text} NOT NULL,
    owner           {text} NOT NULL,
    due             {text} NOT NULL,
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_waivers_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_waivers_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_waivers_refs_are_a_list CHECK ({json_type(refs)} = 'array' AND {bytes(refs)} <= 16384),
    CONSTRAINT toc_waivers_due_is_a_date CHECK ({is_date(due)}),
    CONSTRAINT toc_waivers_fit CHECK (
        length(code) BETWEEN 1 AND 64 AND {bytes(reason)} BETWEEN 1 AND 4096 AND length(owner) BETWEEN 1 AND 255
    )
){strict_without_rowid};

CREATE TABLE toc_decisions (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    text            {text} NOT NULL,
    rationale       {text} NOT NULL,
    about           {text} NOT NULL,
    outcome         {text},
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    supersedes_rev  {integer},
    supersedes_n    {integer} CONSTRAINT toc_decisions_supersede_earlier_ones CHECK (
        (supersedes_rev IS NULL) = (supersedes_n IS NULL)
        AND (supersedes_rev IS NULL OR supersedes_rev < rev OR (supersedes_rev = rev AND supersedes_n < n))
    ),
    answers_rev     {integer},
    answers_n       {integer} CONSTRAINT toc_decisions_answer_one_request CHECK (
        (answers_rev IS NULL) = (answers_n IS NULL)
    ),
    CONSTRAINT toc_decisions_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_decisions_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_decisions_about_is_a_list CHECK (
        {json_type(about)} = 'array' AND {bytes(about)} <= 16384
    ),
    CONSTRAINT toc_decisions_fit CHECK (
        {bytes(text)} BETWEEN 1 AND 4096
        AND {bytes(rationale)} BETWEEN 1 AND 4096
        AND {bytes(outcome)} <= 4096
    )
){strict_without_rowid};

REFUSE rev_step AS toc_versions_rev_moves_by_one
BEFORE UPDATE ON toc_versions
WHEN NEW.rev <> OLD.rev + 1;

-- A version that is born published would never have been before its gates.
REFUSE not_a_draft AS toc_versions_begin_as_drafts
BEFORE INSERT ON toc_versions
WHEN NEW.status <> 'DRAFT';

-- Numbers run 1, 2, 3. The only version that can go is the draft, which always has the last one. Looked at afterwards:
-- on SQLite a draft that is put in the place of another one (REPLACE) would count that one as well.
REFUSE version_gap AS toc_versions_number_has_no_gap
AFTER INSERT ON toc_versions
IF NEW.version_number <> (SELECT count(*)
                            FROM toc_versions
                           WHERE tenant_id = NEW.tenant_id
                             AND project_id = NEW.project_id);

REFUSE version_gap AS toc_versions_number_stays
BEFORE UPDATE ON toc_versions
WHEN NEW.version_number <> OLD.version_number OR NEW.project_id <> OLD.project_id OR NEW.tenant_id <> OLD.tenant_id;

-- A key is given once, so a count grows, and stays where it counts.
REFUSE key_reused AS toc_keys_only_grow
BEFORE UPDATE ON toc_keys
WHEN NEW.last_number <= OLD.last_number
  OR NEW.prefix <> OLD.prefix OR NEW.project_id <> OLD.project_id OR NEW.tenant_id <> OLD.tenant_id;

-- only: sqlite
-- Nor does the count begin again: REPLACE would delete the row first. On PostgreSQL there is no REPLACE, and the app
-- role has no right to delete these rows.
REFUSE key_reused AS toc_keys_are_never_deleted
BEFORE DELETE ON toc_keys;
-- end

REFUSE key_reused AS toc_assumptions_key_is_of_no_edge_assumption
BEFORE INSERT OR UPDATE OF tenant_id, toc_version_id, key ON toc_assumptions
IF EXISTS (SELECT 1
             FROM toc_edge_assumptions
            WHERE tenant_id = NEW.tenant_id
              AND toc_version_id = NEW.toc_version_id
              AND key = NEW.key);

REFUSE key_reused AS toc_edge_assumptions_key_is_of_no_node_assumption
BEFORE INSERT OR UPDATE OF tenant_id, toc_version_id, key ON toc_edge_assumptions
IF EXISTS (SELECT 1
             FROM toc_assumptions
            WHERE tenant_id = NEW.tenant_id
              AND toc_version_id = NEW.toc_version_id
              AND key = NEW.key);

-- An observation belongs to the write that is going on: what was known when a version was published stays known.
REFUSE rev_step AS *_are_of_this_write
BEFORE INSERT ON toc_measurements, toc_assumption_reviews, toc_waivers, toc_decisions
IF NEW.rev IS DISTINCT FROM (SELECT rev FROM projects WHERE tenant_id = NEW.tenant_id AND id = NEW.project_id);

-- A run that a published version stands on stays in view, and none that is out of view can be stood on.
REFUSE run_bound AS pciv_deleted_runs_are_stood_on_by_nothing
BEFORE INSERT ON pciv_deleted_runs
IF EXISTS (SELECT 1
             FROM toc_versions
            WHERE tenant_id = NEW.tenant_id
              AND project_id = NEW.project_id
              AND context_run_id = NEW.run_id);

REFUSE run_not_final AS toc_versions_stand_on_final_facts
BEFORE UPDATE OF context_run_id ON toc_versions
WHEN NEW.context_run_id IS NOT NULL
IF NOT EXISTS (SELECT 1
                 FROM pciv_runs
                WHERE tenant_id = NEW.tenant_id
                  AND id = NEW.context_run_id
                  AND status <> 'draft')
   OR EXISTS (SELECT 1
                FROM pciv_deleted_runs
               WHERE tenant_id = NEW.tenant_id
                 AND project_id = NEW.project_id
                 AND run_id = NEW.context_run_id);

-- Questions that wait for a decision, and decisions that answer them or replace earlier ones. A decision and a request are
-- named by the revision and the number under which they were recorded.

CREATE TABLE toc_requests (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    question        {text} NOT NULL,
    about           {text} NOT NULL,
    asked_of        {text},
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_requests_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_requests_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_requests_about_is_a_list CHECK (
        {json_type(about)} = 'array' AND {bytes(about)} <= 16384
    ),
    CONSTRAINT toc_requests_fit CHECK (
        {bytes(question)} BETWEEN 1 AND 4096 AND length(asked_of) BETWEEN 1 AND 255
    )
){strict_without_rowid};

-- Whether any assumption is in doubt is asked often, and mostly none is.
CREATE INDEX toc_assumption_reviews_in_doubt ON toc_assumption_reviews (tenant_id, project_id, assumption_key)
 WHERE status = 'at_risk' OR status = 'refuted';

-- One decision replaces a decision, and one answers a request: who asks for the current one gets one.
CREATE UNIQUE INDEX toc_decisions_superseded_once
    ON toc_decisions (tenant_id, project_id, supersedes_rev, supersedes_n)
 WHERE supersedes_rev IS NOT NULL;
CREATE UNIQUE INDEX toc_requests_answered_once
    ON toc_decisions (tenant_id, project_id, answers_rev, answers_n)
 WHERE answers_rev IS NOT NULL;

-- The earlier record is looked for once: it can neither change nor go.
REFUSE no_parent AS toc_decisions_supersede_a_decision
BEFORE INSERT ON toc_decisions
WHEN NEW.supersedes_rev IS NOT NULL
IF NOT EXISTS (SELECT 1
                 FROM toc_decisions
                WHERE tenant_id = NEW.tenant_id
                  AND project_id = NEW.project_id
                  AND rev = NEW.supersedes_rev
                  AND n = NEW.supersedes_n);

REFUSE no_parent AS toc_decisions_answer_a_request
BEFORE INSERT ON toc_decisions
WHEN NEW.answers_rev IS NOT NULL
IF NOT EXISTS (SELECT 1
                 FROM toc_requests
                WHERE tenant_id = NEW.tenant_id
                  AND project_id = NEW.project_id
                  AND rev = NEW.answers_rev
                  AND n = NEW.answers_n);

REFUSE rev_step AS toc_requests_are_of_this_write
BEFORE INSERT ON toc_requests
IF NEW.rev IS DISTINCT FROM (SELECT rev FROM projects WHERE tenant_id = NEW.tenant_id AND id = NEW.project_id);
