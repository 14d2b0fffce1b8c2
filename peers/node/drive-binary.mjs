// Reads the same runs in both encodings with the official client, which has to see the same.
//
//   node drive-binary.mjs PATH-OF-agui-server
//
// Exit status 0 when it does, 1 when it does not.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { HttpAgent } from "@ag-ui/client";
import { AGUI_MEDIA_TYPE } from "@ag-ui/encoder";

import { quietly } from "./lib/clients.mjs";
import { startDemo } from "./lib/demo.mjs";

const PROMPTS = ["chat with me", "tool: list the files", "write a file", "question please", "progress please", "fail please"];

/// The released client reads frames but never asks for them.
class BinaryAgent extends HttpAgent {
  requestInit(input) {
    const init = super.requestInit(input);
    return { ...init, headers: { ...init.headers, accept: AGUI_MEDIA_TYPE } };
  }
}

const server = await startDemo(process.argv[2]);
let passed = 0;
let failed = 0;
try {
  for (const prompt of PROMPTS) {
    try {
      const text = await quietly(() => run(HttpAgent, prompt, "text/event-stream"));
      const binary = await quietly(() => run(BinaryAgent, prompt, AGUI_MEDIA_TYPE));
      assert.ok(text.length > 2, `only ${text.length} events`);
      assert.deepEqual(binary, text);
      passed += 1;
      console.log(`good ${prompt} (${text.length} events)`);
    } catch (error) {
      failed += 1;
      console.log(`BAD  ${prompt}: ${error.message}`);
    }
  }
  const problem = await refusal();
  if (problem) console.log(`BAD  refusal: ${problem}`);
  problem ? (failed += 1) : (passed += 1);
} finally {
  await server.stop();
}
console.log(`binary: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/// The events of one run without what differs between any two runs.
async function run(Agent, prompt, contentType) {
  const events = [];
  const fetched = async (url, init) => {
    const response = await fetch(url, init);
    assert.equal(response.headers.get("content-type"), contentType);
    return response;
  };
  const agent = new Agent({ url: server.url, threadId: randomUUID(), fetch: fetched });
  agent.addMessage({ id: randomUUID(), role: "user", content: prompt });
  const iacCode = { schemaVersion: 1, rosInvocationId: "inv-1", cwd: server.cwd };
  await agent.runAgent({ runId: "run", forwardedProps: { iacCode } }, { onEvent: ({ event }) => void events.push(structuredClone(event)) });
  return events.map(stable);
}

/// Ids and times become the order in which they were first seen.
function stable(event) {
  const names = new Map();
  const text = JSON.stringify(event, (key, value) => (key === "timestamp" ? undefined : value));
  const changing = /[0-9a-f]{8}-[0-9a-f-]{27}|(?<![0-9a-f])[0-9a-f]{12,40}(?![0-9a-f])|(?<=_)[0-9a-f]{8}(?![0-9a-f])|\d{4}-\d\d-\d\dT[\d:.]+Z/g;
  return JSON.parse(text.replace(changing, (id) => names.get(id) ?? (names.set(id, `#${names.size}`), names.get(id))));
}

/// What is refused before the run is JSON in every encoding.
async function refusal() {
  const headers = { "content-type": "application/json", accept: AGUI_MEDIA_TYPE };
  const response = await fetch(server.url, { method: "POST", headers, body: "{}" });
  const type = response.headers.get("content-type");
  return response.status === 400 && type === "application/json" ? undefined : `${response.status} ${type}`;
}
