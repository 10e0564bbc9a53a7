-- What is removed from the work graph is kept.

-- The summary and the description of each node that was merged into another, which are found and shown with that one.
CREATE TABLE work_merged_texts (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    id            {text} NOT NULL,
    node_n        {integer} NOT NULL,
    rev           {integer} NOT NULL,
    summary       {text} NOT NULL,
    description   {text},
    CONSTRAINT work_merged_texts_pkey PRIMARY KEY (tenant_id, project_id, id),
    CONSTRAINT work_merged_texts_are_of_a_node FOREIGN KEY (tenant_id, project_id, node_n)
        REFERENCES work_nodes (tenant_id, project_id, n),
    CONSTRAINT work_merged_texts_summary_fits CHECK ({bytes(summary)} BETWEEN 1 AND 4096),
    CONSTRAINT work_merged_texts_description_fits CHECK ({bytes(description)} <= 32768)
){strict_without_rowid};

CREATE INDEX work_merged_texts_by_node ON work_merged_texts (tenant_id, project_id, node_n, rev, id);

-- All that a removed node held, with which an undo brings it back. A node that is removed twice has two rows.
CREATE TABLE work_removed (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    id            {text} NOT NULL,
    rev           {integer} NOT NULL,
    content       {text} NOT NULL,
    CONSTRAINT work_removed_pkey PRIMARY KEY (tenant_id, project_id, id, rev),
    CONSTRAINT work_removed_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES work_projects (tenant_id, project_id)
){strict_without_rowid};

-- Which write took back which: an undo, or a redo of one. `origin_rev` is the write that somebody made by themselves.
CREATE TABLE write_undos (
    tenant_id     {text} NOT NULL,
    project_id    {text} NOT NULL,
    rev           {integer} NOT NULL,
    undone_rev    {integer} NOT NULL,
    origin_rev    {integer} NOT NULL,
    is_redo       {boolean} NOT NULL
        CONSTRAINT write_undos_is_redo_is_a_fact CHECK (is_redo IN (false, true)),
    CONSTRAINT write_undos_pkey PRIMARY KEY (tenant_id, project_id, origin_rev, rev),
    CONSTRAINT write_undos_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT write_undos_look_back CHECK (origin_rev <= undone_rev AND undone_rev < rev)
){strict_without_rowid};

CREATE UNIQUE INDEX write_undos_by_write ON write_undos (tenant_id, project_id, rev);
