"""Wait for commits of any process, on both engines."""
