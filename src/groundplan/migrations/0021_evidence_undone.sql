-- The write that added an evidence, so that it is marked when the write is undone; null for evidence that is older than this.
ALTER TABLE work_evidence ADD COLUMN rev {integer};
