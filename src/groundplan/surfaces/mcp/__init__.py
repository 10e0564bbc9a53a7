"""MCP over stdio: the registry's operations as tools, on a JSON-RPC loop of our own."""
