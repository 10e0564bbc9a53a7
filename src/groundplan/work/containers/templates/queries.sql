-- Templates and their sections. They are of the organization, so what fences them is the tenant alone.

-- part: template
-- The columns from which a template is shown, of `t`.
t.id, t.name, t.description, t.target, t.tags, t.is_built_in, t.is_protected, t.is_enabled, t.created_by,
       t.created_at, t.modified_at

-- name: templates
-- Every template of the organization.
SELECT {template}
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id;

-- name: template
-- One template.
SELECT {template}
  FROM work_templates AS t
 WHERE t.tenant_id = :tenant_id
   AND t.id = :id;

-- name: template_with_sections
-- One template beside each of its sections, all of one moment; a single row without a section where it has none.
SELECT {template},
       s.id, s.ordinal, s.title, s.usage_description, s.content_sample, s.content_format, s.is_required, s.tags
  FROM work_templates AS t
  LEFT JOIN work_template_sections AS s
    ON s.tenant_id = t.tenant_id
   AND s.template_id = t.id
 WHERE t.tenant_id = :tenant_id
   AND t.id = :id
 ORDER BY s.ordinal;

-- name: template_named
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
INSERT INTO work_templates (tenant_id, id, name, description, target, tags, is_built_in, is_protected, is_enabled,
                            created_at, created_by, modified_at)
VALUES (:tenant_id, :id, :name, :description, :target, :tags, :is_built_in, :is_protected, true,
        :now, :created_by, :now);

-- name: change_template
-- A template as it is from now on.
UPDATE work_templates
   SET name = :name,
       description = :description,
       target = :target,
       tags = :tags,
       is_protected = :is_protected,
       is_enabled = :is_enabled,
       modified_at = :now
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
INSERT INTO work_template_sections (tenant_id, template_id, id, ordinal, title, usage_description, content_sample,
                                    content_format, is_required, tags)
VALUES (:tenant_id, :template_id, :id, :ordinal, :title, :usage_description, :content_sample,
        :content_format, :is_required, :tags);

-- name: delete_sections
-- Take all sections of a template away.
DELETE FROM work_template_sections
 WHERE tenant_id = :tenant_id
   AND template_id = :id;
