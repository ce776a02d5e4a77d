// The second generation of the official TypeScript SDK as a client: `client.mjs ERA http URL` or `client.mjs ERA stdio COMMAND
// ARGS...`, with the tool to call in CALL as JSON. The era is `default` or `auto`. Prints one line of JSON: what it saw.
import { createRequire } from 'node:module';

const require = createRequire(process.env.PACKAGES + '/package.json');
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

const [era, kind, ...target] = process.argv.slice(2);
const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: target[0], args: target.slice(1) })
    : new StreamableHTTPClientTransport(new URL(target[0]));
const options = era === 'default' ? {} : { versionNegotiation: { mode: era } };
const client = new Client({ name: 'interop', version: '1' }, options);
await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool(JSON.parse(process.env.CALL));
const revision = client.getNegotiatedProtocolVersion?.() ?? null;
await client.close();
console.log(JSON.stringify({ revision, tools: tools.map((tool) => tool.name), result }));
