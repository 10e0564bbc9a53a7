"""The official conformance suite of MCP and the official TypeScript clients, for `make conformance`."""
