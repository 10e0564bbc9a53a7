-- part: use_principal_index
-- Differs from SQLite, which needs the index named: PostgreSQL chooses it by its statistics.

-- part: use_email_index

-- part: use_invited_index

-- part: use_creator_index

-- name: person_of_email
-- Differs from SQLite, which has no policies: here an owner of a project sees neither accounts nor invitations of others, so
-- a function of the owner of the schema answers.
SELECT principal_id, is_bound
  FROM gp_person_of_email(:email, :now);

-- name: end_expired_invitation
-- Differs from SQLite for the same reason.
SELECT gp_end_expired_invitation(:email, :now);

-- name: remove_identities
-- Differs from SQLite, which has no policies: a role that may delete rows may lock the whole table, so a function does it.
SELECT gp_unbind_accounts(:principal_id);
