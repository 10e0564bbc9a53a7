-- name: sweep_answers
-- Differs from SQLite, which has no policies: here an actor sees only the answers it got itself, so a function of the
-- schema's owner sweeps for all of them.
SELECT gp_sweep_answers(:kept_since, :at_most);
