"""The dependencies of tasks as a picture and as a list."""
