-- Who there is, which projects there are, what happened, and what was already answered.
-- The tenant stands first in every key, so one organization's rows lie together and a key can never cross over.

CREATE TABLE organizations (
    id         TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    rev        INTEGER NOT NULL DEFAULT 0,
    created_at TEXT    NOT NULL,
    CONSTRAINT organizations_pkey PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

-- Everybody who ever acted or was invited. A principal outlives its membership: history still needs the name.
CREATE TABLE principals (
    tenant_id  TEXT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT principals_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT principals_name_is_unique UNIQUE (tenant_id, name),
    CONSTRAINT principals_belong_to_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id),
    CONSTRAINT principals_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT principals_kind_is_known CHECK (kind IN ('person', 'agent', 'service'))
) STRICT, WITHOUT ROWID;

CREATE TABLE user_memberships (
    tenant_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL,
    CONSTRAINT user_memberships_pkey PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT user_memberships_are_of_principals FOREIGN KEY (tenant_id, user_id)
        REFERENCES principals (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
    tenant_id   TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    goal        TEXT,
    rev         INTEGER NOT NULL DEFAULT 1,
    created_at  TEXT    NOT NULL,
    created_by  TEXT    NOT NULL,
    updated_at  TEXT    NOT NULL,
    archived_at TEXT,
    CONSTRAINT projects_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT projects_name_is_unique UNIQUE (tenant_id, name),
    CONSTRAINT projects_belong_to_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id),
    CONSTRAINT projects_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT projects_goal_fits CHECK (length(CAST(goal AS BLOB)) <= 4096),
    CONSTRAINT projects_rev_starts_at_one CHECK (rev >= 1)
) STRICT, WITHOUT ROWID;

CREATE TABLE project_members (
    tenant_id  TEXT NOT NULL,
    project_id TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    role       TEXT NOT NULL,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL,
    CONSTRAINT project_members_pkey PRIMARY KEY (tenant_id, project_id, user_id),
    CONSTRAINT project_members_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES projects (tenant_id, id),
    CONSTRAINT project_members_are_principals FOREIGN KEY (tenant_id, user_id)
        REFERENCES principals (tenant_id, id),
    CONSTRAINT project_members_role_is_known CHECK (role IN ('viewer', 'editor', 'owner'))
) STRICT, WITHOUT ROWID;

CREATE INDEX project_members_by_user ON project_members (tenant_id, user_id, role);

CREATE TABLE events (
    tenant_id  TEXT    NOT NULL,
    project_id TEXT    NOT NULL,
    rev        INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    v          INTEGER NOT NULL,
    at         TEXT    NOT NULL,
    actor_id   TEXT    NOT NULL,
    op         TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    changes    TEXT    NOT NULL,
    decision   TEXT,
    CONSTRAINT events_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT events_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- The same for what is done to the organization itself; its revision is another one.
CREATE TABLE organization_events (
    tenant_id TEXT    NOT NULL,
    rev       INTEGER NOT NULL,
    n         INTEGER NOT NULL,
    v         INTEGER NOT NULL,
    at        TEXT    NOT NULL,
    actor_id  TEXT    NOT NULL,
    op        TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    changes   TEXT    NOT NULL,
    decision  TEXT,
    CONSTRAINT organization_events_pkey PRIMARY KEY (tenant_id, rev, n),
    CONSTRAINT organization_events_are_of_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id)
) STRICT, WITHOUT ROWID;

-- What an op_id was answered, so that a repeated request has the same answer and no second effect.
CREATE TABLE answers (
    tenant_id   TEXT NOT NULL,
    actor_id    TEXT NOT NULL,
    op_id       TEXT NOT NULL,
    body_digest TEXT NOT NULL,
    answer      TEXT NOT NULL,
    at          TEXT NOT NULL,
    CONSTRAINT answers_pkey PRIMARY KEY (tenant_id, actor_id, op_id),
    CONSTRAINT answers_belong_to_an_organization FOREIGN KEY (tenant_id) REFERENCES organizations (id)
) STRICT, WITHOUT ROWID;

CREATE INDEX answers_by_age ON answers (tenant_id, at);

-- A project is never left without an owner, whoever asks and in whatever way.
CREATE TRIGGER project_members_last_owner_stays
BEFORE DELETE ON project_members
WHEN OLD.role = 'owner'
BEGIN
    SELECT RAISE(ABORT, 'last_owner: project_members')
     WHERE NOT EXISTS (SELECT 1
                         FROM project_members
                        WHERE tenant_id = OLD.tenant_id
                          AND project_id = OLD.project_id
                          AND role = 'owner'
                          AND user_id <> OLD.user_id);
END;

CREATE TRIGGER project_members_last_owner_keeps_role
BEFORE UPDATE ON project_members
WHEN OLD.role = 'owner'
 AND (NEW.role <> 'owner' OR NEW.project_id <> OLD.project_id OR NEW.tenant_id <> OLD.tenant_id)
BEGIN
    SELECT RAISE(ABORT, 'last_owner: project_members')
     WHERE NOT EXISTS (SELECT 1
                         FROM project_members
                        WHERE tenant_id = OLD.tenant_id
                          AND project_id = OLD.project_id
                          AND role = 'owner'
                          AND user_id <> OLD.user_id);
END;

-- A revision is the name of a state: it moves by one and never back, else a cursor could mean two states.
CREATE TRIGGER projects_rev_moves_by_one
BEFORE UPDATE OF rev ON projects
WHEN NEW.rev <> OLD.rev + 1
BEGIN
    SELECT RAISE(ABORT, 'rev_step: projects');
END;

CREATE TRIGGER organizations_rev_moves_by_one
BEFORE UPDATE OF rev ON organizations
WHEN NEW.rev <> OLD.rev + 1
BEGIN
    SELECT RAISE(ABORT, 'rev_step: organizations');
END;

-- Nor does a revision begin again: REPLACE would delete the row and put one with an old revision in its place. On
-- PostgreSQL there is no REPLACE, and the app role has no right to delete these rows.
CREATE TRIGGER projects_are_never_deleted
BEFORE DELETE ON projects
BEGIN
    SELECT RAISE(ABORT, 'rev_step: projects');
END;

CREATE TRIGGER organizations_are_never_deleted
BEFORE DELETE ON organizations
BEGIN
    SELECT RAISE(ABORT, 'rev_step: organizations');
END;

-- An event belongs to the write that is going on: nobody can put one into the past, or take the place of a later one.
CREATE TRIGGER events_are_of_this_write
BEFORE INSERT ON events
WHEN NEW.rev IS NOT (SELECT rev FROM projects WHERE tenant_id = NEW.tenant_id AND id = NEW.project_id)
BEGIN
    SELECT RAISE(ABORT, 'rev_step: events');
END;

CREATE TRIGGER organization_events_are_of_this_write
BEFORE INSERT ON organization_events
WHEN NEW.rev IS NOT (SELECT rev FROM organizations WHERE id = NEW.tenant_id)
BEGIN
    SELECT RAISE(ABORT, 'rev_step: organization_events');
END;

-- The steps this database has taken.
CREATE TABLE schema_migrations (
    number     INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    applied_at TEXT    NOT NULL,
    CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
) STRICT, WITHOUT ROWID;

-- The one organization that a file has from the start.
INSERT INTO organizations (id, name, rev, created_at)
VALUES ('local', 'local', 0, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
