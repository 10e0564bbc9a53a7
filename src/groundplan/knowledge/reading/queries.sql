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

-- part: lacks_words_in_title
-- Whether the title of a row lacks a word of a search.
EXISTS (SELECT 1
                                               FROM each(:globs) AS pattern
                                              WHERE x.title NOT GLOB pattern.value)

-- part: found_in_projects
-- The numbers of the rows that the word index finds for all words, in some projects.
WITH found (project_id, n) AS MATERIALIZED (
    SELECT g.project_id, graph_text.rowid - g.number * 4294967296
      FROM each(:projects) AS p
     CROSS JOIN graph_projects AS g
     CROSS JOIN graph_text
     WHERE g.tenant_id = :tenant_id
       AND g.project_id = p.value
       AND graph_text MATCH :match
       AND graph_text.rowid BETWEEN g.number * 4294967296 AND g.number * 4294967296 + 4294967295
)

-- part: atoms_of_projects
FROM found
         CROSS JOIN graph_atoms AS a
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = found.project_id
           AND a.n = found.n

-- part: molecules_of_projects
FROM found
         CROSS JOIN graph_molecules AS m
         WHERE m.tenant_id = :tenant_id
           AND m.project_id = found.project_id
           AND m.n = found.n

-- name: entities_with_id
-- Return the atom or molecule of these projects with an id.
SELECT a.project_id, a.id AS ref, 'atom' AS kind, a.name AS title
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.id = :id
   AND a.project_id IN (SELECT value FROM each(:projects))
 UNION ALL
SELECT m.project_id, m.id, 'molecule', m.name
  FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.id = :id
   AND m.project_id IN (SELECT value FROM each(:projects));

-- name: entities_with_words
-- Return the first atoms and molecules of each project with all words, those with the words in their names first.
{found_in_projects}
SELECT project_id, ref, kind, title
  FROM (SELECT x.project_id, x.ref, x.kind, x.title, x.lacks_words,
               row_number() OVER (PARTITION BY x.project_id ORDER BY x.lacks_words, x.title, x.ref) AS position
          FROM (SELECT x.*, {lacks_words_in_title} AS lacks_words
                  FROM (SELECT a.project_id, a.id AS ref, 'atom' AS kind, a.name AS title
                          {atoms_of_projects}
                         UNION ALL
                        SELECT m.project_id, m.id, 'molecule', m.name
                          {molecules_of_projects}) AS x) AS x) AS ranked
 WHERE position <= :per_project
 ORDER BY lacks_words, position, project_id
 LIMIT :at_most;

-- name: entity_texts
-- Return the knowledge of some atoms and molecules.
SELECT a.id, a.knowledge
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.id IN (SELECT value FROM each(:ids))
 UNION ALL
SELECT m.id, m.knowledge
  FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.id IN (SELECT value FROM each(:ids));

-- name: entity_version
-- Return whether an id is that of an atom or of a molecule, and its version.
SELECT 'atom' AS kind, a.version
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.id = :id
 UNION ALL
SELECT 'molecule', m.version
  FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.id = :id;

-- name: atom_ids_of_molecule
-- Return the ids of the atoms of a molecule.
SELECT a.id
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.molecule_id = :molecule_id
 ORDER BY a.name, a.id;
