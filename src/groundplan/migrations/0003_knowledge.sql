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
