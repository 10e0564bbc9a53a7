-- Lists of atoms and molecules. A page is asked for by ids alone; what is shown of it is fetched for these.

-- part: in_molecule
-- Of one molecule, or of none where it is null.
a.molecule_id IS CAST(:molecule_id AS text)

-- part: numbers_with_words
-- Every word is there: the index tells by the numbers of those that have them all.
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
-- All atoms of a project, and how many there are on all pages.
SELECT a.id, count(*) OVER () AS total
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
 ORDER BY a.name, a.id
 LIMIT :limit OFFSET :offset;

-- name: atoms_of_molecule
-- The atoms of a molecule, or those of none.
SELECT a.id, count(*) OVER () AS total
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND {in_molecule}
 ORDER BY a.name, a.id
 LIMIT :limit OFFSET :offset;

-- name: project_number
-- The number of a project in the keys of the index of words.
SELECT g.number
  FROM graph_projects AS g
 WHERE g.tenant_id = :tenant_id
   AND g.project_id = :project_id;

-- name: atoms_with_words
-- Atoms that have every word of a query, of all of a project or of one molecule or none.
{numbers_with_words}
SELECT a.id, count(*) OVER () AS total
  {atoms_found}
   AND (NOT CAST(:is_narrowed AS boolean) OR {in_molecule})
 ORDER BY a.name, a.id
 LIMIT :limit OFFSET :offset;

-- name: molecules_by_name
-- All molecules of a project.
SELECT m.id, count(*) OVER () AS total
  FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
 ORDER BY m.name, m.id
 LIMIT :limit OFFSET :offset;

-- name: molecules_with_words
-- Molecules that have every word of a query.
{numbers_with_words}
SELECT m.id, count(*) OVER () AS total
  {molecules_found}
 ORDER BY m.name, m.id
 LIMIT :limit OFFSET :offset;

-- name: first_matched_atoms
-- Of some atoms those that come first: by the name of their molecule, then by their own; those of none last.
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
-- Atoms behind one in the order of their names, without what they say.
SELECT a.id, a.name, a.molecule_id, a.paths, a.version, a.confirmed_commit, a.confirmed_at
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND (a.name, a.id) > (CAST(:after_name AS text), CAST(:after_id AS text))
 ORDER BY a.name, a.id
 LIMIT :at_most;
