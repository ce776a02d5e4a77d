// The first generation of the official TypeScript SDK as a client: `sdk.mjs http|sse URL` or `sdk.mjs stdio COMMAND ARGS...`,
// with the tool to call in CALL as JSON; with ANSWERS it answers what the server asks on the way. Prints one line of JSON: what it
// saw.
import { createRequire } from 'node:module';

const require = createRequire(process.env.PACKAGES + '/package.json');
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} = require('@modelcontextprotocol/sdk/types.js');
const { SSEClientTransport } = require('@modelcontextprotocol/sdk/client/sse.js');

const [kind, ...target] = process.argv.slice(2);
let revision = null;
const open = {
  stdio: () => new StdioClientTransport({ command: target[0], args: target.slice(1) }),
  http: () => new StreamableHTTPClientTransport(new URL(target[0])),
  sse: () => new SSEClientTransport(new URL(target[0])),
};
const transport = open[kind]();
// The client tells its transport what was settled on, and nobody else.
const before = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  revision = version;
  before?.(version);
};
const answers = process.env.ANSWERS !== undefined;
const capabilities = answers ? { elicitation: {}, sampling: {}, roots: {} } : {};
const client = new Client({ name: 'interop', version: '1' }, { capabilities });
if (answers) {
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    content: { type: 'text', text: 'Good day' },
    model: 'interop',
  }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///srv/interop' }] }));
}
await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool(JSON.parse(process.env.CALL));
await client.close();
console.log(JSON.stringify({ revision, tools: tools.map((tool) => tool.name), result }));
