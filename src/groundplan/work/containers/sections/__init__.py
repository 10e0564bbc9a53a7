"""Sections: text about a project, a feature or a task, in parts that stand in an order."""
