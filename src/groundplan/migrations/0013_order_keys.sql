-- Keys that prove that a plan can be finished. While a project is ordered, the key of every open node is greater than the
-- keys of the open nodes that it waits for: its children and its dependencies. Then nothing waits for itself, and a new
-- node needs no search for loops. Projects from before are not ordered, unless they have nothing but a root.
ALTER TABLE work_nodes ADD COLUMN order_key {text}
    CONSTRAINT work_nodes_order_key_fits CHECK (length(order_key) BETWEEN 1 AND 120);

ALTER TABLE work_projects ADD COLUMN is_ordered {boolean} NOT NULL DEFAULT false
    CONSTRAINT work_projects_is_ordered_is_a_fact CHECK (is_ordered IN (false, true));

UPDATE work_nodes
   SET order_key = '~'
 WHERE n = 1;

UPDATE work_projects
   SET is_ordered = true
 WHERE total = 1;
