-- Templates and their sections. They are of the organization, so what fences them is the tenant alone.

-- columns: origin
-- What never changes.
id, is_built_in, created_by, created_at

-- columns: template
-- What a template says of itself, and when that changed.
name, description, target, tags, is_protected, is_enabled, modified_at

-- columns: section
-- What a section of a template says, beside its id and its tags.
ordinal, title, usage_description, content_sample, content_format, is_required

-- name: templates
-- Every template of the organization.
SELECT {t.origin}, {t.template}
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id;

-- name: template
-- One template.
SELECT {t.origin}, {t.template}
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id
   AND t.id = :id;

-- name: template_with_sections
-- One template beside each of its sections, all of one moment; a single row without a section where it has none.
SELECT {t.origin}, {t.template}, s.id AS section_id, s.tags AS section_tags, {s.section}
  FROM work_templates AS t
  LEFT JOIN work_template_sections AS s
    ON s.tenant_id = t.tenant_id
   AND s.template_id = t.id
 WHERE t.tenant_id = :tenant_id
   AND t.id = :id
 ORDER BY s.ordinal;

-- name: template_by_name
-- The template with this name.
SELECT t.id
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id
   AND t.name = :name;

-- name: template_names
-- What templates are called, for a slip of the pen.
SELECT t.name, t.id
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id
 ORDER BY t.name
 LIMIT :at_most;

-- name: add_template
-- A new template, with a name that is free.
INSERT INTO work_templates (tenant_id, {origin}, {template})
VALUES (:tenant_id, {origin:values}, {template:values});

-- name: update_template
-- A template as it is from now on.
UPDATE work_templates
   SET {template:set}
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: touch_template
-- The moment of a change beside the row, such as a new section.
UPDATE work_templates
   SET modified_at = :now
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: delete_template
-- Take a template away that has no sections any more.
DELETE FROM work_templates
 WHERE tenant_id = :tenant_id
   AND id = :id;

-- name: ordinals
-- Where the sections of a template stand.
SELECT s.ordinal
  FROM work_template_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.template_id = :id
 ORDER BY s.ordinal;

-- name: add_section
-- A new section of a template.
INSERT INTO work_template_sections (tenant_id, template_id, id, {section}, tags)
VALUES (:tenant_id, :template_id, :id, {section:values}, :tags);

-- name: delete_sections
-- Take all sections of a template away.
DELETE FROM work_template_sections
 WHERE tenant_id = :tenant_id
   AND template_id = :id;
