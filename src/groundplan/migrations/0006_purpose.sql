-- Purpose: why the work is done. A version holds nodes, edges, assumptions and indicators while it is a draft, is
-- published once, behind its gates, and never changes afterwards, nor does anything below it (guards see to that).
-- What is observed later (measurements, reviews, waivers, decisions) lies beside the versions, by stable keys.

CREATE TABLE toc_versions (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    id              {text} NOT NULL,
    version_number  {integer} NOT NULL,
    status          {text} NOT NULL,
    label           {text} NOT NULL,
    source_number   {integer},
    profile         {text} NOT NULL,
    rev             {integer} NOT NULL,
    created_at      {instant} NOT NULL,
    created_by      {text} NOT NULL,
    sole_writer     {text},
    updated_at      {instant} NOT NULL,
    content_hash    {text},
    context_run_id  {text},
    gates           {text},
    outside         {text},
    published_at    {instant},
    published_by    {text},
    published_rev   {integer},
    CONSTRAINT toc_versions_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT toc_versions_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT toc_versions_number_is_unique UNIQUE (tenant_id, project_id, version_number),
    CONSTRAINT toc_versions_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_versions_come_from_a_version FOREIGN KEY (tenant_id, project_id, source_number)
        REFERENCES toc_versions (tenant_id, project_id, version_number),
    CONSTRAINT toc_versions_stand_on_a_run FOREIGN KEY (tenant_id, project_id, context_run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT toc_versions_status_is_known CHECK (status IN ('DRAFT', 'PUBLISHED')),
    CONSTRAINT toc_versions_profile_is_known CHECK (profile IN ('standard', 'strict', 'light')),
    CONSTRAINT toc_versions_number_starts_at_one CHECK (version_number >= 1),
    CONSTRAINT toc_versions_source_is_earlier CHECK (source_number < version_number),
    CONSTRAINT toc_versions_rev_starts_at_one CHECK (rev >= 1),
    CONSTRAINT toc_versions_label_tells_drafts CHECK (
        (status = 'DRAFT') = (label = 'draft') AND length(label) BETWEEN 1 AND 255
    ),
    -- A status that is changed alone publishes nothing.
    CONSTRAINT toc_versions_are_published_whole CHECK (
        (status = 'DRAFT') = (published_at IS NULL)
        AND (status = 'DRAFT') = (published_by IS NULL)
        AND (status = 'DRAFT') = (published_rev IS NULL)
        AND (status = 'DRAFT') = (content_hash IS NULL)
        AND (status = 'DRAFT') = (gates IS NULL)
        AND (status = 'DRAFT') = (outside IS NULL)
        AND (status = 'PUBLISHED' OR context_run_id IS NULL)
    ),
    CONSTRAINT toc_versions_passed_their_gate CHECK (
        status = 'DRAFT'
        OR coalesce(
            -- only: postgres
            (gates::json -> 0 ->> 'gate') = 'A'
            AND (gates::json -> 0 ->> 'passed') = 'true'
            AND (gates::json -> 0 ->> 'content_hash') = content_hash
            -- end
            -- only: sqlite
            json_extract(gates, '$[0].gate') = 'A'
            AND json_type(gates, '$[0].passed') = 'true'
            AND json_extract(gates, '$[0].content_hash') = content_hash
            -- end
            AND length(content_hash) = 64,
            false
        )
    )
){strict_without_rowid};

CREATE UNIQUE INDEX toc_versions_one_draft_a_project ON toc_versions (tenant_id, project_id) WHERE status = 'DRAFT';
CREATE INDEX toc_versions_by_run ON toc_versions (tenant_id, context_run_id, version_number)
    WHERE context_run_id IS NOT NULL;

-- How far the keys of a project have been given out, and the revisions of discarded drafts (REV). None is given twice,
-- not even when what had it is gone.
CREATE TABLE toc_keys (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    prefix          {text} NOT NULL,
    last_number     {integer} NOT NULL,
    CONSTRAINT toc_keys_pkey PRIMARY KEY (tenant_id, project_id, prefix),
    CONSTRAINT toc_keys_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_keys_prefix_is_known CHECK (prefix IN ('G', 'OC', 'OP', 'AC', 'AS', 'IN', 'REV')),
    CONSTRAINT toc_keys_count_up CHECK (last_number >= 1)
){strict_without_rowid};

-- What lies below a version has the version in front of its key, so that one is read from one place.
CREATE TABLE toc_nodes (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    toc_version_id  {text} NOT NULL,
    id              {text} NOT NULL,
    key             {text} NOT NULL,
    node_type       {text} NOT NULL,
    title           {text} NOT NULL,
    description     {text},
    narrative       {text},
    owner           {text},
    metadata        {text} NOT NULL,
    CONSTRAINT toc_nodes_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_nodes_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_nodes_key_is_unique UNIQUE (tenant_id, toc_version_id, key),
    CONSTRAINT toc_nodes_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_nodes_type_is_known CHECK (node_type IN ('GOAL', 'OUTCOME', 'OUTPUT', 'ACTIVITY')),
    CONSTRAINT toc_nodes_key_is_well_formed CHECK (
        -- only: postgres
        key ~ '^(G|OC|OP|AC)[1-9][0-9]*$'
        -- end
        -- only: sqlite
        rtrim(key, '0123456789') IN ('G', 'OC', 'OP', 'AC') AND ltrim(key, 'GOCPA') GLOB '[1-9]*'
        -- end
    ),
    CONSTRAINT toc_nodes_fit CHECK (
        length(title) <= 500
        AND {bytes(description)} <= 16384
        AND {bytes(narrative)} <= 16384
        AND length(owner) <= 255
        AND {bytes(metadata)} <= 16384
    ),
    CONSTRAINT toc_nodes_metadata_is_an_object CHECK ({json_type(metadata)} = 'object')
){strict_without_rowid};

CREATE TABLE toc_edges (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    toc_version_id  {text} NOT NULL,
    id              {text} NOT NULL,
    source_node_id  {text} NOT NULL,
    target_node_id  {text} NOT NULL,
    edge_type       {text} NOT NULL DEFAULT 'CONTRIBUTES_TO',
    mechanism       {text},
    confidence      {text},
    CONSTRAINT toc_edges_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edges_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_edges_are_unique UNIQUE (tenant_id, toc_version_id, source_node_id, target_node_id, edge_type),
    CONSTRAINT toc_edges_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_edges_share_the_version_of_their_source FOREIGN KEY (tenant_id, toc_version_id, source_node_id)
        REFERENCES toc_nodes (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edges_share_the_version_of_their_target FOREIGN KEY (tenant_id, toc_version_id, target_node_id)
        REFERENCES toc_nodes (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edges_not_to_self CHECK (source_node_id <> target_node_id),
    CONSTRAINT toc_edges_type_is_known CHECK (edge_type IN ('CONTRIBUTES_TO', 'CAUSES', 'DEPENDS_ON', 'FEEDBACK')),
    CONSTRAINT toc_edges_confidence_is_known CHECK (confidence IN ('low', 'medium', 'high')),
    CONSTRAINT toc_edges_fit CHECK ({bytes(mechanism)} <= 4096)
){strict_without_rowid};

CREATE INDEX toc_edges_by_target ON toc_edges (tenant_id, toc_version_id, target_node_id);

-- An assumption is of a node or of an edge: two tables, so that none can be of both, or of nothing.
CREATE TABLE toc_assumptions (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    toc_version_id  {text} NOT NULL,
    id              {text} NOT NULL,
    key             {text} NOT NULL,
    node_id         {text} NOT NULL,
    assumption_text {text} NOT NULL,
    risk_level      {text},
    owner           {text},
    review_by       {text},
    CONSTRAINT toc_assumptions_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_assumptions_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_assumptions_key_is_unique UNIQUE (tenant_id, toc_version_id, key),
    CONSTRAINT toc_assumptions_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_assumptions_share_the_version_of_their_node FOREIGN KEY (tenant_id, toc_version_id, node_id)
        REFERENCES toc_nodes (tenant_id, toc_version_id, id),
    CONSTRAINT toc_assumptions_key_is_well_formed CHECK ({is_key(key, AS)}),
    CONSTRAINT toc_assumptions_risk_is_known CHECK (risk_level IN ('LOW', 'MEDIUM', 'HIGH')),
    CONSTRAINT toc_assumptions_review_is_a_date CHECK ({is_date(review_by)}),
    CONSTRAINT toc_assumptions_fit CHECK (
        {bytes(assumption_text)} BETWEEN 1 AND 4096 AND length(owner) <= 255
    )
){strict_without_rowid};

CREATE INDEX toc_assumptions_by_node ON toc_assumptions (tenant_id, toc_version_id, node_id);

CREATE TABLE toc_edge_assumptions (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    toc_version_id  {text} NOT NULL,
    id              {text} NOT NULL,
    key             {text} NOT NULL,
    edge_id         {text} NOT NULL,
    assumption_text {text} NOT NULL,
    risk_level      {text},
    owner           {text},
    review_by       {text},
    CONSTRAINT toc_edge_assumptions_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edge_assumptions_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_edge_assumptions_key_is_unique UNIQUE (tenant_id, toc_version_id, key),
    CONSTRAINT toc_edge_assumptions_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_edge_assumptions_share_the_version_of_their_edge FOREIGN KEY (tenant_id, toc_version_id, edge_id)
        REFERENCES toc_edges (tenant_id, toc_version_id, id),
    CONSTRAINT toc_edge_assumptions_key_is_well_formed CHECK ({is_key(key, AS)}),
    CONSTRAINT toc_edge_assumptions_risk_is_known CHECK (risk_level IN ('LOW', 'MEDIUM', 'HIGH')),
    CONSTRAINT toc_edge_assumptions_review_is_a_date CHECK ({is_date(review_by)}),
    CONSTRAINT toc_edge_assumptions_fit CHECK (
        {bytes(assumption_text)} BETWEEN 1 AND 4096 AND length(owner) <= 255
    )
){strict_without_rowid};

CREATE INDEX toc_edge_assumptions_by_edge ON toc_edge_assumptions (tenant_id, toc_version_id, edge_id);

CREATE TABLE toc_indicators (
    tenant_id         {text} NOT NULL,
    project_id        {text} NOT NULL,
    toc_version_id    {text} NOT NULL,
    id                {text} NOT NULL,
    key               {text} NOT NULL,
    node_id           {text} NOT NULL,
    name              {text} NOT NULL,
    unit              {text},
    direction         {text},
    baseline          {double},
    baseline_verified {boolean},
    target            {double},
    method            {text},
    frequency         {text},
    owner             {text},
    CONSTRAINT toc_indicators_pkey PRIMARY KEY (tenant_id, toc_version_id, id),
    CONSTRAINT toc_indicators_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT toc_indicators_key_is_unique UNIQUE (tenant_id, toc_version_id, key),
    CONSTRAINT toc_indicators_are_of_a_version FOREIGN KEY (tenant_id, project_id, toc_version_id)
        REFERENCES toc_versions (tenant_id, project_id, id),
    CONSTRAINT toc_indicators_share_the_version_of_their_node FOREIGN KEY (tenant_id, toc_version_id, node_id)
        REFERENCES toc_nodes (tenant_id, toc_version_id, id),
    CONSTRAINT toc_indicators_key_is_well_formed CHECK ({is_key(key, IN)}),
    CONSTRAINT toc_indicators_direction_is_known CHECK (direction IN ('increase', 'decrease')),
    CONSTRAINT toc_indicators_verified_is_yes_or_no CHECK (baseline_verified IN (false, true)),
    -- Neither infinite nor, which PostgreSQL sorts above everything, no number at all.
    CONSTRAINT toc_indicators_numbers_are_finite CHECK (
        baseline BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
        AND target BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    CONSTRAINT toc_indicators_fit CHECK (
        length(name) BETWEEN 1 AND 500
        AND length(unit) <= 255
        AND {bytes(method)} <= 4096
        AND length(frequency) <= 255
        AND length(owner) <= 255
    )
){strict_without_rowid};

CREATE INDEX toc_indicators_by_node ON toc_indicators (tenant_id, toc_version_id, node_id);

-- Observations: of the write that made them (rev) and in its order (n), so that "as it was then" is exact.
CREATE TABLE toc_measurements (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    indicator_key   {text} NOT NULL,
    value           {double} NOT NULL,
    as_of           {text} NOT NULL,
    as_of_until     {instant} NOT NULL,
    source          {text},
    note            {text},
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_measurements_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_measurements_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_measurements_value_is_finite CHECK (
        value BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    CONSTRAINT toc_measurements_are_of_a_moment CHECK (
        -- only: postgres
        as_of ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}'
        -- end
        -- only: sqlite
        as_of GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
        -- end
    ),
    CONSTRAINT toc_measurements_fit CHECK ({bytes(source)} <= 4096 AND {bytes(note)} <= 4096)
){strict_without_rowid};

-- A day counts as its end, so that the newest measurement is the last of this index.
CREATE INDEX toc_measurements_by_indicator
    ON toc_measurements (tenant_id, project_id, indicator_key, as_of_until, rev, n);

CREATE TABLE toc_assumption_reviews (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    assumption_key  {text} NOT NULL,
    status          {text} NOT NULL,
    reason          {text} NOT NULL,
    evidence        {text},
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_assumption_reviews_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_assumption_reviews_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_assumption_reviews_status_is_known CHECK (
        status IN ('untested', 'holding', 'at_risk', 'refuted')
    ),
    CONSTRAINT toc_assumption_reviews_fit CHECK (
        {bytes(reason)} BETWEEN 1 AND 4096 AND {bytes(evidence)} <= 4096
    )
){strict_without_rowid};

CREATE INDEX toc_assumption_reviews_by_assumption
    ON toc_assumption_reviews (tenant_id, project_id, assumption_key, rev, n);

CREATE TABLE toc_waivers (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    code            {text} NOT NULL,
    refs            {text} NOT NULL,
    reason          {text} NOT NULL,
    owner           {text} NOT NULL,
    due             {text} NOT NULL,
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_waivers_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_waivers_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_waivers_refs_are_a_list CHECK ({json_type(refs)} = 'array' AND {bytes(refs)} <= 16384),
    CONSTRAINT toc_waivers_due_is_a_date CHECK ({is_date(due)}),
    CONSTRAINT toc_waivers_fit CHECK (
        length(code) BETWEEN 1 AND 64 AND {bytes(reason)} BETWEEN 1 AND 4096 AND length(owner) BETWEEN 1 AND 255
    )
){strict_without_rowid};

CREATE TABLE toc_decisions (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    text            {text} NOT NULL,
    rationale       {text} NOT NULL,
    about           {text} NOT NULL,
    outcome         {text},
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_decisions_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_decisions_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_decisions_about_is_a_list CHECK (
        {json_type(about)} = 'array' AND {bytes(about)} <= 16384
    ),
    CONSTRAINT toc_decisions_fit CHECK (
        {bytes(text)} BETWEEN 1 AND 4096
        AND {bytes(rationale)} BETWEEN 1 AND 4096
        AND {bytes(outcome)} <= 4096
    )
){strict_without_rowid};

REFUSE rev_step AS toc_versions_rev_moves_by_one
BEFORE UPDATE ON toc_versions
WHEN NEW.rev <> OLD.rev + 1;

-- A version that is born published would never have been before its gates.
REFUSE not_a_draft AS toc_versions_begin_as_drafts
BEFORE INSERT ON toc_versions
WHEN NEW.status <> 'DRAFT';

-- Numbers run 1, 2, 3. The only version that can go is the draft, which always has the last one. Looked at afterwards:
-- on SQLite a draft that is put in the place of another one (REPLACE) would count that one as well.
REFUSE version_gap AS toc_versions_number_has_no_gap
AFTER INSERT ON toc_versions
IF NEW.version_number <> (SELECT count(*)
                            FROM toc_versions
                           WHERE tenant_id = NEW.tenant_id
                             AND project_id = NEW.project_id);

REFUSE version_gap AS toc_versions_number_stays
BEFORE UPDATE ON toc_versions
WHEN NEW.version_number <> OLD.version_number OR NEW.project_id <> OLD.project_id OR NEW.tenant_id <> OLD.tenant_id;

-- A key is given once, so a count grows, and stays where it counts.
REFUSE key_reused AS toc_keys_only_grow
BEFORE UPDATE ON toc_keys
WHEN NEW.last_number <= OLD.last_number
  OR NEW.prefix <> OLD.prefix OR NEW.project_id <> OLD.project_id OR NEW.tenant_id <> OLD.tenant_id;

-- only: sqlite
-- Nor does the count begin again: REPLACE would delete the row first. On PostgreSQL there is no REPLACE, and the app
-- role has no right to delete these rows.
REFUSE key_reused AS toc_keys_are_never_deleted
BEFORE DELETE ON toc_keys;
-- end

REFUSE key_reused AS toc_assumptions_key_is_of_no_edge_assumption
BEFORE INSERT OR UPDATE OF tenant_id, toc_version_id, key ON toc_assumptions
IF EXISTS (SELECT 1
             FROM toc_edge_assumptions
            WHERE tenant_id = NEW.tenant_id
              AND toc_version_id = NEW.toc_version_id
              AND key = NEW.key);

REFUSE key_reused AS toc_edge_assumptions_key_is_of_no_node_assumption
BEFORE INSERT OR UPDATE OF tenant_id, toc_version_id, key ON toc_edge_assumptions
IF EXISTS (SELECT 1
             FROM toc_assumptions
            WHERE tenant_id = NEW.tenant_id
              AND toc_version_id = NEW.toc_version_id
              AND key = NEW.key);

-- An observation belongs to the write that is going on: what was known when a version was published stays known.
REFUSE rev_step AS *_are_of_this_write
BEFORE INSERT ON toc_measurements, toc_assumption_reviews, toc_waivers, toc_decisions
IF NEW.rev IS DISTINCT FROM (SELECT rev FROM projects WHERE tenant_id = NEW.tenant_id AND id = NEW.project_id);

-- A run that a published version stands on stays in view, and none that is out of view can be stood on.
REFUSE run_bound AS pciv_deleted_runs_are_stood_on_by_nothing
BEFORE INSERT ON pciv_deleted_runs
IF EXISTS (SELECT 1
             FROM toc_versions
            WHERE tenant_id = NEW.tenant_id
              AND project_id = NEW.project_id
              AND context_run_id = NEW.run_id);

REFUSE run_not_final AS toc_versions_stand_on_final_facts
BEFORE UPDATE OF context_run_id ON toc_versions
WHEN NEW.context_run_id IS NOT NULL
IF NOT EXISTS (SELECT 1
                 FROM pciv_runs
                WHERE tenant_id = NEW.tenant_id
                  AND id = NEW.context_run_id
                  AND status <> 'draft')
   OR EXISTS (SELECT 1
                FROM pciv_deleted_runs
               WHERE tenant_id = NEW.tenant_id
                 AND project_id = NEW.project_id
                 AND run_id = NEW.context_run_id);
