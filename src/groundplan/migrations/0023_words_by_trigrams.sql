-- The inside of words of knowledge is found, too.
-- only: sqlite
-- The words of names and knowledge by their trigrams. As in graph_text, only where each occurs is kept: what is found is
-- compared with the words beside the text. PostgreSQL has none: under row level security it would go unused.
CREATE VIRTUAL TABLE graph_trigrams
    USING fts5 (words, content = '', columnsize = 0, detail = none, tokenize = 'trigram');

INSERT INTO graph_trigrams (rowid, words)
SELECT g.number * 4294967296 + e.n, e.words
  FROM graph_projects AS g
  JOIN (SELECT tenant_id, project_id, n, words FROM graph_atoms
         UNION ALL
        SELECT tenant_id, project_id, n, words FROM graph_molecules) AS e
    ON e.tenant_id = g.tenant_id
   AND e.project_id = g.project_id;

CREATE TRIGGER graph_trigrams_learn_atoms
AFTER INSERT ON graph_atoms
BEGIN
    INSERT INTO graph_trigrams (rowid, words)
    SELECT number * 4294967296 + NEW.n, NEW.words
      FROM graph_projects
     WHERE tenant_id = NEW.tenant_id
       AND project_id = NEW.project_id;
END;

CREATE TRIGGER graph_trigrams_relearn_atoms
AFTER UPDATE OF words ON graph_atoms
WHEN NEW.words <> OLD.words
BEGIN
    INSERT INTO graph_trigrams (graph_trigrams, rowid, words)
    SELECT 'delete', number * 4294967296 + OLD.n, OLD.words
      FROM graph_projects
     WHERE tenant_id = OLD.tenant_id
       AND project_id = OLD.project_id;
    INSERT INTO graph_trigrams (rowid, words)
    SELECT number * 4294967296 + NEW.n, NEW.words
      FROM graph_projects
     WHERE tenant_id = NEW.tenant_id
       AND project_id = NEW.project_id;
END;

CREATE TRIGGER graph_trigrams_forget_atoms
AFTER DELETE ON graph_atoms
BEGIN
    INSERT INTO graph_trigrams (graph_trigrams, rowid, words)
    SELECT 'delete', number * 4294967296 + OLD.n, OLD.words
      FROM graph_projects
     WHERE tenant_id = OLD.tenant_id
       AND project_id = OLD.project_id;
END;

CREATE TRIGGER graph_trigrams_learn_molecules
AFTER INSERT ON graph_molecules
BEGIN
    INSERT INTO graph_trigrams (rowid, words)
    SELECT number * 4294967296 + NEW.n, NEW.words
      FROM graph_projects
     WHERE tenant_id = NEW.tenant_id
       AND project_id = NEW.project_id;
END;

CREATE TRIGGER graph_trigrams_relearn_molecules
AFTER UPDATE OF words ON graph_molecules
WHEN NEW.words <> OLD.words
BEGIN
    INSERT INTO graph_trigrams (graph_trigrams, rowid, words)
    SELECT 'delete', number * 4294967296 + OLD.n, OLD.words
      FROM graph_projects
     WHERE tenant_id = OLD.tenant_id
       AND project_id = OLD.project_id;
    INSERT INTO graph_trigrams (rowid, words)
    SELECT number * 4294967296 + NEW.n, NEW.words
      FROM graph_projects
     WHERE tenant_id = NEW.tenant_id
       AND project_id = NEW.project_id;
END;

CREATE TRIGGER graph_trigrams_forget_molecules
AFTER DELETE ON graph_molecules
BEGIN
    INSERT INTO graph_trigrams (graph_trigrams, rowid, words)
    SELECT 'delete', number * 4294967296 + OLD.n, OLD.words
      FROM graph_projects
     WHERE tenant_id = OLD.tenant_id
       AND project_id = OLD.project_id;
END;
-- end
