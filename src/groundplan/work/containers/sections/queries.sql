-- What is asked about sections, and how they are written.

-- columns: origin
id, node_n, version, created_at, created_by, modified_at, modified_by

-- columns: text
-- What a section says; its content, which may be long, is named beside it.
ordinal, title, usage_description, content_format

-- name: project_of_section
-- The project of a section.
SELECT s.project_id
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.id = :id;

-- name: project_of_deleted_section
-- The project that a section was of.
SELECT d.project_id
  FROM work_deleted AS d
 WHERE d.tenant_id = :tenant_id
   AND d.id = :id;

-- name: sections_of
-- The sections of a container, in their order.
SELECT {s.origin}, {s.text}, s.content
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n = :n
 ORDER BY s.ordinal;

-- name: sections_without_content
-- The same without their contents, which may be long.
SELECT {s.origin}, {s.text}, '' AS content
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n = :n
 ORDER BY s.ordinal;

-- name: sections_by_id
-- Sections by their ids.
SELECT {s.origin}, {s.text}, s.content
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.id IN (SELECT value FROM each(:ids));

-- name: tags_of
-- The tags of some sections.
SELECT t.section_id, t.tag
  FROM work_section_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.section_id IN (SELECT value FROM each(:ids))
 ORDER BY t.section_id, t.tag;

-- name: used_ordinals
-- Where sections of a container stand, and how they are called.
SELECT s.ordinal, s.id, s.title
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n = :n
 ORDER BY s.ordinal;

-- name: add_section
-- Add a section, or put one back that was taken out.
INSERT INTO work_sections (tenant_id, project_id, {origin}, {text}, content)
VALUES (:tenant_id, :project_id, {origin:values}, {text:values}, :content);

-- name: add_tags
-- Give a section tags that it has not.
INSERT INTO work_section_tags (tenant_id, project_id, section_id, tag)
SELECT :tenant_id, :project_id, :id, value
  FROM each(:tags);

-- name: update_section
-- Change a section, if it is at the version that the caller saw.
UPDATE work_sections
   SET version = version + 1,
       {text:set},
       content = :content,
       modified_at = :now,
       modified_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id
   AND version = :version;

-- name: remove_tags
-- Take all tags of some sections away.
DELETE FROM work_section_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND section_id IN (SELECT value FROM each(:ids));

-- name: remove_sections
-- Take sections away; they have no tags any more.
DELETE FROM work_sections
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id IN (SELECT value FROM each(:ids));

-- name: record_deleted_sections
-- Let the ids of sections that are gone still lead to their project: a request that is sent again must find its answer.
INSERT INTO work_deleted (tenant_id, id, project_id, thing)
SELECT :tenant_id, value, :project_id, 'section'
  FROM each(:ids);
