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
