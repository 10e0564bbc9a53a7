-- Tags of containers and of sections. A query on all projects gets the ids of those that the actor sees.

-- part: with_tag
-- The rows of one tag in some projects.
t.tenant_id = :tenant_id
   AND t.project_id IN (SELECT value FROM each(:project_ids))
   AND t.tag = :tag

-- part: join_container
JOIN work_nodes AS c
    ON c.tenant_id = t.tenant_id
   AND c.project_id = t.project_id
   AND c.n = t.node_n

-- name: container_tags
-- The number of containers per tag.
SELECT t.tag, count(*)
  FROM work_node_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id IN (SELECT value FROM each(:project_ids))
 GROUP BY t.tag;

-- name: container_tags_by_kind
-- The number of containers of one kind per tag; a node without a kind is a task.
SELECT t.tag, count(*)
  FROM work_node_tags AS t
  {join_container}
 WHERE t.tenant_id = :tenant_id
   AND t.project_id IN (SELECT value FROM each(:project_ids))
   AND coalesce(c.kind, 'task') = :kind
 GROUP BY t.tag;

-- name: section_tags
-- The number of sections per tag.
SELECT t.tag, count(*)
  FROM work_section_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id IN (SELECT value FROM each(:project_ids))
 GROUP BY t.tag;

-- name: count_containers
-- The number of containers with a tag, per project.
SELECT t.project_id, count(*)
  FROM work_node_tags AS t
 WHERE {with_tag}
 GROUP BY t.project_id;

-- name: count_sections
-- The number of sections with a tag, per project.
SELECT t.project_id, count(*)
  FROM work_section_tags AS t
 WHERE {with_tag}
 GROUP BY t.project_id;

-- name: containers_with_tag
-- The first containers with a tag.
SELECT c.project_id, c.id, coalesce(c.kind, 'task') AS kind, c.summary
  FROM work_node_tags AS t
  {join_container}
 WHERE {with_tag}
 ORDER BY t.project_id, t.node_n
 LIMIT :at_most;

-- name: sections_with_tag
-- The first sections with a tag. The cross join makes SQLite start with the tag and not with all sections.
SELECT s.project_id, s.id, s.title
  FROM work_section_tags AS t
 CROSS JOIN work_sections AS s
 WHERE {with_tag}
   AND s.tenant_id = t.tenant_id
   AND s.project_id = t.project_id
   AND s.id = t.section_id
 ORDER BY s.project_id, s.node_n, s.ordinal
 LIMIT :at_most;

-- name: tags_of_tagged_containers
-- All tags of the containers that have this tag. The cross join makes SQLite start with the tag.
SELECT c.n, c.id, o.tag
  FROM work_node_tags AS t
 CROSS JOIN work_nodes AS c
 CROSS JOIN work_node_tags AS o
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.tag = :tag
   AND c.tenant_id = t.tenant_id
   AND c.project_id = t.project_id
   AND c.n = t.node_n
   AND o.tenant_id = t.tenant_id
   AND o.project_id = t.project_id
   AND o.node_n = t.node_n
 ORDER BY t.node_n, o.tag;

-- name: tags_of_tagged_sections
-- All tags of the sections that have this tag, with the node of each section. The cross join as above.
SELECT s.id, c.id, o.tag
  FROM work_section_tags AS t
 CROSS JOIN work_sections AS s
 CROSS JOIN work_nodes AS c
 CROSS JOIN work_section_tags AS o
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.tag = :tag
   AND s.tenant_id = t.tenant_id
   AND s.project_id = t.project_id
   AND s.id = t.section_id
   AND c.tenant_id = s.tenant_id
   AND c.project_id = s.project_id
   AND c.n = s.node_n
   AND o.tenant_id = t.tenant_id
   AND o.project_id = t.project_id
   AND o.section_id = t.section_id
 ORDER BY s.node_n, s.ordinal, o.tag;

-- name: touch_containers
-- Give some containers their next revision, for a change outside their rows.
UPDATE work_nodes
   SET rev = rev + 1,
       changed_rev = :write_rev,
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND n IN (SELECT CAST(value AS bigint) FROM each(:ns));

-- name: touch_sections
-- Give some sections their next version.
UPDATE work_sections
   SET version = version + 1,
       modified_at = :now,
       modified_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id IN (SELECT value FROM each(:ids));

-- name: add_new_tag_to_containers
-- Add the new tag to every container that has the old one and not yet the new one.
INSERT INTO work_node_tags (tenant_id, project_id, node_n, tag)
SELECT t.tenant_id, t.project_id, t.node_n, :renamed
  FROM work_node_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.tag = :tag
    ON CONFLICT DO NOTHING;

-- name: add_new_tag_to_sections
-- Add the new tag to every section that has the old one and not yet the new one.
INSERT INTO work_section_tags (tenant_id, project_id, section_id, tag)
SELECT t.tenant_id, t.project_id, t.section_id, :renamed
  FROM work_section_tags AS t
 WHERE t.tenant_id = :tenant_id
   AND t.project_id = :project_id
   AND t.tag = :tag
    ON CONFLICT DO NOTHING;

-- name: remove_from_containers
-- Remove a tag from every container of a project.
DELETE FROM work_node_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND tag = :tag;

-- name: remove_from_sections
-- Remove a tag from every section of a project.
DELETE FROM work_section_tags
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND tag = :tag;
