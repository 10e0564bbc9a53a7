-- part: end_of_walk
-- Differs from SQLite: a recursive query has no LIMIT of its own, but ends when the one around it has enough rows. The
-- condition is always true.
WHERE true
