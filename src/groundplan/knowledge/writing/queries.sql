-- Queries that write knowledge.

-- name: add_molecule
-- Insert a molecule.
INSERT INTO graph_molecules (tenant_id, project_id, n, words, {identity}, {revised}, {molecule})
VALUES (:tenant_id, :project_id, :n, :words, {identity:values}, {revised:values}, {molecule:values});

-- name: add_atom
-- Insert an atom.
INSERT INTO graph_atoms (tenant_id, project_id, n, words, {identity}, {revised}, {atom})
VALUES (:tenant_id, :project_id, :n, :words, {identity:values}, {revised:values}, {atom:values});

-- name: change_molecule
-- Update a molecule if the caller read its latest version.
UPDATE graph_molecules
   SET {revised:set}, {molecule:set}, words = :words
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id
   AND version = :seen_version;

-- name: change_atom
-- Update an atom if the caller read its latest version.
UPDATE graph_atoms
   SET {revised:set}, {atom:set}, words = :words
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id
   AND version = :seen_version;

-- name: delete_freshness
-- Delete the results of checks of atoms.
DELETE FROM graph_freshness
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND atom_id IN (SELECT value FROM each(:ids));

-- name: atoms_of_molecule
-- Return the atoms of a molecule, each with the task that last changed it.
SELECT a.id, a.last_task_id
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.molecule_id = :molecule_id
 ORDER BY a.name, a.id;

-- name: orphan_members
-- Remove the atoms of a molecule from it. This is a change, so their versions advance.
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
-- Delete atoms.
DELETE FROM graph_atoms
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id IN (SELECT value FROM each(:ids));

-- name: delete_molecule
-- Delete a molecule.
DELETE FROM graph_molecules
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND id = :id;

-- name: insert_deleted
-- Record which entities were deleted at which revision of the project's knowledge.
INSERT INTO graph_deleted (tenant_id, id, project_id, entity_type, rev)
SELECT :tenant_id, gone.value, :project_id, :entity_type, :rev
  FROM each(:ids) AS gone;

-- name: add_entry
-- Insert an entry of a changelog.
INSERT INTO graph_changelog (tenant_id, project_id, rev, {entry})
VALUES (:tenant_id, :project_id, :rev, {entry:values});

-- name: atom_versions
-- Return the versions of those atoms that exist.
SELECT a.id, a.version
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.id IN (SELECT value FROM each(:ids));

-- name: upsert_freshness
-- Store the result of a check of an atom.
INSERT INTO graph_freshness (tenant_id, project_id, {freshness})
VALUES (:tenant_id, :project_id, {freshness:values})
ON CONFLICT (tenant_id, project_id, atom_id) DO UPDATE
   SET {freshness:set};

-- name: upsert_checked_files
-- Store the files of the commit that was checked last.
INSERT INTO graph_files (tenant_id, project_id, {checked})
VALUES (:tenant_id, :project_id, {checked:values})
ON CONFLICT (tenant_id, project_id) DO UPDATE
   SET {checked:set};

-- name: named_atoms
-- Return the atoms of a project with some names.
SELECT a.name, a.id, a.version, a.knowledge
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.name IN (SELECT value FROM each(:names))
 ORDER BY a.name, a.id;

-- name: named_molecules
-- Return the molecules of a project with some names.
SELECT m.name, m.id, m.version, m.knowledge
  FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.name IN (SELECT value FROM each(:names))
 ORDER BY m.name, m.id;
