-- What changes of knowledge read and write.

-- name: add_molecule
-- A new molecule.
INSERT INTO graph_molecules (tenant_id, project_id, n, words, {identity}, {revised}, {molecule})
VALUES (:tenant_id, :project_id, :n, :words, {identity:values}, {revised:values}, {molecule:values});

-- name: add_atom
-- A new atom.
INSERT INTO graph_atoms (tenant_id, project_id, n, words, {identity}, {revised}, {atom})
VALUES (:tenant_id, :project_id, :n, :words, {identity:values}, {revised:values}, {atom:values});

-- name: change_molecule
-- Change a molecule if the caller saw its latest version.
UPDATE graph_molecules
   SET {revised:set}, {molecule:set}, words = :words
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id
   AND version = :seen_version;

-- name: change_atom
-- Change an atom if the caller saw its latest version.
UPDATE graph_atoms
   SET {revised:set}, {atom:set}, words = :words
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id
   AND version = :seen_version;

-- name: delete_freshness
-- Nothing is known of some atoms any more.
DELETE FROM graph_freshness
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND atom_id IN (SELECT value FROM each(:ids));

-- name: members
-- The atoms of a molecule, each with the task that last touched it.
SELECT a.id, a.last_task_id
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.molecule_id = :molecule_id
 ORDER BY a.name, a.id;

-- name: orphan_members
-- Take the atoms of a molecule out of it. It is a change like any other, so their versions move on.
UPDATE graph_atoms
   SET molecule_id = NULL,
       version = version + 1,
       last_task_id = coalesce(CAST(:task_id AS text), last_task_id),
       updated_at = :now,
       updated_by = :actor_id
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND molecule_id = :molecule_id;

-- name: delete_atoms
-- Take some atoms away.
DELETE FROM graph_atoms
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id IN (SELECT value FROM each(:ids));

-- name: delete_molecule
-- Take a molecule away.
DELETE FROM graph_molecules
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id;

-- name: insert_deleted
-- Keep what was deleted at which revision of the project's knowledge.
INSERT INTO graph_deleted (tenant_id, id, project_id, entity_type, rev)
SELECT :tenant_id, gone.value, :project_id, :entity_type, :rev
  FROM each(:ids) AS gone;

-- name: add_entry
-- A new entry of a changelog.
INSERT INTO graph_changelog (tenant_id, project_id, rev, {entry})
VALUES (:tenant_id, :project_id, :rev, {entry:values});

-- name: atom_versions
-- The versions of those among some atoms that are there.
SELECT a.id, a.version
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.id IN (SELECT value FROM each(:ids));

-- name: upsert_freshness
-- What was seen of an atom.
INSERT INTO graph_freshness (tenant_id, project_id, {freshness})
VALUES (:tenant_id, :project_id, {freshness:values})
ON CONFLICT (tenant_id, project_id, atom_id) DO UPDATE
   SET {freshness:set};
