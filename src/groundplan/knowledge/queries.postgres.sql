-- Queries that differ on PostgreSQL.

-- part: in_molecule
-- Differs from SQLite, where IS compares any two values and uses the index.
(a.molecule_id = CAST(:molecule_id AS text) OR (a.molecule_id IS NULL AND CAST(:molecule_id AS text) IS NULL))

-- part: numbers_with_words
-- Differs from SQLite, which searches its word index first: here the words of each row are compared.

-- part: has_parts
-- Differs from SQLite in the function's name.
NOT EXISTS (SELECT 1
                     FROM each(:parts) AS part
                    WHERE strpos(words, part.value) = 0)

-- part: is_inside
-- Differs from SQLite for the reason above.
EXISTS (SELECT 1
           FROM each(:words) AS wanted
          WHERE strpos(words, ' ' || wanted.value) = 0)

-- part: atoms_found
-- Differs from SQLite for the same reason.
FROM graph_atoms AS a
 WHERE a.tenant_id = :tenant_id
   AND a.project_id = :project_id
   AND {has_parts}

-- part: molecules_found
-- Differs from SQLite for the same reason.
FROM graph_molecules AS m
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
   AND {has_parts}

-- part: lacks_words_in_title
-- Differs from SQLite, whose patterns may list characters: here the characters of the title are folded.
NOT translate(lower(x.title COLLATE "C"), :uppers, :lowers) LIKE ALL (ARRAY(SELECT value FROM each(:likes)))

-- part: found_in_projects
-- Differs from SQLite, which searches its word index first.

-- part: atoms_of_projects
-- Differs from SQLite for the same reason.
FROM graph_atoms AS a
         WHERE a.tenant_id = :tenant_id
           AND a.project_id IN (SELECT value FROM each(:projects))
           AND {has_parts}

-- part: molecules_of_projects
-- Differs from SQLite for the same reason.
FROM graph_molecules AS m
         WHERE m.tenant_id = :tenant_id
           AND m.project_id IN (SELECT value FROM each(:projects))
           AND {has_parts}

-- part: has_words_in_entry
-- Differs from SQLite in how words are compared.
translate(lower(x.text COLLATE "C"), :uppers, :lowers) LIKE ALL (ARRAY(SELECT value FROM each(:likes)))
