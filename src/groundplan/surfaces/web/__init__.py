"""Pages for people: the login and the start page, written on the server and without any script."""
