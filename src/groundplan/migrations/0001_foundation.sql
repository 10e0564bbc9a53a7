-- Who there is, which projects there are, what happened, and what was already answered.
-- The tenant stands first in every key, so one organization's rows lie together and a key can never cross over.
-- Text compares by code point (COLLATE "C"), as SQLite does, so that both engines sort and match alike.

-- only: sqlite
-- The mark ties the write-ahead log to the file; see kernel/store/sqlite/file_mark.py. It is the first table, so that its
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
