-- Context: which facts the plan stands on. A run holds sources, inputs and constraints while it is a draft, is
-- committed once, wholly or in part, and never changes afterwards, nor does anything below it (guards see to that).

CREATE TABLE pciv_runs (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    id               {text} NOT NULL,
    user_id          {text},
    status           {text} NOT NULL,
    allow_partial    {boolean} NOT NULL,
    committed_at     {instant},
    created_at       {instant} NOT NULL,
    created_by       {text} NOT NULL,
    sole_writer      {text},
    updated_at       {instant} NOT NULL,
    rev              {integer} NOT NULL,
    committed_by     {text},
    committer_kind   {text},
    replaced_run_id  {text},
    CONSTRAINT pciv_runs_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT pciv_runs_can_be_named_by_project UNIQUE (tenant_id, project_id, id),
    CONSTRAINT pciv_runs_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT pciv_runs_status_is_known CHECK (status IN ('draft', 'committed', 'partial_committed')),
    CONSTRAINT pciv_runs_are_committed_at_a_moment CHECK ((committed_at IS NULL) = (status = 'draft')),
    CONSTRAINT pciv_runs_are_partial_by_permission CHECK (allow_partial = (status = 'partial_committed')),
    CONSTRAINT pciv_runs_rev_starts_at_one CHECK (rev >= 1),
    CONSTRAINT pciv_runs_are_committed_by_somebody CHECK (
        (committed_by IS NULL) = (status = 'draft') AND (committer_kind IS NULL) = (status = 'draft')
    ),
    CONSTRAINT pciv_runs_committer_is_known CHECK (committer_kind IN ('user', 'model', 'system')),
    -- The run that was in force until this one was committed.
    CONSTRAINT pciv_runs_replace_a_run_of_their_project FOREIGN KEY (tenant_id, project_id, replaced_run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id)
){strict_without_rowid};

-- The run in force is the first of these.
CREATE INDEX pciv_runs_by_commit ON pciv_runs (tenant_id, project_id, committed_at DESC, updated_at DESC, id)
 WHERE status <> 'draft';
CREATE INDEX pciv_runs_by_creation ON pciv_runs (tenant_id, project_id, created_at DESC, id);

-- A committed run cannot go, so it is taken out of view: whoever looks for a run looks here too. A draft that was
-- removed is named here as well, for a request that is sent again must find its project.
CREATE TABLE pciv_deleted_runs (
    tenant_id        {text} NOT NULL,
    run_id           {text} NOT NULL,
    project_id       {text} NOT NULL,
    deleted_at       {instant} NOT NULL,
    deleted_by       {text} NOT NULL,
    deleter_kind     {text} NOT NULL,
    CONSTRAINT pciv_deleted_runs_deleter_is_known CHECK (deleter_kind IN ('user', 'model', 'system')),
    CONSTRAINT pciv_deleted_runs_pkey PRIMARY KEY (tenant_id, project_id, run_id),
    CONSTRAINT pciv_deleted_runs_are_of_a_project FOREIGN KEY (tenant_id, project_id)
        REFERENCES projects (tenant_id, id)
){strict_without_rowid};

CREATE INDEX pciv_deleted_runs_by_run ON pciv_deleted_runs (tenant_id, run_id);

-- What lies below a run has the run in front of its key, so that a view is read from one place.
CREATE TABLE pciv_sources (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    kind             {text} NOT NULL,
    title            {text} NOT NULL,
    uri              {text} NOT NULL,
    file_id          {text},
    mime_type        {text},
    size_bytes       {integer},
    parse_status     {text} NOT NULL,
    excerpt          {text},
    raw_meta         {text} NOT NULL,
    created_at       {instant} NOT NULL,
    CONSTRAINT pciv_sources_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_sources_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_sources_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_sources_kind_is_known CHECK (kind IN ('file', 'url', 'gis', 'api', 'manual')),
    CONSTRAINT pciv_sources_parse_status_is_known CHECK (
        parse_status IN ('pending', 'parsed', 'failed', 'unsupported')
    ),
    CONSTRAINT pciv_sources_size_counts CHECK (size_bytes >= 0),
    CONSTRAINT pciv_sources_are_named CHECK (
        {bytes(title)} BETWEEN 1 AND 1024 AND {bytes(uri)} BETWEEN 1 AND 4096
    ),
    CONSTRAINT pciv_sources_fit CHECK (
        {bytes(mime_type)} <= 255 AND {bytes(excerpt)} <= 16384 AND {bytes(raw_meta)} <= 16384
    ),
    CONSTRAINT pciv_sources_meta_is_an_object CHECK ({json_type(raw_meta)} = 'object')
){strict_without_rowid};

CREATE TABLE pciv_inputs (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    pointer          {text} NOT NULL,
    label            {text} NOT NULL,
    domain           {text} NOT NULL,
    required         {boolean} NOT NULL,
    field_type       {text} NOT NULL,
    options          {text},
    value_kind       {text} NOT NULL,
    value_string     {text},
    value_number     {double},
    value_boolean    {boolean},
    value_enum       {text},
    value_json       {text},
    provenance       {text} NOT NULL,
    updated_by       {text} NOT NULL,
    updated_at       {instant} NOT NULL,
    evidence_snippet {text},
    CONSTRAINT pciv_inputs_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_inputs_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_inputs_pointer_is_unique UNIQUE (tenant_id, run_id, pointer),
    CONSTRAINT pciv_inputs_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_inputs_pointer_begins_with_a_slash CHECK (
        substr(pointer, 1, 1) = '/' AND length(pointer) <= 1024
    ),
    CONSTRAINT pciv_inputs_are_named CHECK (
        {bytes(label)} BETWEEN 1 AND 1024
        AND length(domain) BETWEEN 1 AND 255
        AND length(field_type) BETWEEN 1 AND 255
    ),
    CONSTRAINT pciv_inputs_required_is_yes_or_no CHECK (required IN (false, true)),
    CONSTRAINT pciv_inputs_options_are_a_list CHECK (
        {json_type(options)} = 'array' AND {bytes(options)} <= 8192
    ),
    CONSTRAINT pciv_inputs_updated_by_is_known CHECK (updated_by IN ('user', 'model', 'system')),
    CONSTRAINT pciv_inputs_evidence_fits CHECK ({bytes(evidence_snippet)} <= 8192),
    CONSTRAINT pciv_inputs_value_matches_kind CHECK (
        (value_string IS NULL OR value_kind = 'string')
        AND (value_number IS NULL OR value_kind = 'number')
        AND (value_boolean IS NULL OR (value_kind = 'boolean' AND value_boolean IN (false, true)))
        AND (value_enum IS NULL OR value_kind = 'enum')
        AND (value_json IS NULL OR value_kind = 'json')
    ),
    CONSTRAINT pciv_inputs_kind_is_known CHECK (value_kind IN ('string', 'number', 'boolean', 'enum', 'json')),
    CONSTRAINT pciv_inputs_unknown_has_no_value CHECK (
        provenance <> 'unknown'
        OR (value_string IS NULL AND value_number IS NULL AND value_boolean IS NULL AND value_enum IS NULL
            AND value_json IS NULL)
    ),
    CONSTRAINT pciv_inputs_provenance_is_known CHECK (
        provenance IN ('unknown', 'model-inferred', 'source-backed', 'user-entered')
    ),
    -- Neither infinite nor, which PostgreSQL sorts above everything, no number at all.
    CONSTRAINT pciv_inputs_number_is_finite CHECK (
        value_number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    -- JSON's null would be a second way to say that there is no value.
    CONSTRAINT pciv_inputs_json_is_a_value CHECK ({json_type(value_json)} <> 'null'),
    CONSTRAINT pciv_inputs_value_fits CHECK (
        {bytes(value_string)} <= 32768 AND {bytes(value_enum)} <= 1024 AND {bytes(value_json)} <= 32768
    )
){strict_without_rowid};

-- The project stands last: the check of SQLite 3.40 takes a column that alone is outside of the key, and before a column
-- of the key, for damaged.
CREATE TABLE pciv_input_sources (
    tenant_id        {text} NOT NULL,
    run_id           {text} NOT NULL,
    input_id         {text} NOT NULL,
    source_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    CONSTRAINT pciv_input_sources_pkey PRIMARY KEY (tenant_id, run_id, input_id, source_id),
    CONSTRAINT pciv_input_sources_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_input_sources_share_the_run_of_their_input FOREIGN KEY (tenant_id, run_id, input_id)
        REFERENCES pciv_inputs (tenant_id, run_id, id),
    CONSTRAINT pciv_input_sources_share_the_run_of_their_source FOREIGN KEY (tenant_id, run_id, source_id)
        REFERENCES pciv_sources (tenant_id, run_id, id)
){strict_without_rowid};

CREATE INDEX pciv_input_sources_by_source ON pciv_input_sources (tenant_id, run_id, source_id);

CREATE TABLE pciv_constraints (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    key              {text} NOT NULL,
    domain           {text} NOT NULL,
    label            {text} NOT NULL,
    value_kind       {text} NOT NULL,
    value_string     {text},
    value_number     {double},
    value_boolean    {boolean},
    value_enum       {text},
    value_json       {text},
    provenance       {text} NOT NULL,
    source_id        {text},
    snippet          {text},
    created_at       {instant} NOT NULL,
    updated_at       {instant} NOT NULL,
    CONSTRAINT pciv_constraints_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_constraints_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_constraints_key_is_unique UNIQUE (tenant_id, run_id, key),
    CONSTRAINT pciv_constraints_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_constraints_share_the_run_of_their_source FOREIGN KEY (tenant_id, run_id, source_id)
        REFERENCES pciv_sources (tenant_id, run_id, id),
    CONSTRAINT pciv_constraints_are_named CHECK (
        length(key) BETWEEN 1 AND 255 AND {bytes(label)} BETWEEN 1 AND 1024 AND length(domain) BETWEEN 1 AND 255
    ),
    CONSTRAINT pciv_constraints_snippet_fits CHECK ({bytes(snippet)} <= 8192),
    CONSTRAINT pciv_constraints_value_matches_kind CHECK (
        (value_string IS NULL OR value_kind = 'string')
        AND (value_number IS NULL OR value_kind = 'number')
        AND (value_boolean IS NULL OR (value_kind = 'boolean' AND value_boolean IN (false, true)))
        AND (value_enum IS NULL OR value_kind = 'enum')
        AND (value_json IS NULL OR value_kind = 'json')
    ),
    CONSTRAINT pciv_constraints_kind_is_known CHECK (value_kind IN ('string', 'number', 'boolean', 'enum', 'json')),
    CONSTRAINT pciv_constraints_unknown_has_no_value CHECK (
        provenance <> 'unknown'
        OR (value_string IS NULL AND value_number IS NULL AND value_boolean IS NULL AND value_enum IS NULL
            AND value_json IS NULL)
    ),
    CONSTRAINT pciv_constraints_provenance_is_known CHECK (
        provenance IN ('unknown', 'model-inferred', 'source-backed', 'user-entered')
    ),
    -- Neither infinite nor, which PostgreSQL sorts above everything, no number at all.
    CONSTRAINT pciv_constraints_number_is_finite CHECK (
        value_number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    -- JSON's null would be a second way to say that there is no value.
    CONSTRAINT pciv_constraints_json_is_a_value CHECK ({json_type(value_json)} <> 'null'),
    CONSTRAINT pciv_constraints_value_fits CHECK (
        {bytes(value_string)} <= 32768 AND {bytes(value_enum)} <= 1024 AND {bytes(value_json)} <= 32768
    )
){strict_without_rowid};

CREATE INDEX pciv_constraints_by_source ON pciv_constraints (tenant_id, run_id, source_id);

CREATE TABLE pciv_artifacts (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    type             {text} NOT NULL,
    title            {text} NOT NULL,
    payload          {text} NOT NULL,
    created_at       {instant} NOT NULL,
    CONSTRAINT pciv_artifacts_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_artifacts_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_artifacts_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_artifacts_are_named CHECK (
        length(type) BETWEEN 1 AND 255 AND {bytes(title)} BETWEEN 1 AND 1024
    ),
    CONSTRAINT pciv_artifacts_payload_is_an_object CHECK (
        {json_type(payload)} = 'object' AND {bytes(payload)} <= 65536
    )
){strict_without_rowid};

CREATE INDEX pciv_artifacts_by_type ON pciv_artifacts (tenant_id, run_id, type, created_at, id);

-- A value that was written onto one of higher provenance stays beside it until a person decides. It is of an input or
-- of a constraint, and a writer has one open on each: who thinks again replaces what they said before.
CREATE TABLE pciv_suggestions (
    tenant_id        {text} NOT NULL,
    project_id       {text} NOT NULL,
    run_id           {text} NOT NULL,
    id               {text} NOT NULL,
    input_id         {text},
    constraint_id    {text},
    value_kind       {text} NOT NULL,
    value_string     {text},
    value_number     {double},
    value_boolean    {boolean},
    value_enum       {text},
    value_json       {text},
    provenance       {text} NOT NULL,
    source_ids       {text} NOT NULL,
    snippet          {text},
    rationale        {text},
    created_at       {instant} NOT NULL,
    created_by       {text} NOT NULL,
    author_kind      {text} NOT NULL,
    status           {text} NOT NULL,
    decided_at       {instant},
    decided_by       {text},
    CONSTRAINT pciv_suggestions_pkey PRIMARY KEY (tenant_id, run_id, id),
    CONSTRAINT pciv_suggestions_id_is_unique UNIQUE (tenant_id, id),
    CONSTRAINT pciv_suggestions_are_of_a_run FOREIGN KEY (tenant_id, project_id, run_id)
        REFERENCES pciv_runs (tenant_id, project_id, id),
    CONSTRAINT pciv_suggestions_share_the_run_of_their_input FOREIGN KEY (tenant_id, run_id, input_id)
        REFERENCES pciv_inputs (tenant_id, run_id, id),
    CONSTRAINT pciv_suggestions_share_the_run_of_their_constraint FOREIGN KEY (tenant_id, run_id, constraint_id)
        REFERENCES pciv_constraints (tenant_id, run_id, id),
    CONSTRAINT pciv_suggestions_are_about_one_thing CHECK ((input_id IS NULL) <> (constraint_id IS NULL)),
    CONSTRAINT pciv_suggestions_sources_are_a_list CHECK ({json_type(source_ids)} = 'array'),
    CONSTRAINT pciv_suggestions_author_is_known CHECK (author_kind IN ('user', 'model', 'system')),
    CONSTRAINT pciv_suggestions_status_is_known CHECK (status IN ('pending', 'accepted', 'rejected')),
    CONSTRAINT pciv_suggestions_are_decided_at_a_moment CHECK (
        (status = 'pending') = (decided_at IS NULL) AND (decided_at IS NULL) = (decided_by IS NULL)
    ),
    CONSTRAINT pciv_suggestions_words_fit CHECK ({bytes(snippet)} <= 8192 AND {bytes(rationale)} <= 4096),
    CONSTRAINT pciv_suggestions_value_matches_kind CHECK (
        (value_string IS NULL OR value_kind = 'string')
        AND (value_number IS NULL OR value_kind = 'number')
        AND (value_boolean IS NULL OR (value_kind = 'boolean' AND value_boolean IN (false, true)))
        AND (value_enum IS NULL OR value_kind = 'enum')
        AND (value_json IS NULL OR value_kind = 'json')
    ),
    CONSTRAINT pciv_suggestions_kind_is_known CHECK (value_kind IN ('string', 'number', 'boolean', 'enum', 'json')),
    CONSTRAINT pciv_suggestions_unknown_has_no_value CHECK (
        provenance <> 'unknown'
        OR (value_string IS NULL AND value_number IS NULL AND value_boolean IS NULL AND value_enum IS NULL
            AND value_json IS NULL)
    ),
    CONSTRAINT pciv_suggestions_provenance_is_known CHECK (
        provenance IN ('unknown', 'model-inferred', 'source-backed', 'user-entered')
    ),
    -- Neither infinite nor, which PostgreSQL sorts above everything, no number at all.
    CONSTRAINT pciv_suggestions_number_is_finite CHECK (
        value_number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
    ),
    -- JSON's null would be a second way to say that there is no value.
    CONSTRAINT pciv_suggestions_json_is_a_value CHECK ({json_type(value_json)} <> 'null'),
    CONSTRAINT pciv_suggestions_value_fits CHECK (
        {bytes(value_string)} <= 32768 AND {bytes(value_enum)} <= 1024 AND {bytes(value_json)} <= 32768
    )
){strict_without_rowid};

CREATE UNIQUE INDEX pciv_suggestions_of_input_are_one_a_writer
    ON pciv_suggestions (tenant_id, run_id, input_id, created_by)
 WHERE status = 'pending' AND input_id IS NOT NULL;
CREATE UNIQUE INDEX pciv_suggestions_of_constraint_are_one_a_writer
    ON pciv_suggestions (tenant_id, run_id, constraint_id, created_by)
 WHERE status = 'pending' AND constraint_id IS NOT NULL;

REFUSE rev_step AS pciv_runs_rev_moves_by_one
BEFORE UPDATE ON pciv_runs
WHEN NEW.rev <> OLD.rev + 1;

-- A run that is born committed would never have been asked whether it may be.
REFUSE not_a_draft AS pciv_runs_begin_as_drafts
BEFORE INSERT ON pciv_runs
WHEN NEW.status <> 'draft';

REFUSE required_unset AS pciv_runs_commit_is_whole
BEFORE UPDATE OF status ON pciv_runs
WHEN NEW.status = 'committed'
IF EXISTS (SELECT 1
             FROM pciv_inputs
            WHERE tenant_id = NEW.tenant_id
              AND run_id = NEW.id
              AND required
              AND value_string IS NULL
              AND value_number IS NULL
              AND value_boolean IS NULL
              AND value_enum IS NULL
              AND value_json IS NULL);

-- What is said to have a source has one at the latest now. Without a value there is nothing to be backed.
REFUSE source_missing AS pciv_runs_commit_is_backed
BEFORE UPDATE OF status ON pciv_runs
WHEN NEW.status <> 'draft'
IF EXISTS (SELECT 1
             FROM pciv_inputs AS i
            WHERE i.tenant_id = NEW.tenant_id
              AND i.run_id = NEW.id
              AND i.provenance = 'source-backed'
              AND (coalesce(i.value_string, i.value_enum, i.value_json) IS NOT NULL
                   OR i.value_number IS NOT NULL OR i.value_boolean IS NOT NULL)
              AND NOT EXISTS (SELECT 1
                                FROM pciv_input_sources AS s
                               WHERE s.tenant_id = i.tenant_id
                                 AND s.run_id = i.run_id
                                 AND s.input_id = i.id))
   OR EXISTS (SELECT 1
                FROM pciv_constraints
               WHERE tenant_id = NEW.tenant_id
                 AND run_id = NEW.id
                 AND provenance = 'source-backed'
                 AND source_id IS NULL
                 AND (coalesce(value_string, value_enum, value_json) IS NOT NULL
                      OR value_number IS NOT NULL OR value_boolean IS NOT NULL));

-- What a person entered in one run, and another run of the same project has with another value, does not have, or no
-- longer requires. A value that a person wrote later takes the place of the earlier one and displaces nothing.
-- only: postgres
CREATE VIEW pciv_displaced WITH (security_invoker = true) AS
-- end
-- only: sqlite
CREATE VIEW pciv_displaced AS
-- end
SELECT *
  FROM (SELECT p.tenant_id, p.run_id AS before_run_id, r.id AS run_id, p.pointer, NULL AS key, p.value_kind,
               p.value_string, p.value_number, p.value_boolean, p.value_enum, p.value_json,
               CASE WHEN n.id IS NULL THEN 'removed'
                    WHEN p.provenance = 'user-entered'
                         AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                              OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL)
                         AND NOT (n.value_kind = p.value_kind
                                  AND coalesce(coalesce(n.value_string, n.value_enum, n.value_json)
                                               = coalesce(p.value_string, p.value_enum, p.value_json),
                                               n.value_number = p.value_number, n.value_boolean = p.value_boolean,
                                               false))
                         AND NOT (n.provenance = 'user-entered' AND n.updated_by = 'user'
                                  AND n.updated_at >= p.updated_at) THEN 'changed'
                    WHEN p.required AND NOT n.required
                         AND NOT (n.updated_by = 'user' AND n.updated_at >= p.updated_at) THEN 'optional'
                END AS change
          FROM pciv_inputs AS p
          JOIN pciv_runs AS r
            ON r.tenant_id = p.tenant_id
           AND r.project_id = p.project_id
          LEFT JOIN pciv_inputs AS n
            ON n.tenant_id = p.tenant_id
           AND n.run_id = r.id
           AND n.pointer = p.pointer
         WHERE (p.provenance = 'user-entered'
                AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                     OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL))
            OR (p.required AND p.updated_by = 'user')
         UNION ALL
        SELECT p.tenant_id, p.run_id, r.id, NULL, p.key, p.value_kind,
               p.value_string, p.value_number, p.value_boolean, p.value_enum, p.value_json,
               CASE WHEN n.id IS NULL THEN 'removed'
                    WHEN NOT (n.value_kind = p.value_kind
                              AND coalesce(coalesce(n.value_string, n.value_enum, n.value_json)
                                           = coalesce(p.value_string, p.value_enum, p.value_json),
                                           n.value_number = p.value_number, n.value_boolean = p.value_boolean,
                                           false))
                         AND NOT (n.provenance = 'user-entered' AND n.updated_at >= p.updated_at) THEN 'changed'
                END
          FROM pciv_constraints AS p
          JOIN pciv_runs AS r
            ON r.tenant_id = p.tenant_id
           AND r.project_id = p.project_id
          LEFT JOIN pciv_constraints AS n
            ON n.tenant_id = p.tenant_id
           AND n.run_id = r.id
           AND n.key = p.key
         WHERE p.provenance = 'user-entered'
           AND (coalesce(p.value_string, p.value_enum, p.value_json) IS NOT NULL
                OR p.value_number IS NOT NULL OR p.value_boolean IS NOT NULL)) AS compared
 WHERE change IS NOT NULL;

-- Only a person commits a run that displaces what a person entered.
REFUSE displaces_user_entered AS pciv_runs_commit_displaces_nobody
BEFORE UPDATE OF status ON pciv_runs
WHEN NEW.status <> 'draft' AND NEW.committer_kind <> 'user'
IF EXISTS (SELECT 1
             FROM pciv_displaced
            WHERE tenant_id = NEW.tenant_id
              AND run_id = NEW.id
              AND before_run_id = (SELECT r.id
                                     FROM pciv_runs AS r
                                    WHERE r.tenant_id = NEW.tenant_id
                                      AND r.project_id = NEW.project_id
                                      AND r.status <> 'draft'
                                      AND NOT EXISTS (SELECT 1
                                                        FROM pciv_deleted_runs AS d
                                                       WHERE d.tenant_id = r.tenant_id
                                                         AND d.project_id = r.project_id
                                                         AND d.run_id = r.id)
                                    ORDER BY r.committed_at DESC, r.updated_at DESC, r.id
                                    LIMIT 1));

REFUSE person_required AS pciv_deleted_runs_are_deleted_by_persons
BEFORE INSERT ON pciv_deleted_runs
WHEN NEW.deleter_kind <> 'user'
IF EXISTS (SELECT 1
             FROM pciv_runs
            WHERE tenant_id = NEW.tenant_id
              AND project_id = NEW.project_id
              AND id = NEW.run_id
              AND status <> 'draft');

REFUSE lower_provenance AS *_provenance_never_lowers
BEFORE UPDATE ON pciv_inputs, pciv_constraints
WHEN (coalesce(OLD.value_string, OLD.value_enum, OLD.value_json) IS NOT NULL OR OLD.value_number IS NOT NULL
      OR OLD.value_boolean IS NOT NULL)
 AND CASE NEW.provenance WHEN 'unknown' THEN 0 WHEN 'model-inferred' THEN 1 WHEN 'source-backed' THEN 2 ELSE 3 END
   < CASE OLD.provenance WHEN 'unknown' THEN 0 WHEN 'model-inferred' THEN 1 WHEN 'source-backed' THEN 2 ELSE 3 END;

REFUSE not_an_option AS pciv_inputs_value_is_an_option
BEFORE INSERT OR UPDATE ON pciv_inputs
WHEN NEW.value_enum IS NOT NULL AND NEW.options IS NOT NULL
IF NOT EXISTS (SELECT 1 FROM {each}(NEW.options) WHERE value = NEW.value_enum);

-- The members of a scope under the name that the contract gives them.
-- only: postgres
CREATE VIEW pciv_scope_members WITH (security_invoker = true) AS
-- end
-- only: sqlite
CREATE VIEW pciv_scope_members AS
-- end
SELECT tenant_id, project_id, user_id, role, created_at, created_by
  FROM project_members;
