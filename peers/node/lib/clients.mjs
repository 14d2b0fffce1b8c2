// What the two generations of the official client say about a list of events.
import { isDeepStrictEqual } from "node:util";

import * as client1 from "@ag-ui/client";
import * as schemas1 from "@ag-ui/core/schemas";
import * as client0 from "agui-client-0";
import { from, lastValueFrom, toArray } from "rxjs";

export const CLIENTS = {
  "1.0.0": { ...client1, EventSchemas: schemas1.EventSchemas, stages: [client1.enforceEvents(), client1.transformChunks(), client1.verifyEvents()] },
  "0.0.58": { ...client0, stages: [client0.transformChunks(), client0.verifyEvents()] },
};

/// Problems that the client `version` has with a stream; none when it is good.
export async function problemsOf(version, stream) {
  const client = CLIENTS[version];
  const problems = [];
  stream.events.forEach((event, index) => {
    const parsed = client.EventSchemas.safeParse(event);
    if (!parsed.success) problems.push(`event ${index} ${event?.type}: ${firstIssue(parsed.error)}`);
  });
  if (problems.length > 0) return problems;
  try {
    const seen = await quietly(() => lastValueFrom(from(structuredClone(stream.events)).pipe(...client.stages, toArray())));
    if (version === "1.0.0") problems.push(...changes(stream.events, seen));
  } catch (error) {
    problems.push(error.message);
  }
  return [...problems, ...ending(stream)];
}

function firstIssue(error) {
  const issue = error.issues[0];
  return `${issue.path.join(".")}: ${issue.message}`;
}

/// The client drops events and properties that it does not know; a good stream has none.
function changes(sent, seen) {
  if (sent.some((event) => event.type.endsWith("_CHUNK"))) return [];
  if (sent.length !== seen.length) return [`${sent.length} events sent, the client takes ${seen.length}`];
  const at = sent.findIndex((event, index) => !isDeepStrictEqual(event, seen[index]));
  return at < 0 ? [] : [`event ${at} ${sent[at].type}: the client takes only ${JSON.stringify(seen[at])}`];
}

/// What the verifiers of today leave unchecked: one terminal event, at the end, for the run that began.
function ending({ events, ended }) {
  const problems = [];
  const first = events[0];
  const last = events.at(-1);
  const terminal = events.filter(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR");
  if (first?.type !== "RUN_STARTED") problems.push(`the first event is ${first?.type}`);
  if (ended && (terminal.length !== 1 || terminal[0] !== last)) {
    problems.push(`${terminal.length} terminal events, the last event is ${last?.type}`);
  }
  if (ended) problems.push(...openSpans(events));
  if (last?.type === "RUN_FINISHED" && (last.runId !== first.runId || last.threadId !== first.threadId)) {
    problems.push("RUN_FINISHED names another run than RUN_STARTED");
  }
  return problems;
}

/// Spans that nothing closed; the verifiers forgive them before RUN_ERROR.
function openSpans(events) {
  const open = new Map();
  for (const event of events) {
    const span = event.type.match(/^(.*)_(START|STARTED|END|FINISHED|ERROR)$/);
    if (!span || span[1] === "RUN") continue;
    const id = event.stepName ?? event.toolCallId ?? (span[1] === "SUBAGENT" ? event.subagentRunId : event.messageId);
    const key = `${span[1]} ${id}`;
    if (span[2].startsWith("START")) open.set(key, true);
    else open.delete(key);
  }
  return open.size > 0 ? [`left open: ${[...open.keys()].join(", ")}`] : [];
}

/// The clients warn on the console; what they warn about is found by comparing.
export async function quietly(work) {
  const { warn, error } = console;
  console.warn = console.error = () => {};
  try {
    return await work();
  } finally {
    Object.assign(console, { warn, error });
  }
}
