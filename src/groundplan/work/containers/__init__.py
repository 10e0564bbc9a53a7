"""Projects, features and tasks with statuses, stored in the rows of the work graph."""
