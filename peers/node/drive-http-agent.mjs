// Drives a running server with the official HttpAgent, both generations.
//
//   node drive-http-agent.mjs URL --cwd DIR SCENARIO.json... [--client 1.0.0] [--token TOKEN]
//
// Exit status 0 when every expectation holds, 1 when one does not. lib/scenario.mjs tells the format.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";

import { CLIENTS } from "./lib/clients.mjs";
import { runScenario } from "./lib/scenario.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cwd: { type: "string" },
    client: { type: "string", multiple: true, default: Object.keys(CLIENTS) },
    token: { type: "string" },
  },
});
const [url, ...files] = positionals;
if (!url || !values.cwd || files.length === 0) {
  console.error("usage: drive-http-agent.mjs URL --cwd DIR SCENARIO.json... [--client VERSION] [--token TOKEN]");
  process.exit(2);
}

let passed = 0;
let failed = 0;
for (const file of files) {
  const scenario = JSON.parse(readFileSync(file, "utf8"));
  for (const version of values.client) {
    const name = `${version} ${basename(file, ".json")}`;
    try {
      await runScenario(CLIENTS[version].HttpAgent, scenario, { url, cwd: values.cwd, token: values.token, name });
      passed += 1;
      console.log(`good ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`BAD  ${name}: ${error.message}`);
    }
  }
}
console.log(`http-agent: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
