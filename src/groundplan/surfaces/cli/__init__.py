"""The command line: the registry's operations as commands, and what an installation needs around them."""
