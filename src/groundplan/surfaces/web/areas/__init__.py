"""The areas of a project on the page: the data that each reads, and its template."""
