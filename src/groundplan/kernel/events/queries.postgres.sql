-- part: by_subject
-- Differs from SQLite, which has to be told the index: PostgreSQL knows how much it would read.

-- part: of_writes
-- Differs from SQLite: for a list of unknown length PostgreSQL would read every event; an array it looks up.
AND e.rev = ANY (ARRAY(SELECT CAST(value AS bigint) FROM each(:revs)))
