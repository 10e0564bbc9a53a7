"""MCP over stdio: the registry's operations as tools, on our own JSON-RPC loop."""
