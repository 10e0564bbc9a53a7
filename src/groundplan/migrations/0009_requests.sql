-- Questions that wait for a decision, and decisions that answer them or replace earlier ones. A decision and a request are
-- named by the revision and the number under which they were recorded.

CREATE TABLE toc_requests (
    tenant_id       {text} NOT NULL,
    project_id      {text} NOT NULL,
    rev             {integer} NOT NULL,
    n               {integer} NOT NULL,
    question        {text} NOT NULL,
    about           {text} NOT NULL,
    asked_of        {text},
    recorded_at     {instant} NOT NULL,
    recorded_by     {text} NOT NULL,
    CONSTRAINT toc_requests_pkey PRIMARY KEY (tenant_id, project_id, rev, n),
    CONSTRAINT toc_requests_are_of_a_project FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id),
    CONSTRAINT toc_requests_about_is_a_list CHECK (
        {json_type(about)} = 'array' AND {bytes(about)} <= 16384
    ),
    CONSTRAINT toc_requests_fit CHECK (
        {bytes(question)} BETWEEN 1 AND 4096 AND length(asked_of) BETWEEN 1 AND 255
    )
){strict_without_rowid};

-- Whether any assumption is in doubt is asked often, and mostly none is.
CREATE INDEX toc_assumption_reviews_in_doubt ON toc_assumption_reviews (tenant_id, project_id, assumption_key)
 WHERE status = 'at_risk' OR status = 'refuted';

ALTER TABLE toc_decisions ADD COLUMN supersedes_rev {integer};
ALTER TABLE toc_decisions ADD COLUMN supersedes_n {integer} CONSTRAINT toc_decisions_supersede_earlier_ones CHECK (
    (supersedes_rev IS NULL) = (supersedes_n IS NULL)
    AND (supersedes_rev IS NULL OR supersedes_rev < rev OR (supersedes_rev = rev AND supersedes_n < n))
);
ALTER TABLE toc_decisions ADD COLUMN answers_rev {integer};
ALTER TABLE toc_decisions ADD COLUMN answers_n {integer} CONSTRAINT toc_decisions_answer_one_request CHECK (
    (answers_rev IS NULL) = (answers_n IS NULL)
);

-- One decision replaces a decision, and one answers a request: who asks for the current one gets one.
CREATE UNIQUE INDEX toc_decisions_superseded_once
    ON toc_decisions (tenant_id, project_id, supersedes_rev, supersedes_n)
 WHERE supersedes_rev IS NOT NULL;
CREATE UNIQUE INDEX toc_requests_answered_once
    ON toc_decisions (tenant_id, project_id, answers_rev, answers_n)
 WHERE answers_rev IS NOT NULL;

-- SQLite adds no foreign key of several columns to a table that exists, so triggers look for the earlier record. Neither
-- can change or go, so to look once is enough.
REFUSE no_parent AS toc_decisions_supersede_a_decision
BEFORE INSERT ON toc_decisions
WHEN NEW.supersedes_rev IS NOT NULL
IF NOT EXISTS (SELECT 1
                 FROM toc_decisions
                WHERE tenant_id = NEW.tenant_id
                  AND project_id = NEW.project_id
                  AND rev = NEW.supersedes_rev
                  AND n = NEW.supersedes_n);

REFUSE no_parent AS toc_decisions_answer_a_request
BEFORE INSERT ON toc_decisions
WHEN NEW.answers_rev IS NOT NULL
IF NOT EXISTS (SELECT 1
                 FROM toc_requests
                WHERE tenant_id = NEW.tenant_id
                  AND project_id = NEW.project_id
                  AND rev = NEW.answers_rev
                  AND n = NEW.answers_n);

REFUSE rev_step AS toc_requests_are_of_this_write
BEFORE INSERT ON toc_requests
IF NEW.rev IS DISTINCT FROM (SELECT rev FROM projects WHERE tenant_id = NEW.tenant_id AND id = NEW.project_id);
