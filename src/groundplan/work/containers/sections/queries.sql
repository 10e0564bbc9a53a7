-- Queries of sections.

-- columns: origin
id, node_n, version, created_at, created_by, modified_at, modified_by

-- columns: text
-- The texts of a section without its content, which may be long.
ordinal, title, usage_description, content_format

-- name: project_of_section
-- The project of a section.
SELECT s.project_id
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.id = :id;

-- name: project_of_deleted_section
-- The project of a deleted section.
SELECT d.project_id
  FROM work_deleted AS d
 WHERE d.tenant_id = :tenant_id
   AND d.id = :id;

-- name: sections_of
-- The sections of a container, in order.
SELECT {s.origin}, {s.text}, s.content
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n = :n
 ORDER BY s.ordinal;

-- name: sections_without_content
-- The sections of a container, in order, without their content, which may be long.
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
-- The ordinals of the sections of a container, with their ids and titles.
SELECT s.ordinal, s.id, s.title
  FROM work_sections AS s
 WHERE s.tenant_id = :tenant_id
   AND s.project_id = :project_id
   AND s.node_n = :n
 ORDER BY s.ordinal;

-- name: add_section
-- Add a section; also used to write a moved section back.
INSERT INTO work_sections (tenant_id, project_id, {origin}, {text}, content)
VALUES (:tenant_id, :project_id, {origin:values}, {text:values}, :content);

-- name: add_tags
-- Add tags that a section does not have.
INSERT INTO work_section_tags (tenant_id, project_id, section_id, tag)
SELECT :tenant_id, :project_id, :id, value
  FROM each(:tags);

-- name: update_section
-- Update a section if it is at the version that the caller read.
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
-- Delete all tags of some sections.
DELETE FROM work_section_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND section_id IN (SELECT value FROM each(:ids));

-- name: remove_sections
-- Delete sections; their tags must be deleted first.
DELETE FROM work_sections
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id IN (SELECT value FROM each(:ids));

-- name: record_deleted_sections
-- Record the project of deleted sections, so that a retried request finds its stored answer.
INSERT INTO work_deleted (tenant_id, id, project_id, thing)
SELECT :tenant_id, value, :project_id, 'section'
  FROM each(:ids);
