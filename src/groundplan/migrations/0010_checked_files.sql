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
