-- Queries of atoms, molecules, changelogs and the revision that several modules share.

-- columns: identity
-- Columns of atoms and molecules that never change.
id, created_by_task_id, created_at, created_by

-- columns: revised
-- Columns of atoms and molecules that can change.
name, version, last_task_id, updated_at, updated_by, knowledge

-- columns: atom
molecule_id, patterns, patterns_rev, confirmed_commit, confirmed_at, paths, related_atoms

-- columns: molecule
related_molecules

-- columns: entry
id, parent_type, parent_id, task_id, summary, created_at, created_by

-- columns: freshness
atom_id, state, commit_id, checked_at, files

-- columns: checked
commit_id, checked_at, total, kept, packed

-- name: project_of_atom
-- Return the project of an atom.
SELECT a.project_id
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.id = :id;

-- name: project_of_molecule
-- Return the project of a molecule.
SELECT m.project_id
  FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.id = :id;

-- name: project_of_deleted
-- Return the project of a deleted atom or molecule.
SELECT d.project_id
  FROM graph_deleted AS d
 WHERE d.tenant_id = :tenant_id
   AND d.id = :id
   AND d.entity_type = :entity_type;

-- name: atom_names
-- Return the names of atoms, null for those not in the project. One subquery per id: SQLite would scan the index of
-- names.
SELECT wanted.value,
       (SELECT a.name
          FROM graph_atoms AS a
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = :project_id
           AND a.id = wanted.value)
  FROM each(:ids) AS wanted;

-- name: molecule_names
-- Return the names of molecules, null for those not in the project. A subquery per id: SQLite would scan the index
-- of names.
SELECT wanted.value,
       (SELECT m.name
          FROM graph_molecules AS m
         WHERE m.tenant_id = :tenant_id
           AND m.project_id = :project_id
           AND m.id = wanted.value)
  FROM each(:ids) AS wanted;

-- name: atoms_by_id
-- Return atoms by id.
SELECT {a.identity}, {a.revised}, {a.atom}
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.id IN (SELECT value FROM each(:ids));

-- name: molecules_by_id
-- Return molecules by id.
SELECT {m.identity}, {m.revised}, {m.molecule}
  FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.id IN (SELECT value FROM each(:ids));

-- name: latest_entries
-- Return the latest entries of each parent, newest first.
SELECT {c.entry}
  FROM each(:parent_ids) AS wanted
  JOIN graph_changelog AS c
    ON c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_type = :parent_type
   AND c.parent_id = wanted.value
   AND c.id IN (SELECT l.id
                  FROM graph_changelog AS l
                 WHERE l.tenant_id = :tenant_id
                   AND l.project_id = :project_id
                   AND l.parent_type = :parent_type
                   AND l.parent_id = wanted.value
                 ORDER BY l.rev DESC
                 LIMIT :of_each)
 ORDER BY c.parent_id, c.rev DESC;

-- name: checked_files
-- Return the files of the commit that was checked last.
SELECT {f.checked}
  FROM graph_files AS f
 WHERE f.tenant_id = :tenant_id
   AND f.project_id = :project_id;

-- name: freshness_of_atoms
-- Return the results of the last check of atoms.
SELECT {f.freshness}
  FROM graph_freshness AS f
 WHERE f.tenant_id = :tenant_id
   AND f.project_id = :project_id
   AND f.atom_id IN (SELECT value FROM each(:ids));

-- name: advance_revision
-- Advance the revision of a project's knowledge, reserve numbers, and update the count of patterns if these changed.
UPDATE graph_projects
   SET rev = rev + 1,
       last_n = last_n + :numbers,
       patterns = patterns + coalesce(CAST(:patterns AS bigint), 0),
       patterns_rev = CASE WHEN CAST(:patterns AS bigint) IS NULL THEN patterns_rev ELSE rev + 1 END
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND patterns + coalesce(CAST(:patterns AS bigint), 0) <= :patterns_max
RETURNING rev, last_n;

-- name: count_patterns
-- Return the number of patterns of a project; no row before its first knowledge.
SELECT g.patterns
  FROM graph_projects AS g
 WHERE g.tenant_id = :tenant_id
   AND g.project_id = :project_id;

-- name: insert_first_revision
-- Insert the first revision. No row back means that another project has the number.
INSERT INTO graph_projects (tenant_id, project_id, number, rev, last_n, patterns, patterns_rev)
VALUES (:tenant_id, :project_id, :number, 1, :last_n, :patterns, 1)
ON CONFLICT DO NOTHING
RETURNING rev, last_n;

-- name: entries
-- Return a page of a changelog, newest first.
SELECT {c.entry}
  FROM graph_changelog AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_type = :parent_type
   AND c.parent_id = :parent_id
 ORDER BY c.rev DESC
 LIMIT :limit OFFSET :offset;

-- name: count_entries
-- Count the entries of a changelog.
SELECT count(*)
  FROM graph_changelog AS c
 WHERE c.tenant_id = :tenant_id
   AND c.project_id = :project_id
   AND c.parent_type = :parent_type
   AND c.parent_id = :parent_id;

-- name: patterns_revision
-- Return the revision at which the patterns of a project last changed.
SELECT g.patterns_rev
  FROM graph_projects AS g
 WHERE g.tenant_id = :tenant_id
   AND g.project_id = :project_id;

-- name: patterns_since
-- Return the atoms whose patterns changed since a revision; since 0 means all.
SELECT a.id, a.paths
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.patterns_rev > :since;

-- name: atoms_deleted_since
-- Return the atoms deleted since a revision.
SELECT d.id
  FROM graph_deleted AS d
 WHERE d.tenant_id = :tenant_id
   AND d.project_id = :project_id
   AND d.entity_type = 'atom'
   AND d.rev > :since;
