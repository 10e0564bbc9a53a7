-- Lists of atoms and molecules. These return ids only; the rows of a page are loaded by id.

-- part: in_molecule
-- The atom is in this molecule, or in none if the parameter is null.
a.molecule_id IS CAST(:molecule_id AS text)

-- part: numbers_with_words
-- The numbers of the rows that the word index finds for all words.
WITH found (n) AS MATERIALIZED (
    SELECT graph_text.rowid - CAST(:first_key AS bigint)
      FROM graph_text
     WHERE graph_text MATCH :match
       AND graph_text.rowid BETWEEN CAST(:first_key AS bigint) AND CAST(:last_key AS bigint)
)

-- part: atoms_found
FROM found
 CROSS JOIN graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.n = found.n

-- part: molecules_found
FROM found
 CROSS JOIN graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.n = found.n

-- name: atoms_by_name
-- Return a page of the atoms of a project, and the total count.
SELECT a.id, count(*) OVER () AS total
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
 ORDER BY a.name, a.id
 LIMIT :limit OFFSET :offset;

-- name: atoms_of_molecule
-- Return a page of the atoms of a molecule, or of the orphans, and the total count.
SELECT a.id, count(*) OVER () AS total
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND {in_molecule}
 ORDER BY a.name, a.id
 LIMIT :limit OFFSET :offset;

-- name: project_number
-- Return the number of a project in the keys of the word index.
SELECT g.number
  FROM graph_projects AS g
 WHERE g.tenant_id = :tenant_id
   AND g.project_id = :project_id;

-- name: atoms_with_words
-- Return a page of atoms with every word of a query: in the project, in one molecule, or orphans.
{numbers_with_words}
SELECT a.id, count(*) OVER () AS total
  {atoms_found}
   AND (NOT CAST(:is_narrowed AS boolean) OR {in_molecule})
 ORDER BY a.name, a.id
 LIMIT :limit OFFSET :offset;

-- name: molecules_by_name
-- Return a page of the molecules of a project, and the total count.
SELECT m.id, count(*) OVER () AS total
  FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
 ORDER BY m.name, m.id
 LIMIT :limit OFFSET :offset;

-- name: molecules_with_words
-- Return a page of molecules with every word of a query.
{numbers_with_words}
SELECT m.id, count(*) OVER () AS total
  {molecules_found}
 ORDER BY m.name, m.id
 LIMIT :limit OFFSET :offset;

-- name: first_matched_atoms
-- Return the first of the given atoms, sorted by the name of their molecule, then their own; orphans last.
SELECT a.id
  FROM graph_atoms AS a
  LEFT JOIN graph_molecules AS m
    ON m.tenant_id = a.tenant_id
   AND m.project_id = a.project_id
   AND m.id = a.molecule_id
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.id IN (SELECT value FROM each(:ids))
 ORDER BY a.molecule_id IS NULL, m.name, m.id, a.name, a.id
 LIMIT :at_most;

-- name: atom_summaries
-- Return atoms after a position, sorted by name, without their knowledge.
SELECT a.id, a.name, a.molecule_id, a.paths, a.version, a.confirmed_commit, a.confirmed_at
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND (a.name, a.id) > (CAST(:after_name AS text), CAST(:after_id AS text))
 ORDER BY a.name, a.id
 LIMIT :at_most;
