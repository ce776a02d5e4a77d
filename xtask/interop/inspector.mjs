// The official inspector as a client: `inspector.mjs ERA TARGET`, where the target is an address or a command, with the tool to
// call in CALL as JSON. Prints one line of JSON: what it saw. It does not say which revision it spoke.
import { execFileSync } from 'node:child_process';

const [era, target] = process.argv.slice(2);
const call = JSON.parse(process.env.CALL);
const ask = (...method) => {
  const args = ['--cli', target, '--method', ...method, '--format', 'json', '-q', '--protocol-era', era];
  const { result } = JSON.parse(execFileSync('mcp-inspector', args, { encoding: 'utf8' }));
  return result;
};
const { tools } = ask('tools/list');
const values = Object.entries(call.arguments).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
const result = ask('tools/call', '--tool-name', call.name, ...values);
console.log(JSON.stringify({ revision: null, tools: tools.map((tool) => tool.name), result }));
