// The official client, 1.0.0, against the shim: over POST /invocations, and over /ws as a transport of one's own.
//
//   node ag-ui-client.mjs HOST:PORT status|stream [TEXT...]
//
// Whatever comes passes the client's own verifier: an event that it does not take fails the run.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { AbstractAgent, HttpAgent } from "@ag-ui/client";
import { Observable } from "rxjs";
import WebSocket from "ws";

const [address, errorMode, ...given] = process.argv.slice(2);
const texts =
  given.length > 0 ? given : ["echo hello", "sample", "nothing", "after", "ids", "before", "burst 2000", "raise"];

/** One JSON event a text frame, one run a socket. */
class SocketAgent extends AbstractAgent {
  constructor(url, config) {
    super(config);
    this.url = url;
  }

  run(input) {
    return new Observable((reader) => {
      const socket = new WebSocket(this.url);
      socket.on("open", () => socket.send(JSON.stringify(input)));
      socket.on("message", (data) => {
        const event = JSON.parse(data.toString());
        reader.next(event);
        if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") socket.close();
      });
      socket.on("error", (error) => reader.error(error));
      socket.on("close", () => reader.complete());
      return () => socket.terminate();
    });
  }
}

const transports = {
  http: (threadId) => new HttpAgent({ url: `http://${address}/invocations`, threadId }),
  ws: (threadId) => new SocketAgent(`ws://${address}/ws`, { threadId }),
};

for (const [transport, make] of Object.entries(transports)) {
  for (const text of texts) {
    const agent = make(randomUUID());
    agent.addMessage({ id: randomUUID(), role: "user", content: text });
    const types = [];
    let failure;
    await agent.runAgent(
      { runId: randomUUID() },
      {
        onEvent: ({ event }) => void types.push(event.type),
        onRunErrorEvent: ({ event }) => void (failure = event),
      },
    );
    const name = `${transport} ${text}`;
    assert.equal(types[0], "RUN_STARTED", name);
    assert.ok(["RUN_FINISHED", "RUN_ERROR"].includes(types.at(-1)), `${name}: ${types.slice(-3)}`);
    if (failure) {
      assert.equal(failure.code, "AGENT_ERROR", name);
      assert.ok(!failure.message.includes("secret"), failure.message);
    }
  }
}

// A refusal, here of a run id that came before with another message: with its status the client throws, as a
// stream it is an event.
const threadId = randomUUID();
const runId = randomUUID();
let told;
for (const text of ["one", "two"]) {
  const agent = transports.http(threadId);
  agent.addMessage({ id: "m", role: "user", content: text });
  try {
    await agent.runAgent({ runId }, { onRunErrorEvent: ({ event }) => void (told = event.code) });
  } catch (error) {
    told ??= error.status;
  }
  if (text === "one") assert.equal(told, undefined, "the first request is taken");
}
assert.equal(told, errorMode === "stream" ? "RUN_ID_CONFLICT" : 409, "how a refusal is seen");
