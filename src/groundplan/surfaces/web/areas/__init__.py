"""The areas of a project on the page: what each reads, and the template that shows it."""
