"""MCP over HTTP: the tools and prompts of stdio, spoken by the official server."""
