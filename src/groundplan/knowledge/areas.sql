-- name: largest_molecules
-- The molecules with the most atoms, and how many molecules have some.
SELECT m.name, count(*) AS notes, count(*) OVER () AS total
  FROM graph_molecules AS m
  JOIN graph_atoms AS a
    ON a.tenant_id = m.tenant_id
   AND a.project_id = m.project_id
   AND a.molecule_id = m.id
 WHERE m.tenant_id = :tenant_id
   AND m.project_id = :project_id
 GROUP BY m.id, m.name
 ORDER BY notes DESC, m.name, m.id
 LIMIT :at_most;

-- name: count_orphans
-- The number of atoms without a molecule.
SELECT count(*)
  FROM graph_atoms
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND molecule_id IS NULL;
