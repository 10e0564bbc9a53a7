"""Commands that set up, check and serve an installation."""
