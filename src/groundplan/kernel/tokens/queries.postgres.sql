-- part: use_actor_index
-- Differs from SQLite, which needs the index named: PostgreSQL chooses it by its statistics.

-- part: use_creator_index

-- part: use_parent_index

-- name: token_by_digest
-- Differs from SQLite, which has no policies: here a caller without an identity sees no row, and the app role cannot read
-- digests, so a function of the owner of the schema finds the token. The time is that of the database, unless a clock is
-- given: the statement has no transaction that would know it.
SELECT {token}, tenant_id, digest, coalesce(:clock, gp_now()) AS now
  FROM gp_find_token(:digest);
