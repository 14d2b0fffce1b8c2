// A sample agent on the JavaScript SDK (@a2a-js/sdk): the first word of a message chooses what happens.
//
//   node agent.mjs PORT
//
// Serves the same agent as agent.py at the same four addresses of one port:
//   /v1/    A2A 1.0, streaming          /v1-poll/   A2A 1.0, cannot stream
//   /v03/   A2A 0.3, streaming          /v03-poll/  A2A 0.3, cannot stream
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler } from "@a2a-js/sdk/server";
import { InMemoryTaskStore } from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler } from "@a2a-js/sdk/server/express";
import express from "express";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");

const part = ($case, value, mediaType = "", filename = "") => ({ content: { $case, value }, metadata: undefined, filename, mediaType });
const text = (value) => part("text", value);

/// One turn of a task: what the agent says goes to the bus.
class Turn {
  constructor(context, bus) {
    this.context = context;
    this.bus = bus;
    this.ids = { taskId: context.taskId, contextId: context.contextId };
  }

  message(parts) {
    return { ...this.ids, messageId: randomUUID(), role: Role.ROLE_AGENT, parts, metadata: undefined, extensions: [], referenceTaskIds: [] };
  }

  /// Every turn begins with the task as it stands, also one that answers a question.
  begin() {
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
    const fresh = { id: this.ids.taskId, contextId: this.ids.contextId, status, artifacts: [], history: [this.context.userMessage], metadata: undefined };
    this.bus.publish(AgentEvent.task(this.context.task ?? fresh));
  }

  status(state, parts) {
    const status = { state: TaskState[`TASK_STATE_${state}`], message: parts && this.message(parts), timestamp: new Date().toISOString() };
    this.bus.publish(AgentEvent.statusUpdate({ ...this.ids, status, metadata: undefined }));
  }

  artifact(artifactId, parts, { append = false, lastChunk = false, name = "" } = {}) {
    const artifact = { artifactId, name, description: "", parts, metadata: undefined, extensions: [] };
    this.bus.publish(AgentEvent.artifactUpdate({ ...this.ids, artifact, append, lastChunk, metadata: undefined }));
  }
}

class Agent {
  turns = new Map();
  contexts = new Map();
  asked = new Map();
  cancelled = new Set();
  running = new Set();

  async execute(context, bus) {
    const said = context.userMessage.parts.map((part) => (part.content?.$case === "text" ? part.content.value : "")).join("");
    const word = said.split(" ")[0];
    const turn = new Turn(context, bus);
    this.turns.set(context.contextId, (this.turns.get(context.contextId) ?? 0) + 1);
    if (word === "message") {
      const parts = [text("No task is needed for this."), part("data", { answer: 42 })];
      bus.publish(AgentEvent.message({ ...turn.message(parts), taskId: "", messageId: "direct" }));
      bus.finished();
      return;
    }
    this.contexts.set(context.taskId, context.contextId);
    turn.begin();
    const asked = this.asked.get(context.taskId);
    this.asked.delete(context.taskId);
    if (asked) this.goOn(turn, asked, said);
    else await (this[word] ?? this.stream).call(this, turn);
    bus.finished();
  }

  stream(turn) {
    turn.status("WORKING", [text("Looking it up.")]);
    ["Hello", ", ", "world"].forEach((piece, at) => turn.artifact("answer", [text(piece)], { append: at > 0, lastChunk: at === 2 }));
    turn.status("COMPLETED");
  }

  recall(turn) {
    turn.status("COMPLETED", [text(`turn ${this.turns.get(turn.ids.contextId)}`)]);
  }

  artifacts(turn) {
    turn.status("WORKING");
    for (const [append, left, right] of [[false, "left 1", "right 1"], [true, ", left 2", ", right 2"]]) {
      turn.artifact("left", [text(left)], { append });
      turn.artifact("right", [text(right)], { append });
    }
    turn.artifact("table", [part("data", { rows: [1, 2], exact: true })], { name: "Table" });
    turn.artifact("picture", [part("raw", PNG, "image/png", "dot.png")], { name: "Picture" });
    turn.artifact("report", [part("url", "https://files.example/report.pdf", "application/pdf")]);
    turn.status("COMPLETED");
  }

  ask(turn) {
    this.asked.set(turn.ids.taskId, "ask");
    turn.status("WORKING", [text("I need to know one thing.")]);
    turn.status("INPUT_REQUIRED", [text("Which city?")]);
  }

  auth(turn) {
    this.asked.set(turn.ids.taskId, "auth");
    turn.status("AUTH_REQUIRED", [text("Please sign in."), part("data", { url: "https://login.example/device", code: "WXYZ" })]);
  }

  goOn(turn, asked, said) {
    if (asked === "auth") {
      turn.status("COMPLETED", [text("You are signed in.")]);
    } else if (said === "unsure") {
      this.asked.set(turn.ids.taskId, "ask");
      turn.status("INPUT_REQUIRED", [text("Which city, please?")]);
    } else {
      turn.status("WORKING", [text(`Looking at ${said}.`)]);
      turn.artifact("weather", [text(`Sunny in ${said}`)], { lastChunk: true });
      turn.status("COMPLETED");
    }
  }

  fail(turn) {
    turn.status("FAILED", [text("The archive is closed.")]);
  }

  reject(turn) {
    turn.status("REJECTED", [text("I do not do that.")]);
  }

  async slow(turn) {
    turn.status("WORKING", [text("This takes long.")]);
    this.running.add(turn.ids.taskId);
    for (let waited = 0; waited < 600 && !this.cancelled.has(turn.ids.taskId); waited += 1) await sleep(100);
    if (this.cancelled.has(turn.ids.taskId)) turn.status("CANCELED", [text("Task canceled.")]);
    else turn.status("COMPLETED");
  }

  /// Long enough that an agent that is looked at is seen in between.
  async steps(turn) {
    for (let number = 0; number < 3; number += 1) {
      turn.artifact("steps", [text(`${number} `)], { append: number > 0 });
      turn.status("WORKING", [text(`step ${number}`)]);
      await sleep(400);
    }
    turn.status("COMPLETED");
  }

  /// Silent in the middle for longer than a client waits that is in a hurry.
  async pause(turn) {
    turn.artifact("answer", [text("before ")]);
    await sleep(1500);
    turn.artifact("answer", [text("and after")], { append: true, lastChunk: true });
    turn.status("COMPLETED");
  }

  files(turn) {
    turn.status("COMPLETED", [text(turn.context.userMessage.parts.map(described).join(" "))]);
  }

  /// A task that runs tells its end itself.
  async cancelTask(taskId, bus) {
    this.cancelled.add(taskId);
    if (this.running.has(taskId)) return;
    const contextId = this.contexts.get(taskId) ?? "";
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    bus.finished();
  }
}

function described({ content, mediaType, filename }) {
  const what = content.$case === "raw" ? content.value.length : content.$case === "url" ? content.value : "-";
  return `[${content.$case} ${mediaType || "-"} ${filename || "-"} ${what}]`;
}

const SKILL = { id: "sample", name: "Sample", description: "Does what the first word says", tags: ["sample"] };

function mount(app, port, path, version, streaming) {
  const url = `http://localhost:${port}${path}/`;
  const card = {
    name: "Sample agent", description: "For tests", version: "1", provider: undefined, securitySchemes: {}, securityRequirements: [], signatures: [],
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: version, tenant: "" }],
    capabilities: { streaming, pushNotifications: false, extensions: [] },
    defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
    skills: [{ ...SKILL, examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
  };
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Agent());
  const old = version === "0.3";
  if (old) {
    const { name, description, defaultInputModes, defaultOutputModes } = card;
    const card03 = { name, description, version: "1", protocolVersion: "0.3.0", url, preferredTransport: "JSONRPC", capabilities: { streaming }, defaultInputModes, defaultOutputModes, skills: [SKILL] };
    app.get(`${path}/.well-known/agent.json`, (_request, response) => response.json(card03));
  } else {
    app.use(`${path}/.well-known/agent-card.json`, agentCardHandler({ agentCardProvider: handler }));
  }
  app.use(`${path}/`, jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: old } }));
}

const port = Number(process.argv[2]);
const app = express();
mount(app, port, "/v1", "1.0", true);
mount(app, port, "/v1-poll", "1.0", false);
mount(app, port, "/v03", "0.3", true);
mount(app, port, "/v03-poll", "0.3", false);
app.listen(port, "127.0.0.1");
