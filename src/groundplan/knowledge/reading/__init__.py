"""Read knowledge: one entity, lists of entities, changelogs, and the knowledge about files."""
