"""Set up a working copy: entries for AI clients, instructions for agents and a git hook. All can be removed again."""
