-- part: use_subject_index
-- Differs from SQLite, which needs the index named: PostgreSQL chooses it by its statistics.

-- part: in_writes
-- Differs from SQLite: PostgreSQL would read every event for a subquery; for an array it uses the index.
AND e.rev = ANY (ARRAY(SELECT CAST(value AS bigint) FROM each(:revs)))
