"""Live events of a project over HTTP: server-sent events from the audit sequence."""
