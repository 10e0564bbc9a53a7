-- Queries of atoms, molecules, changelogs, the results of checks, and the revision. Lists return ids only; the rows of a
-- page are loaded by id.

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
                 LIMIT :entries_max)
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

-- part: in_molecule
-- The atom is in this molecule, or in none if the parameter is null.
a.molecule_id IS CAST(:molecule_id AS text)

-- part: numbers_with_words
-- The numbers of the rows that the word index finds for all words, and of those that may have them inside of words.
WITH begun (n) AS MATERIALIZED (
    SELECT graph_text.rowid - CAST(:first_key AS bigint)
      FROM graph_text
     WHERE graph_text MATCH :match
       AND graph_text.rowid BETWEEN CAST(:first_key AS bigint) AND CAST(:last_key AS bigint)
), found (n, is_inside) AS MATERIALIZED (
    SELECT n, false
      FROM begun
     UNION ALL
    SELECT graph_trigrams.rowid - CAST(:first_key AS bigint), true
      FROM graph_trigrams
     WHERE graph_trigrams MATCH :inside_match
       AND graph_trigrams.rowid BETWEEN CAST(:first_key AS bigint) AND CAST(:last_key AS bigint)
       AND graph_trigrams.rowid - CAST(:first_key AS bigint) NOT IN (SELECT n FROM begun)
)

-- part: has_parts
-- Whether a row has all words, at the beginning or inside of words.
NOT EXISTS (SELECT 1
                     FROM each(:parts) AS part
                    WHERE instr(words, part.value) = 0)

-- part: is_inside
-- Whether a row has a word only inside of words.
found.is_inside

-- part: atoms_found
FROM found
 CROSS JOIN graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND a.n = found.n
   AND (NOT found.is_inside OR {has_parts})

-- part: molecules_found
FROM found
 CROSS JOIN graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND m.n = found.n
   AND (NOT found.is_inside OR {has_parts})

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
-- Return a page of atoms with every word of a query: in the project, in one molecule, or orphans. Those that have a
-- word only inside of words come last.
{numbers_with_words}
SELECT a.id, count(*) OVER () AS total
  {atoms_found}
   AND (NOT CAST(:is_narrowed AS boolean) OR {in_molecule})
 ORDER BY {is_inside}, a.name, a.id
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
-- Return a page of molecules with every word of a query, in the same order.
{numbers_with_words}
SELECT m.id, count(*) OVER () AS total
  {molecules_found}
 ORDER BY {is_inside}, m.name, m.id
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
-- Return atoms after a position, sorted by name, without their knowledge; of all, or only some ids and states.
SELECT a.id, a.name, a.molecule_id, a.paths, a.version, a.confirmed_commit, a.confirmed_at
  FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND (a.name, a.id) > (CAST(:after_name AS text), CAST(:after_id AS text))
   AND (NOT CAST(:has_ids AS boolean) OR a.id IN (SELECT value FROM each(:ids)))
   AND (NOT CAST(:has_states AS boolean)
        OR coalesce((SELECT f.state
                       FROM graph_freshness AS f
                      WHERE f.tenant_id = :tenant_id
                        AND f.project_id = :project_id
                        AND f.atom_id = a.id), 'not_checked') IN (SELECT value FROM each(:states)))
 ORDER BY a.name, a.id
 LIMIT :at_most;

-- part: lacks_words_in_title
-- Whether the title of a row lacks a word of a search.
EXISTS (SELECT 1
                                               FROM each(:globs) AS pattern
                                              WHERE x.title NOT GLOB pattern.value)

-- part: found_in_projects
-- The numbers of the rows that the indexes find in some projects, as in `numbers_with_words`.
WITH begun (project_id, number, n) AS MATERIALIZED (
    SELECT g.project_id, g.number, graph_text.rowid - g.number * 4294967296
      FROM each(:projects) AS p
     CROSS JOIN graph_projects AS g
     CROSS JOIN graph_text
     WHERE g.tenant_id = :tenant_id
       AND g.project_id = p.value
       AND graph_text MATCH :match
       AND graph_text.rowid BETWEEN g.number * 4294967296 AND g.number * 4294967296 + 4294967295
), found (project_id, n, is_inside) AS MATERIALIZED (
    SELECT project_id, n, false
      FROM begun
     UNION ALL
    SELECT g.project_id, graph_trigrams.rowid - g.number * 4294967296, true
      FROM each(:projects) AS p
     CROSS JOIN graph_projects AS g
     CROSS JOIN graph_trigrams
     WHERE g.tenant_id = :tenant_id
       AND g.project_id = p.value
       AND graph_trigrams MATCH :inside_match
       AND graph_trigrams.rowid BETWEEN g.number * 4294967296 AND g.number * 4294967296 + 4294967295
       AND graph_trigrams.rowid NOT IN (SELECT number * 4294967296 + n FROM begun)
)

-- part: atoms_of_projects
FROM found
         CROSS JOIN graph_atoms AS a
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = found.project_id
           AND a.n = found.n
           AND (NOT found.is_inside OR {has_parts})

-- part: molecules_of_projects
FROM found
         CROSS JOIN graph_molecules AS m
         WHERE m.tenant_id = :tenant_id
           AND m.project_id = found.project_id
           AND m.n = found.n
           AND (NOT found.is_inside OR {has_parts})

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
-- Return the first atoms and molecules of each project with all words: those first where all begin words, then those
-- with the words in their names.
{found_in_projects}
SELECT project_id, ref, kind, title
  FROM (SELECT x.project_id, x.ref, x.kind, x.title, x.is_inside, x.lacks_words,
               row_number() OVER (
                   PARTITION BY x.project_id ORDER BY x.is_inside, x.lacks_words, x.title, x.ref) AS position
          FROM (SELECT x.*, {lacks_words_in_title} AS lacks_words
                  FROM (SELECT a.project_id, a.id AS ref, 'atom' AS kind, a.name AS title, {is_inside} AS is_inside
                          {atoms_of_projects}
                         UNION ALL
                        SELECT m.project_id, m.id, 'molecule', m.name, {is_inside}
                          {molecules_of_projects}) AS x) AS x) AS ranked
 WHERE position <= :per_project
 ORDER BY is_inside, lacks_words, position, project_id
 LIMIT :at_most;

-- part: entry_of
AND t.tenant_id = :tenant_id
           AND t.project_id = p.value

-- part: has_words_in_entry
NOT EXISTS (SELECT 1
                     FROM each(:globs) AS pattern
                    WHERE x.text NOT GLOB pattern.value)

-- name: entities_with_entries
-- Return the atoms and molecules of these projects with all words in an entry of their changelog, the newest first.
SELECT x.project_id, x.ref, x.kind, x.title, x.text
  FROM (SELECT t.project_id, a.id AS ref, 'atom' AS kind, a.name AS title, t.summary AS text, t.rev, t.id
          FROM each(:projects) AS p
         CROSS JOIN graph_atoms AS a
         CROSS JOIN graph_changelog AS t
         WHERE a.tenant_id = :tenant_id
           AND a.project_id = p.value
           {entry_of}
           AND t.parent_type = 'atom'
           AND t.parent_id = a.id
         UNION ALL
        SELECT t.project_id, m.id, 'molecule', m.name, t.summary, t.rev, t.id
          FROM each(:projects) AS p
         CROSS JOIN graph_molecules AS m
         CROSS JOIN graph_changelog AS t
         WHERE m.tenant_id = :tenant_id
           AND m.project_id = p.value
           {entry_of}
           AND t.parent_type = 'molecule'
           AND t.parent_id = m.id) AS x
 WHERE {has_words_in_entry}
 ORDER BY x.rev DESC, x.project_id, x.id
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

-- name: members_of_molecule
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
