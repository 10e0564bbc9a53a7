"""Work on working copies: check knowledge against git, confirm atoms, and export and import rule files."""
