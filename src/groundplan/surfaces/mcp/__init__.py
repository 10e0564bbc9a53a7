"""MCP over stdio: operations of the registry as tools, with a JSON-RPC loop of our own."""
