"""How tasks and features move through their pipeline, and what holds them up."""
