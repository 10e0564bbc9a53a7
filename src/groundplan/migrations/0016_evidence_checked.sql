-- Whether the repository had the commit or the file of an evidence when it was written; null for other evidence, and for
-- evidence that is older than this.
ALTER TABLE work_evidence ADD COLUMN checked {text}
    CONSTRAINT work_evidence_checked_is_known CHECK (checked IN ('ok', 'missing', 'not_checked'));
