-- columns: settings
project_creators, allowed_domains, default_policies

-- name: organization
-- Returns the organization.
SELECT id, name, rev, created_at
  FROM organizations
 WHERE id = :tenant_id;

-- name: rename
-- Change the name of the organization.
UPDATE organizations
   SET name = :name
 WHERE id = :tenant_id;

-- name: settings
-- Returns the settings; no row if nobody has changed one.
SELECT {settings}
  FROM organization_settings
 WHERE tenant_id = :tenant_id;

-- name: set_settings
-- Store the settings.
INSERT INTO organization_settings (tenant_id, project_creators, allowed_domains, default_policies, updated_at, updated_by)
VALUES (:tenant_id, :project_creators, :allowed_domains, :default_policies, :now, :actor_id)
    ON CONFLICT (tenant_id) DO UPDATE
   SET project_creators = excluded.project_creators,
       allowed_domains = excluded.allowed_domains,
       default_policies = excluded.default_policies,
       updated_at = excluded.updated_at,
       updated_by = excluded.updated_by;

-- name: people
-- Returns the members of the organization whose ids come after :after, ordered by id.
SELECT m.user_id AS name, p.kind, m.role, m.created_at, m.created_by
  FROM user_memberships AS m
  JOIN principals AS p
    ON p.tenant_id = m.tenant_id
   AND p.id = m.user_id
 WHERE m.tenant_id = :tenant_id
   AND m.user_id > :after
 ORDER BY m.user_id
 LIMIT :at_most;

-- name: person
-- Returns one member of the organization.
SELECT m.user_id AS name, p.kind, m.role, m.created_at, m.created_by
  FROM user_memberships AS m
  JOIN principals AS p
    ON p.tenant_id = m.tenant_id
   AND p.id = m.user_id
 WHERE m.tenant_id = :tenant_id
   AND m.user_id = :user_id;

-- name: roles_of_people
-- Returns the people of the organization and their roles, administrators first.
SELECT m.user_id, m.role
  FROM user_memberships AS m
  JOIN principals AS p
    ON p.tenant_id = m.tenant_id
   AND p.id = m.user_id
 WHERE m.tenant_id = :tenant_id
   AND p.kind = 'person'
 ORDER BY m.role, m.user_id;

-- name: change_role
-- Change the role of a member of the organization.
UPDATE user_memberships
   SET role = :role
 WHERE tenant_id = :tenant_id
   AND user_id = :user_id;

-- name: remove_person
-- Take somebody out of the organization.
DELETE FROM user_memberships
 WHERE tenant_id = :tenant_id
   AND user_id = :user_id;

-- name: increase_revisions
-- Lock the projects that somebody leaves, and give each its next revision.
UPDATE projects
   SET rev = rev + 1,
       updated_at = CASE WHEN updated_at > :now AND updated_at <= :latest THEN updated_at ELSE :now END
 WHERE tenant_id = :tenant_id
   AND id IN (SELECT m.project_id
                FROM project_members AS m
               WHERE m.tenant_id = :tenant_id
                 AND m.user_id = :user_id);

-- name: record_leaving
-- Append an event to each project that somebody leaves.
INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes)
SELECT :tenant_id, p.id, p.rev, 0, :v, p.updated_at, :actor_id, 'member.removed', m.user_id,
       '[{"field":"role","before":"' || m.role || '","after":null}]'
  FROM project_members AS m
  JOIN projects AS p
    ON p.tenant_id = m.tenant_id
   AND p.id = m.project_id
 WHERE m.tenant_id = :tenant_id
   AND m.user_id = :user_id;

-- name: leave_projects
-- Take somebody out of all projects.
DELETE FROM project_members
 WHERE tenant_id = :tenant_id
   AND user_id = :user_id;

-- part: header
rev, n, at, actor_id AS actor, op, subject,
(SELECT p.kind FROM principals AS p WHERE p.tenant_id = :tenant_id AND p.id = actor_id AND p.kind <> 'person')
    AS actor_kind

-- name: events_before
-- Returns the events of the organization before a position that the actor may see, newest first.
SELECT {header}, changes, decision
  FROM organization_events
 WHERE tenant_id = :tenant_id
   AND (rev, n) < (:rev, :n)
   AND {is_visible}
 ORDER BY rev DESC, n DESC
 LIMIT :at_most;

-- name: events_after
-- Returns the events of the organization after a position that the actor may see, oldest first.
SELECT {header}
  FROM organization_events
 WHERE tenant_id = :tenant_id
   AND (rev, n) > (:rev, :n)
   AND {is_visible}
 ORDER BY rev, n
 LIMIT :at_most;

-- name: last_event
-- Returns the position of the last event of the organization that the actor may see.
SELECT rev, n
  FROM organization_events
 WHERE tenant_id = :tenant_id
   AND {is_visible}
 ORDER BY rev DESC, n DESC
 LIMIT 1;

-- name: count_events_after
-- Returns how many events that the actor may see are after a position; it counts no further than :at_most.
SELECT count(*)
  FROM (SELECT 1
          FROM organization_events
         WHERE tenant_id = :tenant_id
           AND (rev, n) > (:rev, :n)
           AND {is_visible}
         LIMIT :at_most) AS counted;

-- part: is_visible
-- Whether the actor may see an event: about people and templates, every member; about a project, whoever sees it; about
-- addresses and accounts, administrators, and about tokens, owners of the organization; and about what they did themselves.
(substr(op, 1, 13) = 'organization.' OR substr(op, 1, 9) = 'template.'
 OR (substr(op, 1, 8) = 'project.' AND (:sees_all OR subject IN (SELECT value FROM each(:projects))))
 OR ((substr(op, 1, 11) = 'invitation.' OR substr(op, 1, 9) = 'identity.') AND (:administers OR actor_id = :actor_id))
 OR ((substr(op, 1, 6) = 'token.' OR substr(op, 1, 8) = 'session.') AND (:owns OR actor_id = :actor_id)))
