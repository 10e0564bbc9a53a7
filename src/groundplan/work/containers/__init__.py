"""The container dialect: projects, features and tasks with statuses, on the rows of the work graph."""
