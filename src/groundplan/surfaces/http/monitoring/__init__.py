"""What operators see of the server: a line for each request, metrics, and whether it is ready."""
