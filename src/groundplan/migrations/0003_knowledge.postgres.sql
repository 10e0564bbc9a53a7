-- Knowledge: what one must know to touch some files. Molecules group atoms; an atom owns path patterns.
-- Beside their ids, atoms and molecules of a project have numbers `n` from one count: the key of their words in the index.

-- What is known of a project's knowledge as a whole. Its revision moves with every change of knowledge and with nothing
-- else; `patterns_rev` is the one at which patterns last changed, so that whoever keeps them in memory knows when to look
-- again, and since when. How many patterns there are, with braces written out, is counted, because somebody keeps them all.
CREATE TABLE graph_projects (
    tenant_id          text COLLATE "C" NOT NULL,
    project_id         text COLLATE "C" NOT NULL,
    number             bigint NOT NULL,
    rev                bigint NOT NULL,
    last_n             bigint NOT NULL,
    patterns           bigint NOT NULL,
    patterns_rev       bigint NOT NULL,
    CONSTRAINT graph_projects_pkey PRIMARY KEY (tenant_id, project_id),
    CONSTRAINT graph_projects_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT graph_projects_count CHECK (
        number >= 1 AND rev >= 1 AND last_n >= 0 AND patterns BETWEEN 0 AND 200000 AND patterns_rev <= rev
    )
);

-- SQLite's index of words has one key for the whole file, of which this number is a part.
CREATE UNIQUE INDEX graph_projects_number_is_unique ON graph_projects (tenant_id, number);

CREATE TRIGGER graph_projects_rev_moves_by_one
    BEFORE UPDATE OF rev ON graph_projects
    FOR EACH ROW WHEN (NEW.rev <> OLD.rev + 1) EXECUTE FUNCTION gp_refuse_rev_step();

CREATE TABLE graph_molecules (
    tenant_id          text COLLATE "C" NOT NULL,
    project_id         text COLLATE "C" NOT NULL,
    n                  bigint NOT NULL,
    id                 text COLLATE "C" NOT NULL,
    name               text COLLATE "C" NOT NULL,
    version            bigint NOT NULL,
    created_by_task_id text COLLATE "C" NOT NULL,
    last_task_id       text COLLATE "C" NOT NULL,
    created_at         instant NOT NULL,
    created_by         text COLLATE "C" NOT NULL,
    updated_at         instant NOT NULL,
    updated_by         text COLLATE "C" NOT NULL,
    related_molecules  text COLLATE "C" NOT NULL DEFAULT '[]',
    knowledge          text COLLATE "C" NOT NULL DEFAULT '',
    words              text COLLATE "C" NOT NULL,
    CONSTRAINT graph_molecules_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT graph_molecules_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT graph_molecules_number_is_unique UNIQUE (tenant_id, project_id, n),
    CONSTRAINT graph_molecules_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES graph_projects (tenant_id, project_id),
    CONSTRAINT graph_molecules_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT graph_molecules_knowledge_fits CHECK (octet_length(knowledge) <= 32768),
    CONSTRAINT graph_molecules_relations_fit CHECK (json_array_length(related_molecules::json) <= 50),
    CONSTRAINT graph_molecules_version_counts CHECK (version >= 1)
);

CREATE INDEX graph_molecules_by_name ON graph_molecules (tenant_id, project_id, name, id);

CREATE TABLE graph_atoms (
    tenant_id          text COLLATE "C" NOT NULL,
    project_id         text COLLATE "C" NOT NULL,
    n                  bigint NOT NULL,
    id                 text COLLATE "C" NOT NULL,
    molecule_id        text COLLATE "C",
    name               text COLLATE "C" NOT NULL,
    version            bigint NOT NULL,
    created_by_task_id text COLLATE "C" NOT NULL,
    last_task_id       text COLLATE "C" NOT NULL,
    created_at         instant NOT NULL,
    created_by         text COLLATE "C" NOT NULL,
    updated_at         instant NOT NULL,
    updated_by         text COLLATE "C" NOT NULL,
    patterns           bigint NOT NULL,
    patterns_rev       bigint NOT NULL,
    confirmed_commit   text COLLATE "C",
    confirmed_at       instant,
    paths              text COLLATE "C" NOT NULL,
    related_atoms      text COLLATE "C" NOT NULL DEFAULT '[]',
    knowledge          text COLLATE "C" NOT NULL DEFAULT '',
    words              text COLLATE "C" NOT NULL,
    CONSTRAINT graph_atoms_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT graph_atoms_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT graph_atoms_number_is_unique UNIQUE (tenant_id, project_id, n),
    CONSTRAINT graph_atoms_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES graph_projects (tenant_id, project_id),
    CONSTRAINT graph_atoms_share_the_project_of_their_molecule FOREIGN KEY (tenant_id, project_id, molecule_id)
        REFERENCES graph_molecules (tenant_id, project_id, id),
    CONSTRAINT graph_atoms_name_fits CHECK (length(name) BETWEEN 1 AND 255),
    CONSTRAINT graph_atoms_have_a_boundary CHECK (json_array_length(paths::json) BETWEEN 1 AND 20),
    CONSTRAINT graph_atoms_knowledge_fits CHECK (octet_length(knowledge) <= 32768),
    CONSTRAINT graph_atoms_relations_fit CHECK (json_array_length(related_atoms::json) <= 50),
    CONSTRAINT graph_atoms_version_counts CHECK (version >= 1),
    CONSTRAINT graph_atoms_confirmation_is_whole CHECK ((confirmed_commit IS NULL) = (confirmed_at IS NULL))
);

CREATE INDEX graph_atoms_by_name ON graph_atoms (tenant_id, project_id, name, id);
CREATE INDEX graph_atoms_by_molecule ON graph_atoms (tenant_id, project_id, molecule_id, name, id);
CREATE INDEX graph_atoms_by_change_of_patterns ON graph_atoms (tenant_id, project_id, patterns_rev);

-- Of two writers who read the same version one is refused, whatever the statement.
CREATE FUNCTION gp_refuse_version_step() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'version_step: %', TG_TABLE_NAME USING ERRCODE = 'GP001';
END
$$;

CREATE TRIGGER graph_molecules_version_moves_by_one
    BEFORE UPDATE ON graph_molecules
    FOR EACH ROW WHEN (NEW.version <> OLD.version + 1) EXECUTE FUNCTION gp_refuse_version_step();

CREATE TRIGGER graph_atoms_version_moves_by_one
    BEFORE UPDATE ON graph_atoms
    FOR EACH ROW WHEN (NEW.version <> OLD.version + 1) EXECUTE FUNCTION gp_refuse_version_step();

-- Entries are never edited. Those of a parent that was deleted stay behind where nobody looks: history is only ever added.
CREATE TABLE graph_changelog (
    tenant_id          text COLLATE "C" NOT NULL,
    project_id         text COLLATE "C" NOT NULL,
    id                 text COLLATE "C" NOT NULL,
    parent_type        text COLLATE "C" NOT NULL,
    parent_id          text COLLATE "C" NOT NULL,
    rev                bigint NOT NULL,
    task_id            text COLLATE "C" NOT NULL,
    created_at         instant NOT NULL,
    created_by         text COLLATE "C" NOT NULL,
    summary            text COLLATE "C" NOT NULL,
    CONSTRAINT graph_changelog_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT graph_changelog_is_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES graph_projects (tenant_id, project_id),
    CONSTRAINT graph_changelog_parent_is_known CHECK (parent_type IN ('atom', 'molecule')),
    CONSTRAINT graph_changelog_summary_fits CHECK (octet_length(summary) BETWEEN 1 AND 4096)
);

CREATE INDEX graph_changelog_by_parent
    ON graph_changelog (tenant_id, project_id, parent_type, parent_id, created_at DESC, rev DESC);
CREATE INDEX graph_changelog_by_task ON graph_changelog (tenant_id, project_id, task_id);

-- The parent is of one of two tables, which no foreign key can say.
CREATE FUNCTION gp_changelog_has_a_parent() RETURNS trigger
    LANGUAGE plpgsql SET search_path = groundplan, pg_temp
AS $$
BEGIN
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
                          AND id = NEW.parent_id)
    THEN
        RAISE EXCEPTION 'no_parent: %', TG_TABLE_NAME USING ERRCODE = 'GP001';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER graph_changelog_has_a_parent
    BEFORE INSERT ON graph_changelog
    FOR EACH ROW EXECUTE FUNCTION gp_changelog_has_a_parent();

-- What was deleted, and at which revision of the project's knowledge: patterns kept in memory are let go of by it, and a
-- request that is sent again finds its project.
CREATE TABLE graph_deleted (
    tenant_id          text COLLATE "C" NOT NULL,
    id                 text COLLATE "C" NOT NULL,
    project_id         text COLLATE "C" NOT NULL,
    entity_type        text COLLATE "C" NOT NULL,
    rev                bigint NOT NULL,
    CONSTRAINT graph_deleted_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT graph_deleted_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES graph_projects (tenant_id, project_id),
    CONSTRAINT graph_deleted_type_is_known CHECK (entity_type IN ('atom', 'molecule'))
);

CREATE INDEX graph_deleted_by_revision ON graph_deleted (tenant_id, project_id, rev);

-- How an atom compared with its files when somebody last looked. Not a part of the atom: looking changes no version.
CREATE TABLE graph_freshness (
    tenant_id          text COLLATE "C" NOT NULL,
    project_id         text COLLATE "C" NOT NULL,
    atom_id            text COLLATE "C" NOT NULL,
    state              text COLLATE "C" NOT NULL,
    commit_id          text COLLATE "C",
    checked_at         instant NOT NULL,
    files              text COLLATE "C" NOT NULL,
    CONSTRAINT graph_freshness_pkey PRIMARY KEY (tenant_id, project_id, atom_id),
    CONSTRAINT graph_freshness_is_of_an_atom FOREIGN KEY (tenant_id, project_id, atom_id)
        REFERENCES graph_atoms (tenant_id, project_id, id),
    CONSTRAINT graph_freshness_state_is_known CHECK (state IN ('fresh', 'changed', 'orphaned', 'unanchored'))
);
