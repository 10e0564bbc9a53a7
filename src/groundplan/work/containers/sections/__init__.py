"""Sections: the ordered parts of the text about a project, a feature or a task."""
