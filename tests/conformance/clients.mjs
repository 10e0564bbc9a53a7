// Connect with the official TypeScript clients, call every kind of method, and print what they saw as JSON.
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token] = process.argv.slice(2);
const identity = { name: "conformance", version: "1" };
const stateless = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const clients = {
  "sdk 1, handshake": [new OldClient(identity), OldTransport],
  "client 2, handshake": [new Client(identity), StreamableHTTPClientTransport],
  "client 2, stateless": [new Client(identity, stateless), StreamableHTTPClientTransport],
};
const seen = {};
for (const [name, [client, Transport]] of Object.entries(clients)) {
  const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
  const transport = new Transport(new URL(url), options);
  await client.connect(transport);
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: prompts[0].name });
  const answer = await client.callTool({ name: "graph_open", arguments: {} });
  const refused = await client.callTool({ name: "graph_context", arguments: { node_id: "qqqq00" } });
  await transport.terminateSession?.();
  await client.close();
  seen[name] = {
    tools: tools.length,
    prompts: prompts.length,
    prompt: prompt.messages.length,
    projects: JSON.parse(answer.content[0].text).projects.length,
    refused: refused.isError,
  };
}
console.log(JSON.stringify(seen));
