// The npm client `ws` against a socket of the shim: a token in the subprotocol, several turns, a cancel.
//
//   node ws.mjs ws://HOST:PORT/ws
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import WebSocket from "ws";

const PROTOCOL = "base64UrlBearerAuthorization";
const TERMINAL = new Set(["RUN_FINISHED", "RUN_ERROR"]);
const url = process.argv[2];

const token = Buffer.from("token").toString("base64url");
const socket = new WebSocket(url, [PROTOCOL, `${PROTOCOL}.${token}`]);
const waiting = [];
const arrived = [];
socket.on("message", (data, isBinary) => {
  assert.equal(isBinary, false, "events come as text");
  const event = JSON.parse(data.toString());
  const taker = waiting.shift();
  if (taker) taker(event);
  else arrived.push(event);
});
const next = () => (arrived.length > 0 ? Promise.resolve(arrived.shift()) : new Promise((take) => waiting.push(take)));

async function until(good) {
  const seen = [];
  for (;;) {
    seen.push(await next());
    if (good(seen.at(-1))) return seen;
  }
}

const input = (text) => ({
  threadId: randomUUID(),
  runId: randomUUID(),
  messages: [{ id: "m", role: "user", content: text }],
  protocolVersion: "1.0",
});

await new Promise((opened, failed) => socket.once("open", opened).once("error", failed));
assert.equal(socket.protocol, PROTOCOL, "the subprotocol is echoed");

for (const text of ["echo one", "sample", "echo two"]) {
  const body = input(text);
  socket.send(JSON.stringify(body));
  const events = await until((event) => TERMINAL.has(event.type));
  assert.equal(events[0].runId, body.runId);
  assert.equal(events.at(-1).type, "RUN_FINISHED", text);
}

socket.send(Buffer.from(JSON.stringify(input("silent 20"))), { binary: true });
await until((event) => event.type === "RUN_STARTED");
socket.send(JSON.stringify({ type: "cancel" }));
const cancelled = await until((event) => TERMINAL.has(event.type));
assert.deepEqual(cancelled.at(-1).outcome, { type: "cancelled" });

const closed = new Promise((done) => socket.once("close", done));
socket.close(1000);
assert.equal(await closed, 1000);
