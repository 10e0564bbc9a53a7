-- name: increase_revisions
-- Differs from SQLite, which has no policies: here whoever removes somebody need not be in their projects, so the function
-- of `leave_projects` does all three steps, with the rights of the owner of the schema.
SELECT 1 WHERE false;

-- name: record_leaving
-- Differs from SQLite for the same reason.
SELECT 1 WHERE false;

-- name: leave_projects
-- Differs from SQLite for the same reason.
SELECT gp_leave_projects(:user_id, :clock);
