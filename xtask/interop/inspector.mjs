// The official inspector as a client: `inspector.mjs ERA TARGET`, where the target is an address or a command, with the tool to
// call in CALL as JSON. Has it look at the schemas and verify the skills too. Prints one line of JSON: what it saw; it does not say
// which revision it spoke.
import { execFileSync } from 'node:child_process';

const [era, target] = process.argv.slice(2);
const call = JSON.parse(process.env.CALL);
const ask = (...method) => {
  const args = ['--cli', target, '--method', ...method, '--format', 'json', '-q', '--protocol-era', era];
  return JSON.parse(execFileSync('mcp-inspector', args, { encoding: 'utf8' }));
};
// It ends badly where a schema would not do for every host.
const { tools } = ask('tools/list', '--strict').result;
const values = Object.entries(call.arguments).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
const { result } = ask('tools/call', '--tool-name', call.name, ...values);
const { outcome } = ask('skills/list', '--verify');
if (outcome !== 'verified') throw new Error(`the skills are ${outcome}`);
console.log(JSON.stringify({ revision: null, tools: tools.map((tool) => tool.name), result }));
