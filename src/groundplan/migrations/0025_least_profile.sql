-- Purpose: the profile `standard` is the least strict one of new projects. Those that exist keep what they had: all.
-- only: postgres
-- The guard of this column asks for an actor, and a migration has none.
ALTER TABLE projects DISABLE TRIGGER USER;
UPDATE projects
   SET policies = (policies::jsonb || '{"profile_min": "light"}')::text
 WHERE policies::jsonb ->> 'profile_min' IS NULL;
ALTER TABLE projects ENABLE TRIGGER USER;
-- end
-- only: sqlite
UPDATE projects
   SET policies = json_set(policies, '$.profile_min', 'light')
 WHERE json_extract(policies, '$.profile_min') IS NULL;
-- end
