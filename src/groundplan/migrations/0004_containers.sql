-- The container dialect of the work graph: projects, features and tasks with statuses, sections, tags and templates.
-- Its rows are those of the graph dialect; what is new is what the graph had no word for.

-- A status is kept only where nothing else tells it: a resolved node is closed or dropped, and an open one that has none
-- is new, or active while somebody's claim holds. `feature_n` is the nearest feature above a node. A hold is somebody's
-- word that a node must wait, and its reason.
ALTER TABLE work_nodes ADD COLUMN status {text} CONSTRAINT work_nodes_status_is_of_the_begun CHECK (
    status IS NULL
    OR (NOT resolved AND parent_n IS NOT NULL AND length(status) BETWEEN 1 AND 40
        AND status NOT IN ('NEW', 'CLOSED', 'WILL_NOT_IMPLEMENT'))
);
ALTER TABLE work_nodes ADD COLUMN feature_n {integer} CONSTRAINT work_nodes_are_not_their_own_feature CHECK (feature_n <> n);
ALTER TABLE work_nodes ADD COLUMN held_reason {text} CONSTRAINT work_nodes_hold_has_a_reason CHECK (
    held_reason IS NULL OR (parent_n IS NOT NULL AND {bytes(held_reason)} BETWEEN 1 AND 4096)
);
-- Why whoever said so let it wait for others; nothing follows from it.
ALTER TABLE work_nodes ADD COLUMN blocked_reason {text} CONSTRAINT work_nodes_reason_fits CHECK (
    {bytes(blocked_reason)} <= 4096
);
-- 1 to 10; one that was not given ranks behind all of them, as 11.
ALTER TABLE work_nodes ADD COLUMN complexity {integer} NOT NULL DEFAULT 11
    CONSTRAINT work_nodes_complexity_ranks CHECK (complexity BETWEEN 1 AND 11);
ALTER TABLE work_nodes ADD COLUMN updated_by {text} NOT NULL DEFAULT '';

UPDATE work_nodes
   SET updated_by = coalesce(
           (SELECT e.actor_id
              FROM events AS e
             WHERE e.tenant_id = work_nodes.tenant_id
               AND e.project_id = work_nodes.project_id
               AND e.subject = work_nodes.id
             ORDER BY e.rev DESC, e.n DESC
             LIMIT 1),
           created_by
       );

-- A held node and what is past being worked on cannot be started, and a feature never: its tasks can.
DROP INDEX work_nodes_ready;
ALTER TABLE work_nodes DROP COLUMN is_ready;
ALTER TABLE work_nodes DROP COLUMN is_blocked;
ALTER TABLE work_nodes ADD COLUMN is_ready {boolean} NOT NULL GENERATED ALWAYS AS (
    NOT resolved AND open_children = 0 AND open_deps = 0 AND blocked_above = 0 AND held_reason IS NULL
    AND parent_n IS NOT NULL AND kind IS DISTINCT FROM 'feature' AND (status IS NULL OR status = 'ACTIVE')
) {stored_or_virtual};
ALTER TABLE work_nodes ADD COLUMN is_blocked {boolean} NOT NULL GENERATED ALWAYS AS (
    NOT resolved AND (open_deps > 0 OR blocked_above > 0 OR held_reason IS NOT NULL)
) {stored_or_virtual};

CREATE INDEX work_nodes_ready ON work_nodes (tenant_id, project_id, priority DESC, depth DESC, changed_rev, n)
 WHERE is_ready AND claimed_by IS NULL;

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

-- The steps that a project's tasks and features take, where they are not the usual ones; and how many tasks there are.
ALTER TABLE work_projects ADD COLUMN pipelines {text};
ALTER TABLE work_projects ADD COLUMN features {integer} NOT NULL DEFAULT 0;
ALTER TABLE work_projects ADD COLUMN tasks {integer} NOT NULL DEFAULT 0;
UPDATE work_projects SET tasks = total - 1;
ALTER TABLE work_projects ADD COLUMN tasks_closed {integer} NOT NULL DEFAULT 0;
ALTER TABLE work_projects ADD COLUMN tasks_dropped {integer} NOT NULL DEFAULT 0
    CONSTRAINT work_projects_tasks_add_up CHECK (
        features >= 0 AND tasks_closed >= 0 AND tasks_dropped >= 0 AND tasks_closed + tasks_dropped <= tasks
        AND tasks + features + 1 = total
    );

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

-- Those that are done already.
UPDATE work_projects
   SET tasks_dropped = (SELECT count(*)
                          FROM work_nodes AS c
                         WHERE c.tenant_id = work_projects.tenant_id
                           AND c.project_id = work_projects.project_id
                           AND c.n <> 1
                           AND c.outcome IS NOT NULL),
       tasks_closed = (SELECT count(*)
                         FROM work_nodes AS c
                        WHERE c.tenant_id = work_projects.tenant_id
                          AND c.project_id = work_projects.project_id
                          AND c.n <> 1
                          AND c.resolved
                          AND c.outcome IS NULL);

-- A property called complexity ranks from now on, where it is a whole number from 1 to 10.
UPDATE work_nodes
   -- only: postgres
   SET complexity = (properties::json ->> 'complexity')::bigint
 WHERE properties::json ->> 'complexity' ~ '^([1-9]|10)$'
   AND json_typeof(properties::json -> 'complexity') = 'number';
   -- end
   -- only: sqlite
   SET complexity = json_extract(properties, '$.complexity')
 WHERE json_type(properties, '$.complexity') = 'integer'
   AND json_extract(properties, '$.complexity') BETWEEN 1 AND 10;
   -- end

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
