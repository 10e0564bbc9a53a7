-- name: increase_revisions
-- Differs from SQLite, which has no policies: here whoever removes somebody need not be in their projects, so the function
-- of `remove_person` does all four steps, with the rights of the owner of the schema.
SELECT 1 WHERE false;

-- name: record_leaving
-- Differs from SQLite for the same reason.
SELECT 1 WHERE false;

-- name: leave_projects
-- Differs from SQLite for the same reason.
SELECT 1 WHERE false;

-- name: remove_person
-- Differs from SQLite for the same reason.
SELECT gp_leave_organization(:user_id, :clock);

-- name: rename
-- Differs from SQLite, which has no policies: here every member may write the revision of this row, and a function lets
-- administrators write its name.
SELECT gp_rename_organization(:name);
