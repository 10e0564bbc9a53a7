-- Templates and their sections. They belong to the organization, so only the tenant restricts access.

-- columns: origin
-- The columns that never change.
id, is_built_in, created_by, created_at

-- columns: template
-- The columns that an update writes.
name, description, target, tags, is_protected, is_enabled, modified_at

-- columns: section
-- The columns of a template section without its id and tags.
ordinal, title, usage_description, content_sample, content_format, is_required

-- name: templates
-- Every template of the organization.
SELECT {t.origin}, {t.template}
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id;

-- name: template
-- A template by its id.
SELECT {t.origin}, {t.template}
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id
   AND t.id = :id;

-- name: template_with_sections
-- A template with one row per section, in one consistent read; a single row without a section if it has none.
SELECT {t.origin}, {t.template}, s.id AS section_id, s.tags AS section_tags, {s.section}
  FROM work_templates AS t
  LEFT JOIN work_template_sections AS s
    ON s.tenant_id = t.tenant_id
   AND s.template_id = t.id
 WHERE t.tenant_id = :tenant_id
   AND t.id = :id
 ORDER BY s.ordinal;

-- name: template_by_name
-- The id of the template with this name.
SELECT t.id
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id
   AND t.name = :name;

-- name: template_names
-- The names of templates, to suggest one for a misspelled name.
SELECT t.name, t.id
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id
 ORDER BY t.name
 LIMIT :at_most;

-- name: add_template
-- Add a template; its name must be free.
INSERT INTO work_templates (tenant_id, {origin}, {template})
VALUES (:tenant_id, {origin:values}, {template:values});

-- name: update_template
-- Update a template.
UPDATE work_templates
   SET {template:set}
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: touch_template
-- Set the time of a change outside the row, such as a new section.
UPDATE work_templates
   SET modified_at = :now
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: delete_template
-- Delete a template; its sections must be deleted first.
DELETE FROM work_templates
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: ordinals
-- The ordinals of the sections of a template, sorted.
SELECT s.ordinal
  FROM work_template_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.template_id = :id
 ORDER BY s.ordinal;

-- name: add_section
-- Add a section to a template.
INSERT INTO work_template_sections (tenant_id, template_id, id, {section}, tags)
VALUES (:tenant_id, :template_id, :id, {section:values}, :tags);

-- name: delete_sections
-- Delete all sections of a template.
DELETE FROM work_template_sections
 WHERE tenant_id = :tenant_id
   AND template_id = :id;
