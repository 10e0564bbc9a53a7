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
