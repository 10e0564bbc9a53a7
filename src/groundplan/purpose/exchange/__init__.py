"""Export a theory as a file or a picture, and import a file as a new draft."""
