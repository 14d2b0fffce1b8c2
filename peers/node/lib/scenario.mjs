// One conversation with a server through HttpAgent, and what must come of it.
//
// A scenario file is `{"about", "model", "workspace", "steps": [...]}`; `model` is the script of the
// model server, `workspace` the files that must exist and `env` variables of the server under test,
// for whoever starts the servers. A step is one run:
//   "message"   text of a new user message
//   "props"     members of forwardedProps.iacCode beside schemaVersion, rosInvocationId and cwd
//   "resume"    answers by position in pendingInterrupts: [{"interrupt": 0, "status", "payload"}]
//   "abortOn"   leave the stream at the first event of this type
//   "cancelOn"  call the cancel extension at the first event of this type
//   "waitMs"    how long to wait before the run
//   "retryBusyMs"  how long to try again while the thread is busy with the run before
//   "expectBefore1_0"  members that replace those of "expect" for clients that send no protocolVersion
//   "expect"    what must hold after the run; every member is optional:
//     "outcome"   "success", "interrupt", "cancelled", "error" (RUN_ERROR), "aborted" or "rejected"
//     "code"      code of RUN_ERROR, or of the error envelope when rejected
//     "status"    HTTP status when rejected
//     "refusal"   part of what the client itself says when it rejects a run without asking the server
//     "text"      content of the last assistant message
//     "allText"   contents of all assistant messages, joined
//     "reasoning" content of the last reasoning message
//     "tool"      {"name", "result"}: the last tool call and a part of what it gave
//     "pending"   reasons of the interrupts that wait afterwards
//     "custom"    names of CUSTOM events that must occur
//     "roles"     roles of all messages of the conversation
//     "cancelStatus"  HTTP status of the cancel call
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import { quietly } from "./clients.mjs";

const RUN_TIMEOUT_MS = 90_000;
const RETRY_MS = 250;

/// Runs every step; throws at the first expectation that does not hold.
export async function runScenario(HttpAgent, scenario, { url, cwd, token, name }) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const threadId = `peer-${randomUUID()}`;
  const session = { url, cwd, headers, threadId, agent: new HttpAgent({ url, headers, threadId }) };
  for (const [index, step] of scenario.steps.entries()) {
    try {
      await new Promise((resolve) => setTimeout(resolve, step.waitMs ?? 0));
      const seen = await quietly(() => runUnlessBusy(session, step));
      const older = name.startsWith("0.") ? step.expectBefore1_0 : undefined;
      check(session.agent, { ...step.expect, ...older }, seen);
    } catch (error) {
      throw new Error(`${name} step ${index + 1}: ${error.message}`, { cause: error });
    }
  }
}

/// A client that left learns nothing about when its run is over, so it may have to ask again.
async function runUnlessBusy(session, { message, ...step }) {
  if (message !== undefined) session.agent.addMessage({ id: randomUUID(), role: "user", content: message });
  const deadline = Date.now() + (step.retryBusyMs ?? 0);
  for (;;) {
    const seen = await runStep(session, step);
    if (seen.rejected?.payload?.error?.code !== "THREAD_BUSY" || Date.now() > deadline) return seen;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function runStep({ url, cwd, headers, threadId, agent }, step) {
  const seen = { events: [], rejected: undefined, cancel: undefined };
  const iacCode = { schemaVersion: 1, rosInvocationId: `inv-${threadId}`, cwd, ...step.props };
  const resume = step.resume?.map(({ interrupt, ...answer }) => ({ interruptId: agent.pendingInterrupts[interrupt]?.id, ...answer }));
  const onEvent = ({ event }) => {
    const first = !seen.events.some(({ type }) => type === event.type);
    seen.events.push(structuredClone(event));
    if (first && event.type === step.abortOn) agent.abortRun();
    if (first && event.type === step.cancelOn) seen.cancel = cancel(url, headers, sessionOf(seen.events));
  };
  const timer = setTimeout(() => agent.abortRun(), RUN_TIMEOUT_MS);
  try {
    await agent.runAgent({ forwardedProps: { iacCode }, ...(resume && { resume }) }, { onEvent });
  } catch (error) {
    seen.rejected = error;
  } finally {
    clearTimeout(timer);
  }
  seen.cancelStatus = await seen.cancel;
  return seen;
}

function sessionOf(events) {
  return events.find(({ type, name }) => type === "CUSTOM" && name === "iac-code.session.v1")?.value;
}

async function cancel(url, headers, session) {
  const target = new URL(`extensions/iac-code/v1/executions/${session.executionId}/cancel`, url);
  const body = JSON.stringify({ threadId: session.threadId, rosInvocationId: session.rosInvocationId });
  const response = await fetch(target, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body });
  return response.status;
}

function outcomeOf({ events, rejected }) {
  if (rejected) return "rejected";
  const last = events.at(-1);
  if (last?.type === "RUN_ERROR") return last.code === "abort" ? "aborted" : "error";
  return last?.type === "RUN_FINISHED" ? (last.outcome?.type ?? "success") : `no end after ${last?.type}`;
}

function check(agent, expect, seen) {
  const last = (role) => agent.messages.filter((message) => message.role === role).at(-1);
  const facts = {
    outcome: () => outcomeOf(seen),
    code: () => (seen.rejected ? seen.rejected.payload?.error?.code : seen.events.at(-1)?.code),
    status: () => seen.rejected?.status,
    text: () => agent.messages.filter(({ role, content }) => role === "assistant" && content).at(-1)?.content,
    allText: () => agent.messages.map(({ role, content }) => (role === "assistant" ? content : "")).join(""),
    reasoning: () => last("reasoning")?.content,
    pending: () => agent.pendingInterrupts.map(({ reason }) => reason),
    roles: () => agent.messages.map(({ role }) => role),
    cancelStatus: () => seen.cancelStatus,
  };
  for (const [key, wanted] of Object.entries(expect)) {
    if (key === "custom") checkCustom(wanted, seen.events);
    else if (key === "refusal") assert.ok(seen.rejected?.message.includes(wanted), `the client said ${seen.rejected?.message}`);
    else if (key === "tool") checkTool(wanted, agent.messages);
    else checkFact(key, facts[key]?.(), wanted, seen);
  }
}

function checkFact(key, value, wanted, seen) {
  if (isDeepStrictEqual(value, wanted)) return;
  throw new Error(`${key}: ${JSON.stringify(value)}, expected ${JSON.stringify(wanted)}${reasonOf(seen)}`);
}

/// A line about what went wrong, for expectations that do not hold.
function reasonOf({ events, rejected }) {
  const last = events.at(-1);
  return rejected ? ` (${rejected.message})` : last?.type === "RUN_ERROR" ? ` (${last.code}: ${last.message})` : "";
}

function checkCustom(wanted, events) {
  const names = events.filter(({ type }) => type === "CUSTOM").map(({ name }) => name);
  for (const name of wanted) assert.ok(names.includes(name), `no CUSTOM ${name} among ${names.join(", ")}`);
}

function checkTool(wanted, messages) {
  const call = messages.flatMap(({ toolCalls }) => toolCalls ?? []).at(-1);
  assert.equal(call?.function.name, wanted.name, "the last tool call");
  JSON.parse(call.function.arguments);
  const result = messages.find(({ role, toolCallId }) => role === "tool" && toolCallId === call.id);
  assert.ok(result?.content.includes(wanted.result), `the tool gave ${result?.content}`);
}
