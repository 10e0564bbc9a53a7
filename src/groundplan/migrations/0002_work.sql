-- The work graph: what there is to do, what waits for what, and what is ready now.
-- Inside a project a node is known by its number `n`, counted in the order of creation. Keys of numbers lie together on
-- disk, and a reference that carries the project cannot lead out of it. `id` is the name that callers use.

-- only: postgres
-- The elements of a JSON array, under the name that SQLite's json_each gives them.
CREATE FUNCTION gp_each(elements text) RETURNS TABLE (value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT json_array_elements_text(elements::json) AS value
$$;
-- end

-- History is asked for by subject.
CREATE INDEX events_by_subject ON events (tenant_id, project_id, subject, rev, n);

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
    is_ready      {boolean} NOT NULL GENERATED ALWAYS AS (
        NOT resolved AND open_children = 0 AND open_deps = 0 AND blocked_above = 0 AND parent_n IS NOT NULL
    ) {stored_or_virtual},
    is_blocked    {boolean} NOT NULL GENERATED ALWAYS AS (
        NOT resolved AND (open_deps > 0 OR blocked_above > 0)
    ) {stored_or_virtual},
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

-- Projects that were made before there was work get their root now.
INSERT INTO work_projects (tenant_id, project_id, number, last_n, total, resolved, blocked, actionable)
SELECT tenant_id, id, row_number() OVER (ORDER BY tenant_id, id), 1, 1, 0, 0, 0
  FROM projects;

INSERT INTO work_nodes (tenant_id, project_id, n, id, kind, rev, summary, resolved, properties, context_links,
                        created_at, created_by, updated_at, changed_rev, priority, depth, open_children, open_deps, blocked_above,
                        claim_number)
SELECT tenant_id, id, 1, id, 'project', 1, coalesce(nullif(goal, ''), name), false, '{}', '[]',
       created_at, created_by, created_at, rev,
       -- only: postgres
       '-infinity',
       -- end
       -- only: sqlite
       -9e999,
       -- end
       0, 0, 0, 0, 0
  FROM projects;

-- only: sqlite
INSERT INTO work_text (rowid, summary)
SELECT w.number * 4294967296 + c.n, lower(c.summary)
  FROM work_projects AS w
  JOIN work_nodes AS c
    ON c.tenant_id = w.tenant_id
   AND c.project_id = w.project_id;
-- end

INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes)
SELECT p.tenant_id, p.id, p.rev,
       (SELECT coalesce(max(e.n) + 1, 0)
          FROM events AS e
         WHERE e.tenant_id = p.tenant_id
           AND e.project_id = p.id
           AND e.rev = p.rev),
       1, p.updated_at, p.created_by, 'work.created', p.id,
       -- only: postgres
       json_build_array(
           json_build_object('field', 'summary', 'before', NULL, 'after', coalesce(nullif(p.goal, ''), p.name))
       )::text
       -- end
       -- only: sqlite
       json_array(json_object('field', 'summary', 'before', NULL, 'after', coalesce(nullif(p.goal, ''), p.name)))
       -- end
  FROM projects AS p;
