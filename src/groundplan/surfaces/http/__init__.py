"""REST over HTTP: translate a request, call an operation, translate its answer."""
