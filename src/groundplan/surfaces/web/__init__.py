"""Pages for people, which the server writes; the login and the start page need no script."""
