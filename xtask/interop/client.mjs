// The second generation of the official TypeScript SDK as a client: `client.mjs ERA http URL` or `client.mjs ERA stdio COMMAND
// ARGS...`, with the tool to call in CALL as JSON; with ANSWERS it answers what the server asks on the way. The era is `default` or
// `auto`. Prints one line of JSON: what it saw.
import { createRequire } from 'node:module';

const require = createRequire(process.env.PACKAGES + '/package.json');
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

const [era, kind, ...target] = process.argv.slice(2);
const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: target[0], args: target.slice(1) })
    : new StreamableHTTPClientTransport(new URL(target[0]));
const answers = process.env.ANSWERS !== undefined;
const options = { capabilities: answers ? { elicitation: {}, sampling: {}, roots: {} } : {} };
if (era !== 'default') options.versionNegotiation = { mode: era };
const client = new Client({ name: 'interop', version: '1' }, options);
if (answers) {
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant',
    content: { type: 'text', text: 'Good day' },
    model: 'interop',
  }));
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///srv/interop' }] }));
}
await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool(JSON.parse(process.env.CALL));
const revision = client.getNegotiatedProtocolVersion?.() ?? null;
await client.close();
console.log(JSON.stringify({ revision, tools: tools.map((tool) => tool.name), result }));
