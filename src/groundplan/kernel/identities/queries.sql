-- part: invitation
id, email, principal_id AS name,
       CASE WHEN accepted_at IS NOT NULL THEN 'accepted' WHEN revoked_at IS NOT NULL THEN 'revoked'
            WHEN expires_at > :now THEN 'open' ELSE 'expired' END AS state,
       created_at, created_by, expires_at, accepted_at, revoked_at, revoked_by

-- part: use_principal_index
-- Without these, SQLite takes the primary key and reads every row of the organization.
INDEXED BY identities_by_principal

-- part: use_email_index
INDEXED BY identities_by_email

-- part: use_invited_index
INDEXED BY invitations_by_principal

-- part: use_creator_index
INDEXED BY invitations_by_creator

-- name: identity
-- Returns whose an account is, and their role in the organization if they are still in it.
SELECT i.principal_id, m.role
  FROM identities AS i
  LEFT JOIN user_memberships AS m
    ON m.tenant_id = i.tenant_id
   AND m.user_id = i.principal_id
 WHERE i.tenant_id = :tenant_id
   AND i.issuer = :issuer
   AND i.subject = :subject;

-- name: identities_of
-- Returns the accounts of a person.
SELECT issuer, email
  FROM identities {use_principal_index}
 WHERE tenant_id = :tenant_id
   AND principal_id = :principal_id
 ORDER BY bound_at, issuer, subject;

-- name: add_identity
-- Bind an account to a person.
INSERT INTO identities (tenant_id, issuer, subject, principal_id, email, invitation_id, bound_at)
VALUES (:tenant_id, :issuer, :subject, :principal_id, :email, :invitation_id, :now);

-- name: remove_identities
-- Unbind the accounts of a person.
DELETE FROM identities {use_principal_index}
 WHERE tenant_id = :tenant_id
   AND principal_id = :principal_id;

-- name: person
-- Returns the kind of a principal, and their role in the organization if they are in it.
SELECT p.kind, m.role
  FROM principals AS p
  LEFT JOIN user_memberships AS m
    ON m.tenant_id = p.tenant_id
   AND m.user_id = p.id
 WHERE p.tenant_id = :tenant_id
   AND p.id = :id;

-- name: open_invitation
-- Returns the invitation for an address that is neither accepted nor revoked; it may be expired.
SELECT {invitation}
  FROM invitations
 WHERE tenant_id = :tenant_id
   AND email = :email
   AND accepted_at IS NULL
   AND revoked_at IS NULL;

-- name: invitation
-- Returns one invitation.
SELECT {invitation}
  FROM invitations
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: add_invitation
-- Add an invitation. Changes no row if there is an open one for the address.
INSERT INTO invitations (tenant_id, id, email, principal_id, created_at, created_by, expires_at)
VALUES (:tenant_id, :id, :email, :principal_id, :now, :actor_id, :expires_at)
    ON CONFLICT DO NOTHING;

-- name: accept_invitation
-- Use an invitation, once.
UPDATE invitations
   SET accepted_at = :now
 WHERE tenant_id = :tenant_id
   AND id = :id
   AND accepted_at IS NULL
   AND revoked_at IS NULL;

-- name: revoke_invitation
-- Revoke an invitation.
UPDATE invitations
   SET revoked_at = :now,
       revoked_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND id = :id
   AND accepted_at IS NULL
   AND revoked_at IS NULL;

-- name: allowed_domains
-- Returns the domains whose addresses join without an invitation; no row if nobody has set any.
SELECT allowed_domains
  FROM organization_settings
 WHERE tenant_id = :tenant_id;

-- name: person_of_email
-- Returns the person whom an address stands for, by an account or by an open invitation, and whether it is an account.
SELECT principal_id, true AS is_bound
  FROM identities {use_email_index}
 WHERE tenant_id = :tenant_id
   AND email = :email
UNION ALL
SELECT principal_id, false AS is_bound
  FROM invitations
 WHERE tenant_id = :tenant_id
   AND email = :email
   AND accepted_at IS NULL
   AND revoked_at IS NULL
   AND expires_at > :now;

-- name: end_expired_invitation
-- Revoke an invitation that has expired, whoever made it, so that the address can be invited again.
UPDATE invitations
   SET revoked_at = :now,
       revoked_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND email = :email
   AND accepted_at IS NULL
   AND revoked_at IS NULL
   AND expires_at <= :now;

-- name: invitations
-- Returns every invitation of the organization, for its administrators.
SELECT {invitation}
  FROM invitations
 WHERE tenant_id = :tenant_id;

-- name: own_invitations
-- Returns the invitations that the actor made.
SELECT {invitation}
  FROM invitations {use_creator_index}
 WHERE tenant_id = :tenant_id
   AND created_by = :actor_id;

-- name: open_invitations_of
-- Returns the invitations for a person that are neither accepted nor revoked.
SELECT {invitation}
  FROM invitations {use_invited_index}
 WHERE tenant_id = :tenant_id
   AND principal_id = :principal_id
   AND accepted_at IS NULL
   AND revoked_at IS NULL;
