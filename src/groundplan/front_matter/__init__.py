"""Front matter: fields between two lines of `---` at the top of a text file."""
