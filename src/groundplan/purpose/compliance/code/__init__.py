"""Search SQL, migrations and source code for patterns that the checklist forbids. The code is only read, never run."""
